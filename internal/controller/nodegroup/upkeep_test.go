package nodegroup_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/testing/harness"
)

// changing groups also change, and say what was done.
type changing struct {
	*groups
	done []string
}

func (g *changing) Resize(_ context.Context, name string, from, to int64) error {
	if err := cloud.MayResize(&g.list[0], from, to); err != nil {
		return err
	}
	g.list[0].Desired = to
	g.done = append(g.done, fmt.Sprintf("%s %d to %d", name, from, to))
	return nil
}

func (g *changing) End(_ context.Context, name, id string) (int64, error) {
	if g.list[0].Desired > g.list[0].Min {
		g.list[0].Desired--
	}
	g.list[0].Instances = slices.DeleteFunc(g.list[0].Instances, func(i cloud.GroupInstance) bool { return i.ProviderID == id })
	g.done = append(g.done, name+" ends "+id)
	return g.list[0].Desired, nil
}

// short is a group in mode native with three instances, of which some have nodes, and that may lack more.
func short(t *testing.T, desired int64, nodes int) (*harness.Harness, *changing, func() *tenonv1alpha1.NodeGroup) {
	t.Helper()
	r := harness.New(t, memory.Options{})
	g := &changing{groups: &groups{list: []cloud.Group{web(3)}}}
	g.list[0].Desired = desired
	r.Kit.Groups = g
	for i := range nodes {
		r.Must(r.API.Create(t.Context(), node(r, i, nil)))
	}
	o := look(t, r, g.groups, "web")
	o.Spec.Mode = tenonv1alpha1.ModeNative
	r.Put(o)
	return r, g, func() *tenonv1alpha1.NodeGroup { return look(t, r, g.groups, "web") }
}

// TestInstancesThatDoNotCome: the size is lowered to what there is once the cloud says that a launch failed, or after the time that
// nodes may take. For a while no more are asked for: longer each time, and as the first time again after three hours.
func TestInstancesThatDoNotCome(t *testing.T) {
	t.Parallel()
	r, g, again := short(t, 5, 3)
	step := func(what string, after time.Duration, failure, want string, failures int64, done ...string) {
		t.Helper()
		r.Clock.Step(after)
		if g.list[0].Failure = nil; failure != "" {
			g.list[0].Failure = &cloud.GroupFailure{At: r.Clock.Now(), Reason: failure, Message: "sold out"}
		}
		g.done = nil
		o := again()
		got := int64(0)
		if o.Status.Backoff != nil {
			got = o.Status.Backoff.Failures
		}
		if s := status(o)["BackedOff"]; s != want || got != failures || !slices.Equal(g.done, done) || o.Status.Size.Desired != g.list[0].Desired {
			t.Errorf("%s: %s after %d failures, %q, shown %d; want %s after %d, %q", what, s, got, g.done, o.Status.Size.Desired, want, failures, done)
		}
	}
	raise := func(to int64) {
		t.Helper()
		r.Clock.Step(time.Second)
		r.Must(g.Resize(context.Background(), "web", g.list[0].Desired, to))
		again()
	}
	step("they may come", time.Minute, "", "False NoFailure", 0)
	step("a launch failed", time.Minute, "InsufficientInstanceCapacity", "True InsufficientInstanceCapacity", 1, "web 5 to 3")
	if events := r.Events(); !slices.ContainsFunc(events, func(e string) bool { return strings.Contains(e, "ScaleUpFailed") && strings.Contains(e, "sold out") }) {
		t.Errorf("events %q", events)
	}
	step("it is left alone", 4*time.Minute, "", "True InsufficientInstanceCapacity", 1)
	step("and may grow again", 2*time.Minute, "", "False NoFailure", 1)
	raise(4)
	step("it failed again", time.Second, "VcpuLimitExceeded", "True VcpuLimitExceeded", 2, "web 4 to 3")
	step("twice as long", 9*time.Minute, "", "True VcpuLimitExceeded", 2)
	step("then it may grow", 2*time.Minute, "", "False NoFailure", 2)
	step("long ago", 3*time.Hour, "", "False NoFailure", 0)
	raise(4)
	step("they are late", 16*time.Minute, "", "True ProvisionTimeout", 1, "web 4 to 3")
	if events := r.Events(); !slices.ContainsFunc(events, func(e string) bool { return strings.Contains(e, "ScaleUpTimedOut") && strings.Contains(e, "15m") }) {
		t.Errorf("events %q", events)
	}
}

