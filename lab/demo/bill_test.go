package demo

import (
	"slices"
	"testing"
)

// The demo reports every machine twice, when it comes and when it goes, with the price of all machines.
func TestNews(t *testing.T) {
	told := sightings{}
	running := InstanceInfo{ID: "i-1", Type: "c6a.xlarge", Zone: "us-west-2a", CapacityType: "on-demand", State: "pending", Hourly: "0.153000"}
	ended := running
	ended.State, ended.Hourly, ended.Why = "shutting-down", "", "TerminateInstances"
	gone := ended
	gone.State = "terminated"
	spot := InstanceInfo{ID: "i-2", Type: "m6a.large", Zone: "us-west-2b", CapacityType: "spot", State: "running", Hourly: "0.05"}
	for _, step := range []struct {
		name string
		now  []InstanceInfo
		want []string
	}{
		{"one comes", []InstanceInfo{running}, []string{"  + i-1  c6a.xlarge in us-west-2a, on-demand, 0.153 USD an hour", "    machines: 1, together 0.153 USD an hour"}},
		{"nothing new", []InstanceInfo{running}, nil},
		{"another comes", []InstanceInfo{running, spot}, []string{"  + i-2  m6a.large in us-west-2b, spot, 0.050 USD an hour", "    machines: 2, together 0.203 USD an hour"}},
		{"one goes", []InstanceInfo{ended, spot}, []string{"  - i-1  c6a.xlarge in us-west-2a, on-demand: TerminateInstances", "    machines: 1, together 0.050 USD an hour"}},
		{"it is gone", []InstanceInfo{gone, spot}, nil},
		{"one that was never seen alive", []InstanceInfo{gone, spot, {ID: "i-3", State: "terminated"}}, nil},
	} {
		if got := told.news(step.now); !slices.Equal(got, step.want) {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}
