package conformance

import (
	"context"
	"errors"
	"testing"

	"tenon/cloud"
)

// GroupHarness is a provider of groups, with a cloud that the laws control.
type GroupHarness struct {
	Groups cloud.Groups
	// Group is the name of one whose size is neither its floor nor its ceiling.
	Group string
	// Set has another writer change the group's size, without telling the provider.
	Set func(desired int64)
	// Desired is the size that the cloud itself keeps.
	Desired func() int64
	// Writes is how often the provider has written the size, and Ended how often it has ended an instance.
	Writes, Ended func() int
}

// GroupLaw is one promise of cloud.GroupWriter.
type GroupLaw struct {
	Name string
	// Why says what goes wrong in a cluster whose provider breaks the law.
	Why string
	try func(*groupRun)
}

// groupRun is one law on one harness.
type groupRun struct {
	testing.TB
	GroupHarness
	group cloud.Group // as the provider showed it first
}

// RunGroups tries each law of groups on a harness of its own.
func RunGroups(t *testing.T, open func(t *testing.T) GroupHarness) {
	for _, law := range GroupLaws() {
		t.Run(law.Name, func(t *testing.T) {
			r := &groupRun{TB: t, GroupHarness: open(t)}
			r.group = r.look()
			law.try(r)
			if t.Failed() {
				t.Log("Why it matters: " + law.Why)
			}
		})
	}
}

// GroupLaws are all of them.
func GroupLaws() []GroupLaw {
	return []GroupLaw{
		{"a new size is kept and shown at once", "The next decision would ask for the same instances again.", keepsSize},
		{"the size of another writer is not overwritten", "A size that people or a scaling policy have set would be lost.", respectsWriters},
		{"bounds are kept", "A group would cost more than its owner allows, or serve less.", keepsBounds},
		{"a smaller size ends no instance", "The cloud would choose one, with its pods.", keepsInstances},
		{"the size goes down with an instance that is ended, once", "The cloud would replace what was not needed, or end one more.", endsOnce},
		{"at its minimum a group gets another instance", "A group would serve less than its owner allows.", replacesAtFloor},
		{"an instance that a group does not have is not ended", "Something else would be ended.", knowsStrangers},
		{"a group that is gone is no failure", "One deleted group would hold up the others.", knowsGone},
	}
}

func (r *groupRun) look() cloud.Group {
	r.Helper()
	list, err := r.Groups.Groups(context.Background())
	if err != nil {
		r.Fatal(err)
	}
	for i := range list {
		if list[i].Name == r.Group {
			return list[i]
		}
	}
	r.Fatalf("no group %s", r.Group)
	return cloud.Group{}
}

// sees fails unless the cloud keeps a size, and the provider shows it.
func (r *groupRun) sees(want int64, writes int) {
	r.Helper()
	if kept, shown := r.Desired(), r.look().Desired; kept != want || shown != want {
		r.Errorf("the cloud keeps %d and the provider shows %d, want %d", kept, shown, want)
	}
	if n := r.Writes(); n != writes {
		r.Errorf("%d writes, want %d", n, writes)
	}
}

// refused fails unless the group was left as it is, because it is not as the caller saw it.
func (r *groupRun) refused(name string, from, to int64) {
	r.Helper()
	err := r.Groups.Resize(context.Background(), name, from, to)
	if _, changed := errors.AsType[*cloud.GroupChanged](err); !changed {
		r.Errorf("resize %s from %d to %d: %v, want a GroupChanged", name, from, to, err)
	}
}

func keepsSize(r *groupRun) {
	for _, to := range []int64{r.group.Desired + 1, r.group.Desired} {
		if err := r.Groups.Resize(context.Background(), r.Group, r.look().Desired, to); err != nil {
			r.Fatal(err)
		}
	}
	r.sees(r.group.Desired, 2)
}

func respectsWriters(r *groupRun) {
	r.Set(r.group.Max)
	r.refused(r.Group, r.group.Desired, r.group.Desired+1)
	r.sees(r.group.Max, 0)
}

func keepsBounds(r *groupRun) {
	r.refused(r.Group, r.group.Desired, r.group.Max+1)
	r.refused(r.Group, r.group.Desired, r.group.Min-1)
	r.sees(r.group.Desired, 0)
}

func knowsGone(r *groupRun) {
	r.refused(r.Group+"-that-is-gone", r.group.Desired, r.group.Desired+1)
	r.sees(r.group.Desired, 0)
}

// end ends the group's first instance, and returns its provider ID.
func (r *groupRun) end() string {
	r.Helper()
	g := r.look()
	if len(g.Instances) == 0 {
		r.Fatalf("group %s has no instance", r.Group)
	}
	id := g.Instances[0].ProviderID
	if _, err := r.Groups.End(context.Background(), r.Group, id); err != nil {
		r.Fatal(err)
	}
	return id
}

func endsOnce(r *groupRun) {
	id := r.end()
	r.sees(r.group.Desired-1, 0)
	if _, err := r.Groups.End(context.Background(), r.Group, id); err != nil && !cloud.IsNotFound(err) {
		r.Error(err)
	}
	r.sees(r.group.Desired-1, 0)
	if n := r.Ended(); n != 1 {
		r.Errorf("%d instances are ended, want 1", n)
	}
}

func replacesAtFloor(r *groupRun) {
	r.Set(r.group.Min)
	r.end()
	r.sees(r.group.Min, 0)
}

func knowsStrangers(r *groupRun) {
	if _, err := r.Groups.End(context.Background(), r.Group, r.group.Instances[0].ProviderID+"0"); !cloud.IsNotFound(err) {
		r.Errorf("end an instance that there is not: %v, want a NotFound", err)
	}
	r.sees(r.group.Desired, 0)
}

func keepsInstances(r *groupRun) {
	if r.group.Alive() != r.group.Desired {
		r.Fatalf("the group has %d instances and should have %d", r.group.Alive(), r.group.Desired)
	}
	r.refused(r.Group, r.group.Desired, r.group.Desired-1)
	r.sees(r.group.Desired, 0)
}
