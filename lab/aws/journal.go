package aws

import (
	"reflect"
	"slices"
	"sync"
	"time"
)

// Call is one call to the emulator.
type Call struct {
	Time      time.Time     `json:"time"`
	Took      time.Duration `json:"took"`
	Account   string        `json:"account"`
	Region    string        `json:"region"`
	Service   string        `json:"service"`
	Operation string        `json:"operation"`
	Resource  string        `json:"resource,omitempty"` // the Auto Scaling group or the instance that the call names alone
	Code      string        `json:"code,omitempty"`     // the error's code; empty if there was none
}

// resourceOf returns the Auto Scaling group or the instance that the parameters of a call name alone.
func resourceOf(in any) string {
	parameters := reflect.Indirect(reflect.ValueOf(in))
	for _, field := range reflect.VisibleFields(parameters.Type()) {
		name := field.Tag.Get("query")
		if (name == "AutoScalingGroupName" || name == "InstanceId") && field.Type.Kind() == reflect.String {
			return parameters.FieldByIndex(field.Index).String()
		}
	}
	return ""
}

// remembered is how many calls a journal keeps in full. Counts continue beyond that.
const remembered = 20_000

// Journal records the calls to the emulator.
type Journal struct {
	mu     sync.Mutex
	last   []Call
	counts map[string]int
}

func newJournal() *Journal { return &Journal{counts: map[string]int{}} }

func (j *Journal) add(c Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts[c.Service+":"+c.Operation]++
	j.last = append(j.last, c)
	if len(j.last) >= 2*remembered {
		j.last = slices.Clone(j.last[remembered:])
	}
}

// Last returns the remembered calls, the oldest first.
func (j *Journal) Last() []Call {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.last)
}

// Count returns how often an operation was called, such as ec2:CreateFleet.
func (j *Journal) Count(operation string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.counts[operation]
}

// Counts returns how often every operation was called.
func (j *Journal) Counts() map[string]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	counts := make(map[string]int, len(j.counts))
	for operation, n := range j.counts {
		counts[operation] = n
	}
	return counts
}

// Reset forgets all calls.
func (j *Journal) Reset() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last, j.counts = nil, map[string]int{}
}
