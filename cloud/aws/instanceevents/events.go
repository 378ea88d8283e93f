// Package instanceevents reads AWS's announcements about instances: the messages of the interruption queue,
// and EC2's status checks.
//
// It says what AWS announces, and for which instances. Its callers decide what to do, and whether the
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

// Kind is the kind of a message, as metrics name it.
type Kind string

// The kinds. (As in Karpenter.)
const (
	SpotInterrupted        Kind = "spot_interrupted"
	RebalanceRecommended   Kind = "rebalance_recommendation"
	InstanceStopped        Kind = "instance_stopped"
	InstanceTerminated     Kind = "instance_terminated"
	ScheduledChange        Kind = "scheduled_change"
	ReservationInterrupted Kind = "capacity_reservation_interrupted"
	// Nothing marks a message that does not concern Tenon.
	Nothing Kind = "no_op"
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{SpotInterrupted, RebalanceRecommended, InstanceStopped, InstanceTerminated, ScheduledChange, ReservationInterrupted, Nothing}
}

// Notice is the content of a message.
type Notice struct {
	Kind Kind
	// Time is when AWS announced it; zero if the message does not say.
	Time      time.Time
	Instances []string
}

// envelope is the wrapper that EventBridge puts around every event.
type envelope struct {
	Version    string          `json:"version"`
	Source     string          `json:"source"`
	DetailType string          `json:"detail-type"`
	Time       time.Time       `json:"time"`
	Detail     json.RawMessage `json:"detail"`
}

// event identifies a kind of event.
type event struct{ version, source, detailType string }

var readers = map[event]func(json.RawMessage) (Notice, error){
	{"0", "aws.ec2", "EC2 Spot Instance Interruption Warning"}:                 instanceNotice(SpotInterrupted),
	{"0", "aws.ec2", "EC2 Instance Rebalance Recommendation"}:                  instanceNotice(RebalanceRecommended),
	{"0", "aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"}: instanceNotice(ReservationInterrupted),
	{"0", "aws.ec2", "EC2 Instance State-change Notification"}:                 stateNotice,
	{"0", "aws.health", "AWS Health Event"}:                                    healthNotice,
}

// Event is a kind of event, in the terms of a rule's pattern.
type Event struct{ Source, DetailType string }

// Events returns the kinds of events that Parse understands, sorted by name. Rules need not send any others.
func Events() []Event {
	var list []Event
	for e := range readers {
		list = append(list, Event{e.source, e.detailType})
	}
	slices.SortFunc(list, func(a, b Event) int { return strings.Compare(a.DetailType, b.DetailType) })
	return list
}

// Parse reads the body of a message. An unknown kind gives Nothing; a message of a known kind with a
// malformed body is an error.
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

// checkID refuses texts that cannot be the ID of an instance: such a message comes from another sender.
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

// stateNotice reports instances that end. It ignores instances that start.
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

// healthNotice reports instances of which EC2 has scheduled a change. A change that is over, or that is
// settled for an instance, is no reason to replace it.
func healthNotice(detail json.RawMessage) (Notice, error) {
	var d struct {
		Service  string `json:"service"`
		Category string `json:"eventTypeCategory"`
		Status   string `json:"statusCode"`
		Affected []struct {
			Value  string `json:"entityValue"`
			Status string `json:"status"`
		} `json:"affectedEntities"`
	}
	if err := json.Unmarshal(detail, &d); err != nil {
		return Notice{}, err
	}
	if d.Service != "EC2" || d.Category != "scheduledChange" || d.Status == "closed" {
		return Notice{Kind: Nothing}, nil
	}
	n := Notice{Kind: ScheduledChange}
	for _, entity := range d.Affected {
		if checkID(entity.Value) == nil && entity.Status != "RESOLVED" { // an event may name volumes and hosts beside instances
			n.Instances = append(n.Instances, entity.Value)
		}
	}
	if len(n.Instances) == 0 {
		n.Kind = Nothing
	}
	return n, nil
}
