package aws_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tenon/cloud/aws/instance"
	announced "tenon/cloud/aws/instanceevents"
	"tenon/core/requirement"
)

// We read from the queue what AWS puts into it, and deleted messages do not return.
func TestNotices(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	claim := request("1")
	claim.Requirements = requirement.NewSet(
		requirement.New(requirement.KeyInstanceType, requirement.In, "m5.large"), requirement.New(requirement.KeyCapacityType, requirement.In, "spot"))
	bought := got(p.Create(ctx, claim))(t)
	_, id, _ := instance.Parse(bought.ProviderID)
	n.pass(10 * time.Second)
	for _, kind := range []string{"rebalance-recommendation", "scheduled-change", "spot-interruption"} {
		n.cause(fmt.Sprintf(`{"kind":%q,"instances":%s}`, kind, quoted(id)))
	}
	n.pass(3 * time.Minute)
	kinds := map[announced.Kind]bool{}
	for range 10 {
		for _, m := range got(p.Events.Receive(ctx))(t) {
			read := got(announced.Parse(m.Body))(t)
			if read.Kind != announced.Nothing && !slices.Contains(read.Instances, id) {
				t.Errorf("%s is about %v", read.Kind, read.Instances)
			}
			kinds[read.Kind] = true
			if err := p.Events.Delete(ctx, m); err != nil {
				t.Fatal(err)
			}
		}
		if len(kinds) == 5 {
			break
		}
	}
	for _, want := range []announced.Kind{announced.SpotInterrupted, announced.RebalanceRecommended, announced.ScheduledChange, announced.InstanceTerminated} {
		if !kinds[want] {
			t.Errorf("read were %v, want %s", kinds, want)
		}
	}
}

// Failing checks and planned events are seen in the status of instances.
func TestIllInstances(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	var ids []string
	for i := range 3 {
		_, id, _ := instance.Parse(got(p.Create(ctx, request(fmt.Sprint(i))))(t).ProviderID)
		ids = append(ids, id)
	}
	n.pass(10 * time.Second)
	n.cause(fmt.Sprintf(`{"kind":"instance-failure","how":"impaired","instances":%s}`, quoted(ids[0])))
	n.cause(fmt.Sprintf(`{"kind":"scheduled-change","instances":%s}`, quoted(ids[1])))
	if early := got(p.Ill(ctx))(t); len(early) != 1 || early[0] != (announced.Illness{Instance: ids[1], Category: announced.EventStatus}) {
		t.Errorf("at once: %v", early)
	}
	n.pass(3 * time.Minute)
	later := got(p.Ill(ctx))(t)
	if !slices.ContainsFunc(later, func(i announced.Illness) bool { return i.Instance == ids[0] && i.Category.Forceful() }) {
		t.Errorf("after three minutes: %v", later)
	}
	if slices.ContainsFunc(later, func(i announced.Illness) bool { return i.Instance == ids[2] }) {
		t.Errorf("a healthy one is among %v", later)
	}
}
