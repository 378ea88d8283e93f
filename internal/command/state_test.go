package command_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/internal/command"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// leaver is a claim with its node; states name the effects on it so far.
func leaver(name string, states ...string) command.Leaver {
	l := command.Leaver{Claim: claim(name), Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + name}}}
	for _, state := range states {
		switch state {
		case "tainted":
			l.Node.Spec.Taints = []corev1.Taint{karpenterv1.TaintDisrupted()}
		case "deleting":
			l.Claim.DeletionTimestamp = &metav1.Time{Time: noon}
		default:
			l.Claim.Status.Conditions = append(l.Claim.Status.Conditions, metav1.Condition{Type: state, Status: metav1.ConditionTrue})
		}
	}
	return l
}

func claim(name string, conditions ...string) *karpenterv1.NodeClaim {
	c := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, each := range conditions {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: each, Status: metav1.ConditionTrue})
	}
	return c
}

// alone is a node of a group, which has no claim.
func alone(name string, states ...string) command.Leaver {
	l := leaver("", states...)
	l.Node.Name, l.Node.DeletionTimestamp, l.Claim = name, l.Claim.DeletionTimestamp, nil
	return l
}

func members(names ...string) []command.Member {
	var out []command.Member
	for _, name := range names {
		out = append(out, command.Member{Claim: name, Pool: "web", Price: model.Unit})
	}
	return out
}

// The next step follows from the objects alone.
func TestNext(t *testing.T) {
	t.Parallel()
	const marked, ready = karpenterv1.ConditionDisruptionReason, karpenterv1.ConditionInitialized
	failing := claim("new")
	failing.DeletionTimestamp = &metav1.Time{Time: noon}
	failing.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionRegistered, Status: metav1.ConditionFalse, Message: "it never joined"}}
	for name, tc := range map[string]struct {
		state command.State
		want  command.Step
		why   reason.Code
	}{
		"nothing is written yet":           {command.State{Leavers: []command.Leaver{leaver("a")}}, command.Mark, command.NodeUnmarked},
		"the taint is missing":             {command.State{Leavers: []command.Leaver{leaver("a", marked)}}, command.Mark, command.NodeUnmarked},
		"the condition is missing":         {command.State{Leavers: []command.Leaver{leaver("a", "tainted")}}, command.Mark, command.NodeUnmarked},
		"the node was closed only now":     {command.State{Leavers: []command.Leaver{leaver("a", "tainted", marked)}, Closed: noon.Add(-time.Second)}, command.Wait, command.NodesClosedOnlyNow},
		"it was not seen closed":           {command.State{Leavers: []command.Leaver{leaver("a", "tainted", marked)}}, command.Wait, command.NodesClosedOnlyNow},
		"it has been closed for a while":   {command.State{Leavers: []command.Leaver{leaver("a", "tainted", marked)}, Closed: noon.Add(-command.Settle)}, command.Look, reason.None},
		"it goes":                          {command.State{Leavers: []command.Leaver{leaver("a", "tainted", marked, "deleting")}}, command.Over, command.NoNodeLeft},
		"it is gone":                       {command.State{}, command.Over, command.NoNodeLeft},
		"the replacement is on its way":    {command.State{Leavers: []command.Leaver{leaver("a", "tainted", marked)}, Replacements: []*karpenterv1.NodeClaim{claim("new")}, Closed: noon.Add(-time.Hour)}, command.Wait, command.ReplacementsNotReady},
		"the replacement is ready":         {command.State{Leavers: []command.Leaver{leaver("a", "tainted", marked)}, Replacements: []*karpenterv1.NodeClaim{claim("new", ready)}, Closed: noon.Add(-time.Hour)}, command.Look, reason.None},
		"the replacement is gone":          {command.State{Leavers: []command.Leaver{leaver("a", "tainted", marked)}, Replacements: []*karpenterv1.NodeClaim{nil}}, command.Abandon, command.ReplacementGone},
		"the replacement goes":             {command.State{Leavers: []command.Leaver{leaver("a", "tainted", marked)}, Replacements: []*karpenterv1.NodeClaim{failing}}, command.Abandon, command.ReplacementDeleted},
		"the replacement takes too long":   {command.State{Leavers: []command.Leaver{leaver("a", "tainted", marked)}, Replacements: []*karpenterv1.NodeClaim{claim("new")}, Patience: time.Second}, command.Abandon, command.ReplacementsLate},
		"it was written on a part only":    {command.State{Leavers: []command.Leaver{leaver("a")}, Unaware: 1}, command.Abandon, command.RecordIncomplete},
		"no part of it is shown yet":       {command.State{Unaware: 1}, command.Abandon, command.RecordIncomplete},
		"a group's node is open":           {command.State{Leavers: []command.Leaver{alone("a")}}, command.Mark, command.NodeUnmarked},
		"a group's node is closed":         {command.State{Leavers: []command.Leaver{alone("a", "tainted")}, Closed: noon.Add(-command.Settle)}, command.Look, reason.None},
		"a group's node goes":              {command.State{Leavers: []command.Leaver{alone("a", "tainted", "deleting")}}, command.Over, command.NoNodeLeft},
		"one of two went by itself":        {command.State{Leavers: []command.Leaver{leaver("a", "deleting"), leaver("b", "tainted", marked)}, Closed: noon.Add(-time.Hour)}, command.Look, reason.None},
		"all went, the replacement failed": {command.State{Leavers: []command.Leaver{leaver("a", "deleting")}, Replacements: []*karpenterv1.NodeClaim{nil}}, command.Over, command.NoNodeLeft},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tc.state
			s.Now, s.Record.Begun, s.Record.Replacements = noon, noon.Add(-time.Minute), members("new")
			if s.Patience == 0 {
				s.Patience = time.Hour
			}
			got, why := s.Next()
			if got != tc.want || why.Code != tc.why {
				t.Errorf("%s (%s), want %s (%s)", got, why.Code, tc.want, tc.why)
			}
			if says := why.Message == "it never joined"; says != (why.Code == command.ReplacementDeleted) {
				t.Errorf("the message is %q", why.Message)
			}
		})
	}
}