// TestASizeSetDuringAPause: a size that another has raised is a new request. What failed before does not lower it, a failure since then does.
func TestASizeSetDuringAPause(t *testing.T) {
	t.Parallel()
	r, g, again := short(t, 5, 3)
	fail := func() {
		r.Clock.Step(time.Second)
		g.list[0].Failure = &cloud.GroupFailure{At: r.Clock.Now(), Reason: "InsufficientInstanceCapacity", Message: "sold out"}
		again()
	}
	fail()
	if g.list[0].Desired != 3 || !again().BackedOff() {
		t.Fatalf("a launch failed, and the size is %d, %v", g.list[0].Desired, status(again()))
	}
	r.Clock.Step(time.Minute)
	g.list[0].Desired = 5 // set by a person
	for range 2 {
		if o := again(); g.list[0].Desired != 5 || o.BackedOff() {
			t.Errorf("the size that was set is %d now, %v", g.list[0].Desired, status(o))
		}
		r.Clock.Step(time.Second)
	}
	fail()
	if o := again(); g.list[0].Desired != 3 || !o.BackedOff() || o.Status.Backoff.Failures != 2 {
		t.Errorf("the launch failed again, and the size is %d, %v", g.list[0].Desired, status(o))
	}
}

// TestAFailureBeforeTheChange says nothing of the size that is asked for now, nor does one of a group in mode observe change it.
func TestAFailureBeforeTheChange(t *testing.T) {
	t.Parallel()
	r, g, again := short(t, 5, 3)
	g.list[0].Failure = &cloud.GroupFailure{At: r.Clock.Now().Add(-time.Minute), Reason: "InsufficientInstanceCapacity"}
	if s := status(again())["BackedOff"]; s != "False NoFailure" || len(g.done) > 0 {
		t.Errorf("%s, %q", s, g.done)
	}
	o := again()
	o.Spec.Mode = tenonv1alpha1.ModeObserve
	r.Put(o)
	g.list[0].Failure.At = r.Clock.Now().Add(time.Second)
	if s := status(again())["BackedOff"]; s != "True InsufficientInstanceCapacity" || len(g.done) > 0 {
		t.Errorf("%s, %q", s, g.done)
	}
}

// TestInstancesWithoutANode are ended after the time that nodes may take, which the group may have set; at the minimum too, since the cloud
// replaces them.
func TestInstancesWithoutANode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*cloud.Group)
		flag   time.Duration
		after  time.Duration
		want   []string
	}{
		"a flag":           {after: 5 * time.Minute, flag: 5 * time.Minute, want: []string{"web ends aws:///a/i-2"}},
		"longer, by a tag": {after: 5 * time.Minute, flag: 5 * time.Minute, change: func(g *cloud.Group) { g.Options = map[string]string{tenonv1alpha1.ProvisionTime: "6m"} }},
		"in time":          {after: 14 * time.Minute},
		"too late":         {after: 15 * time.Minute, want: []string{"web ends aws:///a/i-2"}},
		"a shorter time":   {after: 5 * time.Minute, change: func(g *cloud.Group) { g.Options = map[string]string{tenonv1alpha1.ProvisionTime: "5m"} }, want: []string{"web ends aws:///a/i-2"}},
		"at the minimum":   {after: 15 * time.Minute, change: func(g *cloud.Group) { g.Min = 3 }, want: []string{"web ends aws:///a/i-2"}},
		"it ends already":  {after: 15 * time.Minute, change: func(g *cloud.Group) { g.Instances[2].State = cloud.Terminating; g.Desired = 2 }},
		"it is in Standby": {after: 15 * time.Minute, change: func(g *cloud.Group) { g.Instances[2].State = cloud.Stopped }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, g, again := short(t, 3, 2)
			r.Kit.Settings.MaxNodeProvisionTime = tc.flag
			if tc.change != nil {
				tc.change(&g.list[0])
			}
			again()
			r.Clock.Step(tc.after)
			again()
			if !slices.Equal(g.done, tc.want) {
				t.Errorf("%q, want %q", g.done, tc.want)
			}
		})
	}
}
