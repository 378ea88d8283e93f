// Package instanceevents reads what AWS announces about instances: the messages of the
// interruption queue, and the status checks of EC2.
//
// It says what is announced, and of which instances. Its callers decide what to do, and whether the
// instances are theirs.
package instanceevents

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is what a message announces, as metrics name it.
type Kind string

// The kinds. (As in Karpenter.)
const (
	SpotInterrupted        Kind = "spot_interrupted"
	RebalanceRecommended   Kind = "rebalance_recommendation"
	InstanceStopped        Kind = "instance_stopped"
	InstanceTerminated     Kind = "instance_terminated"
	ScheduledChange        Kind = "scheduled_change"
	ReservationInterrupted Kind = "capacity_reservation_interrupted"
	// Nothing is announced that concerns us.
	Nothing Kind = "no_op"
)

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{SpotInterrupted, RebalanceRecommended, InstanceStopped, InstanceTerminated, ScheduledChange, ReservationInterrupted, Nothing}
}

// Notice is what a message says.
type Notice struct {
	Kind Kind
	// Time is when it was announced; zero if that is not known.
	Time      time.Time
	Instances []string
}

// envelope is what EventBridge puts around every event.
type envelope struct {
	Version    string          `json:"version"`
	Source     string          `json:"source"`
	DetailType string          `json:"detail-type"`
	Time       time.Time       `json:"time"`
	Detail     json.RawMessage `json:"detail"`
}

// event is how the kinds of events are told apart.
type event struct{ version, source, detailType string }

var readers = map[event]func(json.RawMessage) (Notice, error){
	{"0", "aws.ec2", "EC2 Spot Instance Interruption Warning"}:                 instanceNotice(SpotInterrupted),
	{"0", "aws.ec2", "EC2 Instance Rebalance Recommendation"}:                  instanceNotice(RebalanceRecommended),
	{"0", "aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"}: instanceNotice(ReservationInterrupted),
	{"0", "aws.ec2", "EC2 Instance State-change Notification"}:                 stateNotice,
	{"0", "aws.health", "AWS Health Event"}:                                    healthNotice,
}

// Event is a kind of event, as the pattern of a rule names it.
type Event struct{ Source, DetailType string }

// Events are the kinds that are read, in the order of their names. Others need not be sent.
func Events() []Event {
	var list []Event
	for e := range readers {
		list = append(list, Event{e.source, e.detailType})
	}
	slices.SortFunc(list, func(a, b Event) int { return strings.Compare(a.DetailType, b.DetailType) })
	return list
}

// Parse reads the body of a message. An unknown kind is Nothing; what claims to
// be an event that it knows and is not written like one is an error.
func Parse(body string) (Notice, error) {
	if strings.TrimSpace(body) == "" {
		return Notice{}, errors.New("the message is empty")
	}
	var e envelope
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return Notice{}, fmt.Errorf("read the message: %w", err)
	}
	read, known := readers[event{e.Version, e.Source, e.DetailType}]
	if !known {
		return Notice{Kind: Nothing, Time: e.Time}, nil
	}
	n, err := read(e.Detail)
	if err != nil {
		return Notice{}, fmt.Errorf("read the detail of %q: %w", e.DetailType, err)
	}
	n.Time = e.Time
	return n, nil
}

type instanceDetail struct {
	InstanceID string `json:"instance-id"`
	State      string `json:"state"`
}

func readInstance(detail json.RawMessage) (instanceDetail, error) {
	var d instanceDetail
	if err := json.Unmarshal(detail, &d); err != nil {
		return d, err
	}
	return d, checkID(d.InstanceID)
}

// checkID refuses what cannot be an instance: another sender wrote the message.
func checkID(id string) error {
	if !strings.HasPrefix(id, "i-") {
		return fmt.Errorf("%q is no instance", id)
	}
	return nil
}

func instanceNotice(kind Kind) func(json.RawMessage) (Notice, error) {
	return func(detail json.RawMessage) (Notice, error) {
		d, err := readInstance(detail)
		return Notice{Kind: kind, Instances: []string{d.InstanceID}}, err
	}
}

// stateNotice is about instances that end. Those that begin are left out.
func stateNotice(detail json.RawMessage) (Notice, error) {
	d, err := readInstance(detail)
	if err != nil {
		return Notice{}, err
	}
	switch {
	case !slices.Contains([]string{"stopping", "stopped", "shutting-down", "terminated"}, strings.ToLower(d.State)):
		return Notice{Kind: Nothing}, nil
	case d.State == "stopping" || d.State == "stopped":
		return Notice{Kind: InstanceStopped, Instances: []string{d.InstanceID}}, nil
	}
	return Notice{Kind: InstanceTerminated, Instances: []string{d.InstanceID}}, nil
}

func healthNotice(detail json.RawMessage) (Notice, error) {
	var d struct {
		Service  string `json:"service"`
		Category string `json:"eventTypeCategory"`
		Affected []struct {
			Value string `json:"entityValue"`
		} `json:"affectedEntities"`
	}
	if err := json.Unmarshal(detail, &d); err != nil {
		return Notice{}, err
	}
	if d.Service != "EC2" || d.Category != "scheduledChange" {
		return Notice{Kind: Nothing}, nil
	}
	n := Notice{Kind: ScheduledChange}
	for _, entity := range d.Affected {
		if checkID(entity.Value) == nil { // an event may name volumes and hosts beside instances
			n.Instances = append(n.Instances, entity.Value)
		}
	}
	if len(n.Instances) == 0 {
		n.Kind = Nothing
	}
	return n, nil
}