// The record names the claims to remove and their replacements, and survives being written and
// read.
func TestRecords(t *testing.T) {
	t.Parallel()
	r := command.Record{ID: "x7k2p", Reason: plan.Underutilized, Begun: noon, Claims: members("a", "b"), Replacements: members("new"),
		Receivers: []string{"c"}, Kind: "multi", Savings: model.Unit / 8}
	for name, want := range map[string]bool{"a": true, "new": true, "c": false} {
		c := claim(name)
		c.Annotations = map[string]string{karpenterv1.AnnotationDisruption: r.String()}
		read, ok := command.Of(c)
		if ok != want {
			t.Errorf("%s: part of it: %t", name, ok)
		}
		if read.String() != r.String() {
			t.Errorf("%s: read back as %s", name, read.String())
		}
	}
	r.Claims = members(command.MemberOf("", "n1"))
	n := alone("n1")
	n.Node.Annotations = map[string]string{karpenterv1.AnnotationDisruption: r.String()}
	if _, ok := command.Of(n.Node); !ok || n.Member() != "node/n1" {
		t.Errorf("a node without a claim, %s, is not found in its record", n.Member())
	}
	broken := claim("a")
	broken.Annotations = map[string]string{karpenterv1.AnnotationDisruption: "{"}
	if _, ok := command.Of(broken); ok {
		t.Error("what cannot be read is no command")
	}
	want := "Underutilized/x7k2p: replace: nodepools=[web]: [n1, n2] -> [1 replacement] (savings: $0.12)"
	if got := r.Text([]string{"n1", "n2"}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// If some of the nodes must stay, the others are removed only if that still saves money; nodes that go already count. An
// abandoned command names what kept the first node.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  plan.Reason
		come    int
		going   []string // of a, b and c, before the look
		staying []string
		abandon string
	}{
		"all go":                          {plan.Underutilized, 1, nil, nil, ""},
		"all have to stay":                {plan.Empty, 0, nil, []string{"b", "a", "c"}, "node-a: Pod came after the decision (Pod=default/a)"},
		"one of the empty nodes goes":     {plan.Empty, 0, nil, []string{"b", "c"}, ""},
		"drift is about each node":        {plan.Drifted, 1, nil, []string{"b", "c"}, ""},
		"two go for one":                  {plan.Underutilized, 1, nil, []string{"c"}, ""},
		"one would go for one":            {plan.Underutilized, 1, nil, []string{"b", "c"}, "node-b: Pod came after the decision (Pod=default/b)"},
		"one goes for room that there is": {plan.Underutilized, 0, nil, []string{"b", "c"}, ""},
		"the last of three goes for two":  {plan.Underutilized, 2, []string{"a", "b"}, nil, ""},
		"the last of three stays":         {plan.Underutilized, 1, []string{"a", "b"}, []string{"c"}, "node-c: Pod came after the decision (Pod=default/c)"},
	} {
		s := command.State{Record: command.Record{Reason: tc.reason, Claims: members("a", "b", "c"), Replacements: members("new", "newer")[:tc.come]}}
		for _, m := range s.Record.Claims {
			l := leaver(m.Claim)
			if slices.Contains(tc.going, m.Claim) {
				l = leaver(m.Claim, "deleting")
			}
			s.Leavers = append(s.Leavers, l)
		}
		objections := map[string]reason.Cause{}
		for _, claim := range tc.staying {
			objections[claim] = reason.Cause{Code: reason.PodCame, Where: "default/" + claim}
		}
		got := s.Judge(objections)
		if text := got.Abandon.Text(); text != tc.abandon {
			t.Errorf("%s: abandoned for %q", name, text)
		}
		if tc.abandon == "" && (len(got.Going) != 3-len(tc.going)-len(tc.staying) || len(got.Released) != len(tc.staying)) {
			t.Errorf("%s: %d go, %d are released", name, len(got.Going), len(got.Released))
		}
	}
}
