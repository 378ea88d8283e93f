package market_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/controller/market"
	"tenon/internal/market/publication"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// paused are the pools for which nothing is bought.
type paused map[string]error

func (p paused) Pause(pool *karpenterv1.NodePool) error { return p[pool.Name] }

func published(t *testing.T, h *harness.Harness) *publication.Publication {
	t.Helper()
	var stored corev1.ConfigMap
	if err := h.API.Get(t.Context(), client.ObjectKey{Namespace: "tenon", Name: publication.Name}, &stored); err != nil {
		t.Fatal(err)
	}
	p, err := publication.FromObject(&stored)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The market is published at once, then when it changes but not more often than once a minute, and at
// times when it does not.
func TestPublishesWhatChanges(t *testing.T) {
	t.Parallel()
	sold := cloud.Offer{InstanceType: "general-4", Zone: "memory-1a", CapacityType: catalog.OnDemand}
	h := harness.New(t, memory.Options{Stock: map[cloud.Offer]int{sold: 0}}, harness.Pool("web"))
	pauses := paused{}
	h.Kit.Settings.ForPlans = map[string]string{"preference-policy": "Ignore"}
	c := market.New(h.Kit, pauses, "tenon")
	run := func(after time.Duration) time.Time {
		t.Helper()
		h.Clock.Step(after)
		h.Run(c, "")
		return published(t, h).At
	}
	begin := run(0)
	first := published(t, h)
	if first.Settings["preference-policy"] != "Ignore" {
		t.Errorf("the settings on which plans depend are published as %v", first.Settings)
	}
	if len(first.Catalogs) != 1 || len(first.Closed) != 0 {
		t.Fatalf("published %d classes, closed %v", len(first.Catalogs), first.Closed)
	}
	if at := run(5 * time.Minute); !at.Equal(begin) {
		t.Error("what has not changed is written again")
	}
	for ref := range first.Catalogs {
		if available(first, ref, sold) != true {
			t.Error("what was not tried is not available")
		}
		_, err := h.Kit.Cloud.Create(t.Context(), cloud.Claim{UID: "1", Name: "web-1", Class: ref, Requirements: requirement.NewSet(
			requirement.New(requirement.KeyInstanceType, requirement.In, sold.InstanceType), requirement.New(requirement.KeyZone, requirement.In, sold.Zone),
			requirement.New(requirement.KeyCapacityType, requirement.In, sold.CapacityType))})
		if err == nil {
			t.Fatal("there was none to be had")
		}
		changed := run(time.Second)
		if available(published(t, h), ref, sold) {
			t.Error("a shortage is not published")
		}
		pauses["web"] = errors.New("pauses")
		if at := run(30 * time.Second); !at.Equal(changed) {
			t.Error("it is written twice in a minute")
		}
	}
	told := run(time.Minute)
	if got := published(t, h).Closed["web"]; got != "pauses" {
		t.Errorf("closed: %q", got)
	}
	if at := run(time.Hour); !at.After(told) {
		t.Error("after an hour it is not written again")
	}
}

func available(p *publication.Publication, ref cloud.ClassRef, offer cloud.Offer) bool {
	for _, kind := range p.Catalogs[ref].Types {
		for _, o := range kind.Offerings {
			if kind.Name == offer.InstanceType && o.Zone == offer.Zone && o.CapacityType == offer.CapacityType {
				return o.Available
			}
		}
	}
	return false
}

// A write that fails is tried again, and another controller's object is written over.
func TestFailedWrites(t *testing.T) {
	t.Parallel()
	h := harness.New(t, memory.Options{}, harness.Pool("web"))
	c := market.New(h.Kit, paused{}, "tenon")
	h.Fail(func(call harness.Call) error {
		if call.IsWrite() {
			return errors.New("the server is busy")
		}
		return nil
	})
	if _, err := c.Reconcile(t.Context(), reconcile.Key{}); err == nil {
		t.Fatal("a write that failed is not told")
	}
	h.Fail(nil)
	h.Run(c, "")
	before := published(t, h)
	h.Clock.Step(time.Hour)
	h.Run(market.New(h.Restart(), paused{}, "tenon"), "")
	if !published(t, h).At.After(before.At) {
		t.Error("a controller that starts anew does not write")
	}
}
