package demo

import (
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// The demo reports every machine twice, when it comes and when it goes, with the price of all machines.
func TestNews(t *testing.T) {
	told := sightings{}
	running := InstanceInfo{ID: "i-1", Type: "c6a.xlarge", Zone: "us-west-2a", CapacityType: "on-demand", State: "pending", Hourly: "0.153000"}
	ended := running
	ended.State, ended.Hourly, ended.Why = "shutting-down", "", "TerminateInstances"
	gone := ended
	gone.State = "terminated"
	spot := InstanceInfo{ID: "i-2", Type: "m6a.large", Zone: "us-west-2b", CapacityType: "spot", State: "running", Hourly: "0.05", Claim: "default-x7k2p"}
	spotEnded := spot
	spotEnded.State, spotEnded.Why = "shutting-down", "TerminateInstances"
	for _, step := range []struct {
		name string
		now  []InstanceInfo
		want []string
	}{
		{"one comes", []InstanceInfo{running}, []string{"  + i-1  c6a.xlarge in us-west-2a, on-demand, 0.153 USD an hour", "    machines: 1, together 0.153 USD an hour"}},
		{"nothing new", []InstanceInfo{running}, nil},
		{"another comes", []InstanceInfo{running, spot}, []string{"  + i-2  m6a.large in us-west-2b, spot, 0.050 USD an hour, for NodeClaim default-x7k2p", "    machines: 2, together 0.203 USD an hour"}},
		{"one goes", []InstanceInfo{ended, spot}, []string{"  - i-1  c6a.xlarge in us-west-2a, on-demand: TerminateInstances", "    machines: 1, together 0.050 USD an hour"}},
		{"it is gone", []InstanceInfo{gone, spot}, nil},
		{"another goes, and Tenon has said why", []InstanceInfo{gone, spotEnded}, []string{"  - i-2  m6a.large in us-west-2b, spot: Empty", "    machines: 0, together 0.000 USD an hour"}},
		{"one that was never seen alive", []InstanceInfo{gone, spotEnded, {ID: "i-3", State: "terminated"}}, nil},
	} {
		if got := told.news(fleet{instances: step.now, why: causes{"i-2": "Empty"}}); !slices.Equal(got, step.want) {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

// A machine that gets no node is reported once, with what its console says, and once more if it joins after all. A node that goes
// again is not missing.
func TestMissingNodes(t *testing.T) {
	told := sightings{}
	never := InstanceInfo{ID: "i-1", State: "running", Console: "The boot does not finish: a fault of the emulator"}
	slow := InstanceInfo{ID: "i-2", State: "running"}
	ended := never
	ended.State = "terminated"
	begun := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	told.news(fleet{at: begun, instances: []InstanceInfo{never, slow}})
	for _, step := range []struct {
		name      string
		after     time.Duration
		instances []InstanceInfo
		nodes     map[string]string
		want      []string
	}{
		{"both may still join", 59 * time.Second, []InstanceInfo{never, slow}, nil, nil},
		{"both are late", time.Minute, []InstanceInfo{never, slow}, nil, []string{
			"  ! i-1  has no node 1m0s after its launch: The boot does not finish: a fault of the emulator",
			"  ! i-2  has no node 1m0s after its launch: its console says nothing"}},
		{"nothing new", 65 * time.Second, []InstanceInfo{never, slow}, nil, nil},
		{"one joins", 70 * time.Second, []InstanceInfo{never, slow}, map[string]string{"n": "i-2"}, []string{"  = i-2  has joined, 1m10s after its launch"}},
		{"its node goes", 5 * time.Minute, []InstanceInfo{never, slow}, nil, nil},
		{"the other one ends", 6 * time.Minute, []InstanceInfo{ended, slow}, nil, []string{
			"  - i-1   in , : ", "    machines: 1, together 0.000 USD an hour"}},
	} {
		if got := told.news(fleet{at: begun.Add(step.after), instances: step.instances, nodes: step.nodes}); !slices.Equal(got, step.want) {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

// What Tenon says on a node is why its machine ends, as long as the node is there and afterwards.
func TestCauses(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{ProviderID: "aws:///us-west-2a/i-1"}}
	about := func(name, kind, object, reason, message string) *corev1.Event {
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			InvolvedObject: corev1.ObjectReference{Kind: kind, Name: object}, Reason: reason, Message: message}
	}
	clients := fake.NewClientset(node,
		about("a", "Node", "n", disrupting, "Disrupting Node: Empty"),
		about("b", "Node", "other", disrupting, "Disrupting Node: Drifted"),
		about("c", "NodeClaim", "n", disrupting, "Disrupting NodeClaim: Underutilized"))
	c, want := causes{}, causes{"i-1": "Empty"}
	nodes, err := instancesOf(t.Context(), clients)
	if err != nil || !maps.Equal(nodes, map[string]string{"n": "i-1"}) {
		t.Fatalf("nodes %v, %v", nodes, err)
	}
	if err := c.learn(t.Context(), clients, nodes); err != nil || !maps.Equal(c, want) {
		t.Errorf("%v, %v; want %v", c, err, want)
	}
	if err := c.learn(t.Context(), clients, nil); err != nil || !maps.Equal(c, want) {
		t.Errorf("without the node %v, %v; want %v", c, err, want)
	}
}
