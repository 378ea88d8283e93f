// Package fault describes what goes wrong in the emulator: which faults may be requested, and whether one
// applies to a call, a capacity pool or an instance at a moment.
//
// Some faults last, and the emulator asks about them (Gate, Pool, Hides, Boots); others happen once, at
// their time, and package accounts carries them out.
package fault

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tenon/lab/aws/wire"
)

// Kind says what goes wrong.
type Kind string

// Faults that last until their time is over or they are removed.
const (
	NoCapacity         Kind = "no-capacity"          // launches find no capacity, or no more than Limit instances
	Throttle           Kind = "throttle"             // calls above Rate a second, with Burst, are refused
	Latency            Kind = "latency"              // calls are answered after Delay, and up to Jitter more
	EventualVisibility Kind = "eventual-consistency" // a new resource is invisible for Delay
	Unreachable        Kind = "unreachable"          // the connection is closed without an answer
	LostAnswer         Kind = "lost-answer"          // the call takes effect, and the connection is closed
	Unauthorized       Kind = "unauthorized"         // a permission is missing
	ExpiredCredentials Kind = "expired-credentials"  // the session token is too old
	APIError           Kind = "api-error"            // the call fails with Code, Message and Status
	BootNeverFinishes  Kind = "boot-never-finishes"  // instances run, and no node joins
	SlowBoot           Kind = "slow-boot"            // boots take Factor times as long
	ZonalShift         Kind = "zonal-shift"          // traffic is shifted away from Zones
)

// Faults that happen once.
const (
	SpotInterruption        Kind = "spot-interruption"        // notice in the queue, the end after Notice
	RebalanceRecommendation Kind = "rebalance-recommendation" // a message in the queue, nothing more
	ScheduledChange         Kind = "scheduled-change"         // a health event in the queue, an event in the status
	ReservationInterruption Kind = "reservation-interruption" // notice for an instance in a reservation, then its end
	InstanceFailure         Kind = "instance-failure"         // How says in which way
	TagRemoval              Kind = "tag-removal"              // instances lose Tags
	ImageDeprecated         Kind = "image-deprecated"         // Images are deprecated from now on
	ImageGone               Kind = "image-gone"               // Images are deregistered
	ImageRelease            Kind = "image-release"            // a new release of every image of Families
)

// Ways in which an instance fails.
const (
	Terminates = "terminates" // it is gone, as after a failed host
	Stops      = "stops"
	Impaired   = "impaired"  // its status checks fail
	Silent     = "silent"    // its kubelet is never heard of again
	NotReady   = "not-ready" // its kubelet says that it is not ready
)

// Fault is one thing that goes wrong: what, where, and when. Names of types,
// zones, operations and so on may have wildcards; an empty list means all.
type Fault struct {
	ID   string `json:"id,omitempty"`
	Kind Kind   `json:"kind"`

	Account       string   `json:"account,omitempty"`
	Region        string   `json:"region,omitempty"`
	Service       string   `json:"service,omitempty"`
	Operations    []string `json:"operations,omitempty"`
	InstanceTypes []string `json:"instanceTypes,omitempty"`
	Zones         []string `json:"zones,omitempty"`
	CapacityTypes []string `json:"capacityTypes,omitempty"` // spot, on-demand
	Instances     []string `json:"instances,omitempty"`
	Images        []string `json:"images,omitempty"` // identifiers or names
	Families      []string `json:"families,omitempty"`
	Tags          []string `json:"tags,omitempty"`      // keys
	Resources     []string `json:"resources,omitempty"` // instance, launch-template, instance-profile

	Limit   int     `json:"limit,omitempty"`
	Rate    float64 `json:"rate,omitempty"` // a second
	Burst   float64 `json:"burst,omitempty"`
	Share   float64 `json:"share,omitempty"` // the share of the instances or calls; 0 means all
	Factor  float64 `json:"factor,omitempty"`
	Times   int     `json:"times,omitempty"` // how often it happens; 0 means always
	Code    string  `json:"code,omitempty"`
	Message string  `json:"message,omitempty"`
	Status  int     `json:"status,omitempty"`
	How     string  `json:"how,omitempty"`

	Delay  Duration `json:"delay,omitzero"`
	Jitter Duration `json:"jitter,omitzero"`
	Notice Duration `json:"notice,omitzero"` // two minutes if left out
	After  Duration `json:"after,omitzero"`  // counted from the request
	For    Duration `json:"for,omitzero"`    // for ever if left out
}

