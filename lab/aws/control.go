package aws

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/fault"
	"tenon/lab/aws/wire"
)

// newControl is the API of the lab itself, in JSON:
//
//	GET    /lab/faults          the faults that last
//	POST   /lab/faults          one fault, or a list of them
//	DELETE /lab/faults          all
//	DELETE /lab/faults/{id}
//	GET    /lab/calls           counts; with ?all the calls in full
//	DELETE /lab/calls
//	GET    /lab/permissions     what policies were asked, by action
//	GET    /lab/instances       in all regions that are in use
//	POST   /lab/reservations    capacity reservations, with the kinds that EC2 sells in other ways
func (s *Server) newControl() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /lab/faults", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.faults.List(s.clock.Now()), nil) })
	mux.HandleFunc("POST /lab/faults", s.postFaults)
	mux.HandleFunc("DELETE /lab/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.faults.Clear()
		reply(w, struct{}{}, nil)
	})
	mux.HandleFunc("DELETE /lab/faults/{id}", func(w http.ResponseWriter, h *http.Request) {
		reply(w, struct{}{}, s.faults.Remove(h.PathValue("id")))
	})
	mux.HandleFunc("GET /lab/calls", s.getCalls)
	mux.HandleFunc("DELETE /lab/calls", func(w http.ResponseWriter, _ *http.Request) {
		s.calls.Reset()
		reply(w, struct{}{}, nil)
	})
	mux.HandleFunc("GET /lab/permissions", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Permissions(), nil) })
	mux.HandleFunc("GET /lab/instances", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.world.Survey(), nil) })
	mux.HandleFunc("POST /lab/reservations", s.postReservation)
	return mux
}

// caused is the answer to a requested fault.
type caused struct {
	fault.Fault
	Struck []string `json:"struck,omitempty"`
}

func (s *Server) postFaults(w http.ResponseWriter, h *http.Request) {
	list, single, err := readFaults(io.LimitReader(h.Body, 1<<20))
	if err != nil {
		reply(w, nil, err)
		return
	}
	for _, f := range list {
		if err := f.Validate(); err != nil { // all or none
			reply(w, nil, err)
			return
		}
	}
	answers := []caused{}
	for _, f := range list {
		made, struck, err := s.Cause(f)
		if err != nil {
			reply(w, nil, err)
			return
		}
		answers = append(answers, caused{made, struck})
	}
	if single {
		reply(w, answers[0], nil)
		return
	}
	reply(w, answers, nil)
}

// readFaults reads one fault or a list. It refuses misspelt fields: a fault that does not happen proves
// nothing.
func readFaults(body io.Reader) (list []fault.Fault, single bool, err error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, false, err
	}
	var raw []json.RawMessage
	if json.Unmarshal(text, &raw) != nil {
		raw, single = []json.RawMessage{text}, true
	}
	for _, one := range raw {
		var f fault.Fault
		if err := decodeStrictly(bytes.NewReader(one), &f); err != nil {
			return nil, single, err
		}
		list = append(list, f)
	}
	return list, single, nil
}

// ReadFaults reads a configuration file of faults: one, or a list of them, in the form of the control
// API.
func ReadFaults(r io.Reader) ([]fault.Fault, error) {
	list, _, err := readFaults(r)
	return list, err
}

func (s *Server) getCalls(w http.ResponseWriter, h *http.Request) {
	if h.URL.Query().Has("all") {
		reply(w, s.calls.Last(), nil)
		return
	}
	reply(w, s.calls.Counts(), nil)
}

// reservation is a capacity reservation in the form of the lab's API.
type reservation struct {
	Account       string            `json:"account"`
	Region        string            `json:"region"`
	InstanceType  string            `json:"instanceType"`
	Zone          string            `json:"zone"`
	Count         int               `json:"count"`
	Criteria      string            `json:"criteria"` // open or targeted
	Kind          string            `json:"kind"`     // default or capacity-block
	Interruptible bool              `json:"interruptible"`
	For           fault.Duration    `json:"for"`
	Tags          map[string]string `json:"tags"`
}

func (s *Server) postReservation(w http.ResponseWriter, h *http.Request) {
	in := reservation{Account: s.config.Account, Region: s.config.Region}
	if err := decodeStrictly(io.LimitReader(h.Body, 1<<20), &in); err != nil {
		reply(w, nil, err)
		return
	}
	c := accounts.Reservation{InstanceType: in.InstanceType, Zone: in.Zone, Total: in.Count, Criteria: in.Criteria, Kind: in.Kind, Interruptible: in.Interruptible}
	if in.For > 0 {
		c.End = s.clock.Now().Add(time.Duration(in.For))
	}
	for key, value := range in.Tags {
		c.Tags = append(c.Tags, wire.Tag{Key: key, Value: value})
	}
	var id string
	err := s.world.Do(in.Account, in.Region, func(r *accounts.Region) error {
		made, err := r.Reserve(c)
		if err == nil {
			id = made.ID
		}
		return err
	})
	reply(w, map[string]string{"id": id}, err)
}

func decodeStrictly(r io.Reader, into any) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the request has text after its end")
	}
	return nil
}

func reply(w http.ResponseWriter, answer any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		answer = map[string]string{"error": err.Error()}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(answer) // the client went away
}
