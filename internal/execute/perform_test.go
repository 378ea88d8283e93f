package execute_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/departure"
	"tenon/internal/execute"
	"tenon/internal/testing/harness"
)

// begun is a setup with a node for each of some claims, and the state of a command that removes
// them.
func begun(t *testing.T, claims ...string) (*setup, *command.State) {
	t.Helper()
	s := newSetup(t, 1)
	state := &command.State{Now: s.Clock.Now(), Record: command.Record{ID: "x7k2p", Reason: plan.Empty, Begun: s.Clock.Now()}}
	for _, name := range claims {
		s.Settled(name, "web")
		state.Record.Claims = append(state.Record.Claims, command.Member{Claim: name, Pool: "web"})
		state.Leavers = append(state.Leavers, s.leaver(name))
	}
	return s, state
}

func (s *setup) leaver(name string) command.Leaver {
	l, _, err := execute.ReadLeaver(context.Background(), s.API, name)
	s.Must(err)
	return l
}

// state describes the effects of a command on a claim and its node.
func (s *setup) state(name string) string {
	l, found, err := execute.ReadLeaver(context.Background(), s.API, name)
	s.Must(err)
	if !found {
		return "gone"
	}
	var out []string
	if l.Claim.DeletionTimestamp != nil {
		out = append(out, "deleted")
	}
	if _, recorded := command.Of(l.Claim); recorded {
		out = append(out, "recorded")
	}
	if l.Claim.Conditions(s.Clock.Now()).IsTrue(karpenterv1.ConditionDisruptionReason) {
		out = append(out, "explained")
	}
	if l.Node != nil && departure.Closed(l.Node) {
		out = append(out, "closed")
	}
	return strings.Join(out, " ")
}

func (s *setup) perform(state *command.State, groups [][]command.Effect) error {
	_, err := s.executor.Perform(context.Background(), state, groups)
	return err
}

// Begin sets the record and the taint, Tell the condition; Abandon removes all of them. Both are
// idempotent.
func TestBeginAndAbandon(t *testing.T) {
	t.Parallel()
	s, state := begun(t, "a", "b")
	for range 2 {
		s.Must(s.perform(state, state.Effects(command.Begin)[1:2])) // closing is done again after a crash
	}
	s.Must(s.perform(state, state.Effects(command.Begin)[:1]))
	for range 2 {
		s.Must(s.perform(state, state.Effects(command.Tell)))
	}
	for _, name := range []string{"a", "b"} {
		if got := s.state(name); got != "recorded explained closed" {
			t.Errorf("%s after the beginning: %q", name, got)
		}
	}
	for range 2 {
		state.Leavers = []command.Leaver{s.leaver("a"), s.leaver("b")}
		s.Must(s.perform(state, state.Effects(command.Abandon)))
	}
	for _, name := range []string{"a", "b"} {
		if got := s.state(name); got != "" {
			t.Errorf("%s after it was taken back: %q", name, got)
		}
	}
}

// A failing effect does not stop others of its group, but all later groups.
func TestGroups(t *testing.T) {
	t.Parallel()
	s, state := begun(t, "a", "b")
	s.Fail(func(c harness.Call) error {
		if c.Name == "a" && c.IsWrite() {
			return harness.ErrBroken
		}
		return nil
	})
	err := s.perform(state, state.Effects(command.Begin))
	if err == nil || s.state("a") != "" || s.state("b") != "recorded" {
		t.Errorf("error %v; a: %q, b: %q", err, s.state("a"), s.state("b"))
	}
}

// The record is not written on a claim that belongs to another command, or that is being deleted.
func TestWriteOnChangedClaim(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*setup){
		"another command has it": func(s *setup) {
			l := s.leaver("a")
			l.Claim.Annotations = map[string]string{karpenterv1.AnnotationDisruption: "{}"}
			s.Put(l.Claim)
		},
		"it goes": func(s *setup) { s.Delete(s.leaver("a").Claim) },
	} {
		s, state := begun(t, "a")
		change(s)
		if err := s.perform(state, state.Effects(command.Begin)[:1]); err == nil || strings.Contains(s.state("a"), "recorded") {
			t.Errorf("%s: error %v, state %q", name, err, s.state("a"))
		}
	}
}

// Unchanged claims are deleted; the deleted ones are returned, the others released.
func TestRemoval(t *testing.T) {
	t.Parallel()
	s, state := begun(t, "a", "b", "c")
	s.Must(s.perform(state, state.Effects(command.Begin)))
	s.Must(s.perform(state, state.Effects(command.Tell)))
	a, b, c := s.leaver("a"), s.leaver("b"), s.leaver("c")
	s.Delete(c.Claim)
	deleted, err := s.executor.Perform(context.Background(), state, state.Removal(command.Judgement{
		Going: []command.Leaver{a, s.leaver("c")}, Released: []command.Leaver{b},
	}))
	s.Must(err)
	if len(deleted) != 1 || deleted[0].Claim.Name != "a" {
		t.Errorf("deleted: %v", deleted)
	}
	if got := []string{s.state("a"), s.state("b")}; !slices.Equal(got, []string{"deleted recorded explained closed", ""}) {
		t.Errorf("afterwards: %q", got)
	}
}

// A replacement whose pool has changed is not created, and the error says so.
func TestReplacementOfChangedPool(t *testing.T) {
	t.Parallel()
	s, state := begun(t, "a")
	o := s.order("new")
	state.Orders = []command.Replacement{{Claim: o.Claim, Pool: s.pool, Capacity: model.Resources{}}}
	s.changePool(func(p *karpenterv1.NodePool) { p.Generation++ })
	err := s.perform(state, state.Effects(command.Begin))
	if want := "make claim new of pool web: pool web has changed"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	if s.made() != 1 {
		t.Errorf("%d claims", s.made())
	}
}

// When the command is taken back, a replacement without pods is deleted; one with a pod that returns
// elsewhere stays, and belongs to no command any more.
func TestDrop(t *testing.T) {
	t.Parallel()
	replicaSet := true
	owned := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &replicaSet}}
	}
	for name, tc := range map[string]struct {
		pods int
		want string
	}{
		"nothing has come": {0, "deleted recorded"},
		"a pod has come":   {1, ""},
	} {
		s, state := begun(t, "new")
		s.Must(s.perform(state, [][]command.Effect{{{Do: command.Write, Leaver: s.leaver("new")}}}))
		for range tc.pods {
			s.Bound("web", "node-new", owned)
		}
		s.Must(s.perform(state, [][]command.Effect{{{Do: command.Drop, Claim: s.leaver("new").Claim}}}))
		if got := s.state("new"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