// Lasts reports whether the fault is a state rather than an event.
func (k Kind) Lasts() bool {
	return slices.Contains([]Kind{
		NoCapacity, Throttle, Latency, EventualVisibility, Unreachable, LostAnswer, Unauthorized,
		ExpiredCredentials, APIError, BootNeverFinishes, SlowBoot, ZonalShift,
	}, k)
}

func (k Kind) happens() bool {
	return slices.Contains([]Kind{
		SpotInterruption, RebalanceRecommendation, ScheduledChange, ReservationInterruption,
		InstanceFailure, TagRemoval, ImageDeprecated, ImageGone, ImageRelease,
	}, k)
}

// Validate refuses a fault that would have no effect.
func (f Fault) Validate() error {
	switch {
	case !f.Kind.Lasts() && !f.Kind.happens():
		return fmt.Errorf("fault kind %q does not exist", f.Kind)
	case f.Share < 0 || f.Share > 1:
		return fmt.Errorf("fault %s: share %v is not between 0 and 1", f.Kind, f.Share)
	case min(f.Delay, f.Jitter, f.Notice, f.After, f.For) < 0:
		return fmt.Errorf("fault %s: times go forward", f.Kind)
	case f.Limit < 0 || f.Times < 0 || f.Burst < 0:
		return fmt.Errorf("fault %s: limit, times and burst are not negative", f.Kind)
	}
	return f.validateKind()
}

func (f Fault) validateKind() error {
	switch f.Kind {
	case Throttle:
		return f.want(f.Rate > 0, "a rate above 0")
	case Latency:
		return f.want(f.Delay > 0 || f.Jitter > 0, "a delay or a jitter")
	case EventualVisibility:
		return f.want(f.Delay > 0, "a delay")
	case APIError:
		return f.want(f.Code != "", "a code")
	case SlowBoot:
		return f.want(f.Factor > 0, "a factor above 0")
	case ZonalShift:
		return f.want(len(f.Zones) > 0, "zones")
	case InstanceFailure:
		return f.want(slices.Contains([]string{Terminates, Stops, Impaired, Silent, NotReady}, f.How),
			"how: terminates, stops, impaired, silent or not-ready")
	case TagRemoval:
		return f.want(len(f.Tags) > 0, "tags")
	case ImageDeprecated, ImageGone:
		return f.want(len(f.Images) > 0, "images")
	default:
		return nil
	}
}

func (f Fault) want(there bool, what string) error {
	if there {
		return nil
	}
	return fmt.Errorf("fault %s wants %s", f.Kind, what)
}

// matches reports whether a list of patterns names the value.
func matches(patterns []string, value string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return wire.Glob(p, value) })
}

func (f Fault) holdsAt(account, region string) bool {
	return (f.Account == "" || f.Account == account) && (f.Region == "" || f.Region == region)
}

// Names reports whether the fault is about the pool.
func (f Fault) Names(p Pool) bool {
	return f.holdsAt(p.Account, p.Region) && matches(f.InstanceTypes, p.InstanceType) &&
		matches(f.Zones, p.Zone) && matches(f.CapacityTypes, p.CapacityType)
}

// Duration is a duration that is written as 1m30s.
type Duration time.Duration

// MarshalJSON writes the duration as text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads the duration from text.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("duration %s: want text such as \"10s\"", b)
	}
	parsed, err := time.ParseDuration(text)
	*d = Duration(parsed)
	return err
}
