package ingest_test

import (
	"strings"
	"testing"
)

const (
	asksForSurge = "annotations: {tenon.sh/surge: 'true'}\n"
	noneMayGo    = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {maxUnavailable: 0, selector: {}}\n"
	ofSet        = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: s, controller: true}]\n"
)

// A pod that is replaced before it goes is not evicted: no budget holds it, and it wants a
// place elsewhere whatever budgets say.
func TestReplacedPodsAskNoBudget(t *testing.T) {
	t.Parallel()
	set := func(replicas string) string {
		return "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-1, uid: s}\nspec: {replicas: " + replicas + "}\n"
	}
	running := func(text string) string { return strings.Replace(text, "phase: Pending", "phase: Running", 1) }
	cases := map[string]struct {
		text string
		free bool
	}{
		"of a ReplicaSet with one pod":      {running(podNamed("p", asksForSurge+ofSet, bound)) + set("1"), true},
		"of a ReplicaSet that is not known": {running(podNamed("p", asksForSurge+ofSet, bound)), true},
		"of a ReplicaSet with three":        {running(podNamed("p", asksForSurge+ofSet, bound)) + set("3"), false},
		"of a StatefulSet":                  {running(podNamed("p", asksForSurge+owned("apps/v1", "StatefulSet", "db"), bound)), false},
		"that does not ask":                 {running(podNamed("p", ofSet, bound)) + set("1"), false},
		"that does not run":                 {podNamed("p", asksForSurge+ofSet, bound) + set("1"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, fromCluster(t), leavesNode+tc.text+noneMayGo)
			if p := s.Pods[0]; (len(p.Tie.Budgets) == 0) != tc.free || p.Movable != tc.free || !p.Tie.Asked || !p.Tie.Returns {
				t.Errorf("movable %t, tie %+v", p.Movable, p.Tie)
			}
		})
	}
}

// Once there is another pod in its place, a pod wants no place any more: there would be two.
func TestHeirsTakeThePlace(t *testing.T) {
	t.Parallel()
	pod := podNamed("p", asksForSurge+ofSet+"uid: old\n", bound)
	heir := func(metadata string) string {
		return podNamed("q", "annotations: {tenon.sh/surged-for: old}\n"+metadata, container)
	}
	cases := map[string]struct {
		text    string
		movable bool
	}{
		"alone":                  {pod, true},
		"with an heir":           {pod + heir(""), false},
		"with an heir that ends": {pod + heir("deletionTimestamp: 2026-01-01T00:00:00Z\n"), true},
		"with one that failed":   {pod + strings.Replace(heir(""), "phase: Pending", "phase: Failed", 1), true},
		"with another's heir":    {pod + strings.Replace(heir(""), "surged-for: old", "surged-for: other", 1), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, fromCluster(t), leavesNode+tc.text)
			check(t, "movable", s.Pods[0].Movable, tc.movable)
		})
	}
}
