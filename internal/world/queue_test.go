package world_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/model"
	"tenon/core/reason"
	"tenon/internal/world"
)

// Of the pods of one template, those that kube-scheduler tries first have their places on few nodes together, and are nominated last. Pods
// that are nominated already keep theirs.
func TestPodsLineUp(t *testing.T) {
	t.Parallel()
	first := map[string]string{"claim-0": "node-0"}
	both := map[string]string{"claim-0": "node-0", "claim-1": "node-1"}
	for name, c := range map[string]struct {
		opens []map[string]string
		want  string
	}{
		"at once":               {[]map[string]string{both}, "2:node-1 4:node-0 0:node-0 5:node-0 1:node-1 3:node-0"},
		"one node is ahead":     {[]map[string]string{first, both}, "2:node-0 4:node-0 0:node-0 1:node-0 5:node-1 3:node-1"},
		"each node for itself":  {[]map[string]string{first, {"claim-1": "node-1"}}, "2:node-0 4:node-0 0:node-0 1:node-0 5:node-1 3:node-1"},
		"the same node, thrice": {[]map[string]string{first, first, first}, "2:node-0 4:node-0 0:node-0 1:node-0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBoughtTwo(t, "30", "9", "100", "8", "40", "20")
			var got []string
			for _, nodes := range c.opens {
				if said := b.told(b.NominationsFor(nodes)); said != "" {
					got = append(got, said)
				}
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// try has kube-scheduler find no node for pods.
func (b *bought) try(pods ...int) {
	for _, i := range pods {
		p := b.pods[i].DeepCopy()
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		b.pods[i] = p
		b.Put(p)
	}
}

// newBoughtTwo has places for six pods of three templates on two claims, the second for the pods 3 and 5. The pods have the versions.
func newBoughtTwo(t *testing.T, versions ...string) *bought {
	t.Helper()
	b := newBought(t, 1, 2, 1+manySets, 2+manySets, 3, 1+2*manySets)
	for i, version := range versions {
		b.pods[i].ResourceVersion = version
		b.Put(b.pods[i])
	}
	if cause := b.Assume(claim(1), model.Resources{}, []world.PodRef{refOf(b.pods[3]), refOf(b.pods[5])}); cause.Code != reason.None {
		t.Fatal(cause.Text())
	}
	return b
}

// Nodes open in the order in which kube-scheduler comes to their pods. Pods of higher priority come first, then those that it has not
// tried yet, then those that it tried first.
func TestNextToOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		versions []string
		change   func(*bought)
		want     string
	}{
		"the second node's pod was created first": {[]string{"30", "9", "100", "8", "40", "20"}, nil, "claim-1 claim-0 without"},
		"that pod was tried since":                {[]string{"30", "9", "100", "101", "40", "20"}, func(b *bought) { b.try(3, 5) }, "claim-0 claim-1 without"},
		"all were tried":                          {[]string{"30", "9", "100", "8", "40", "20"}, func(b *bought) { b.try(0, 1, 2, 3, 4, 5) }, "claim-1 claim-0 without"},
		"a pod of high priority": {[]string{"30", "9", "100", "8", "40", "20"}, func(b *bought) {
			b.pods[2].Spec.Priority = new(int32(5))
			b.Put(b.pods[2])
		}, "claim-0 claim-1 without"},
		"we wrote into the pod": {[]string{"30", "9", "100", "8", "40", "20"}, func(b *bought) {
			b.NominationsFor(map[string]string{"claim-1": "node-1"})
			b.pods[3].ResourceVersion = "101"
			b.tell(3, "node-1", "")
		}, "claim-1 claim-0 without"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBoughtTwo(t, c.versions...)
			if c.change != nil {
				c.change(b)
			}
			nodes := map[string]string{"claim-0": "node-0", "claim-1": "node-1", "without": "node-2"}
			if got := strings.Join(b.NextToOpen(nodes, nodes), " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Nodes of pods that kube-scheduler is about to try open last, and so do those of pods that have lost their nominations: others would take
// their room before we have heard of it.
func TestSomeNodesOpenLast(t *testing.T) {
	t.Parallel()
	b := newBought(t, 101, 102)
	var first []world.PodRef
	for i := range 21 {
		p := pod(3+i*manySets, "")
		p.Status, p.ResourceVersion = corev1.PodStatus{Phase: corev1.PodPending}, "50"
		b.Put(p)
		b.pods = append(b.pods, p)
		first = append(first, refOf(p))
	}
	if cause := b.Assume(claim(1), model.Resources{}, first); cause.Code != reason.None {
		t.Fatal(cause.Text())
	}
	all := map[string]string{"claim-0": "node-0", "claim-1": "node-1", "without": "node-2"}
	b.NominationsFor(all)
	for i := range b.pods {
		b.tell(i, "node-"+fmt.Sprint(min(i/2, 1)), "")
	}
	open := func(want ...string) {
		t.Helper()
		closed := maps.Clone(all)
		for _, want := range want {
			next := b.NextToOpen(all, closed)
			if got := strings.Join(next, " "); got != want {
				t.Errorf("%s open, want %s", got, want)
			}
			for _, claim := range next {
				delete(closed, claim)
			}
		}
	}
	open("claim-0", "claim-1 without")
	b.tell(0, "", "")
	open("claim-1 claim-0 without")
}

// What kube-scheduler takes away while the write that opens a node is on its way is nominated again at once, for five seconds at most.
func TestNominationsAreRepeatedWhileANodeIsBeingOpened(t *testing.T) {
	t.Parallel()
	b := newBought(t, 1, 2)
	nodes := map[string]string{"claim-0": "node-0"}
	lose := func(want, when string) {
		t.Helper()
		b.NominationsFor(nodes)
		b.tell(0, "node-0", "")
		b.tell(0, "", "")
		if got := b.told(b.Corrections()); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	lose("", "the node is closed")
	b.NextToOpen(nodes, nodes)
	lose("0:node-0", "it is being opened")
	b.clock.SetTime(noon.Add(5 * time.Second))
	lose("", "it has not opened")
}
