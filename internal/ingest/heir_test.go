package ingest_test

import (
	"strings"
	"testing"
)

const (
	asksForSurge = "annotations: {tenon.sh/surge: 'true'}\n"
	noneMayGo    = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {maxUnavailable: 0, selector: {}}\n"
	asks         = "template: {metadata: {annotations: {tenon.sh/surge: 'true'}}}"
	mountsVolume = "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n"
	ofSet        = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: s, controller: true}]\n"
)

// set is the ReplicaSet, parent its owner, with the rest of its spec.
func set(replicas string) string {
	return "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-1, uid: s, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}\nspec: {replicas: " + replicas + "}\n"
}

func parent(spec string) string {
	return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, uid: d}\nspec: {" + spec + "}\n"
}

func volumeClaim(mode string) string {
	return "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [" + mode + "]}\n"
}

// A pod that is replaced before it leaves is not evicted: no budget holds it, and it needs a place
// elsewhere in spite of budgets.
func TestReplacedPodsAskNoBudget(t *testing.T) {
	t.Parallel()
	running := func(text string) string { return strings.Replace(text, "phase: Pending", "phase: Running", 1) }
	cases := map[string]struct {
		text string
		free bool
	}{
		"of a Deployment with one pod":      {running(podNamed("p", asksForSurge+ofSet, bound)) + set("1") + parent(asks), true},
		"of a ReplicaSet with three":        {running(podNamed("p", asksForSurge+ofSet, bound)) + set("3") + parent(asks), false},
		"of a ReplicaSet that is not known": {running(podNamed("p", asksForSurge+ofSet, bound)) + parent(asks), false},
		"of a ReplicaSet of the same name":  {running(podNamed("p", asksForSurge+strings.Replace(ofSet, "uid: s", "uid: t", 1), bound)) + set("1") + parent(asks), false},
		"of a Deployment that is not known": {running(podNamed("p", asksForSurge+ofSet, bound)) + set("1"), false},
		"of a Deployment of the same name":  {running(podNamed("p", asksForSurge+ofSet, bound)) + set("1") + strings.Replace(parent(asks), "uid: d", "uid: e", 1), false},
		"whose Deployment does not ask":     {running(podNamed("p", asksForSurge+ofSet, bound)) + set("1") + parent(""), false},
		"whose Deployment ends pods first":  {running(podNamed("p", asksForSurge+ofSet, bound)) + set("1") + parent(asks+", strategy: {type: Recreate}"), false},
		"with a volume for one node":        {running(podNamed("p", asksForSurge+ofSet, bound+mountsVolume)) + set("1") + parent(asks) + volumeClaim("ReadWriteOnce"), false},
		"with a volume for all":             {running(podNamed("p", asksForSurge+ofSet, bound+mountsVolume)) + set("1") + parent(asks) + volumeClaim("ReadWriteMany"), true},
		"of a StatefulSet":                  {running(podNamed("p", asksForSurge+owned("apps/v1", "StatefulSet", "db"), bound)), false},
		"that does not ask":                 {running(podNamed("p", ofSet, bound)) + set("1") + parent(asks), false},
		"that does not run":                 {podNamed("p", asksForSurge+ofSet, bound) + set("1") + parent(asks), false},
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

// Once another pod has been created in its place, a pod needs no place any more: there would be
// two.
func TestHeirsTakeThePlace(t *testing.T) {
	t.Parallel()
	pod := podNamed("p", asksForSurge+ofSet+"uid: old\n", bound)
	heir := func(metadata string) string {
		return podNamed("q", "annotations: {tenon.sh/surged-for: old}\n"+strings.Replace(strings.Replace(ofSet, "web-1", "web-2", 1), "uid: s", "uid: s2", 1)+metadata, container)
	}
	sets := parent(asks) + set("1") + strings.Replace(strings.Replace(set("1"), "web-1", "web-2", 1), "uid: s", "uid: s2", 1)
	cases := map[string]struct {
		text    string
		movable bool
	}{
		"alone":                   {pod, true},
		"with an heir":            {pod + heir(""), false},
		"with an heir that ends":  {pod + heir("deletionTimestamp: 2026-01-01T00:00:00Z\n"), true},
		"with one that failed":    {pod + strings.Replace(heir(""), "phase: Pending", "phase: Failed", 1), true},
		"with another's heir":     {pod + strings.Replace(heir(""), "surged-for: old", "surged-for: other", 1), true},
		"of another namespace":    {pod + heir("namespace: other\n"), true},
		"that nothing made":       {pod + podNamed("q", "annotations: {tenon.sh/surged-for: old}\n", container), true},
		"with the set of another": {pod + strings.Replace(heir(""), "uid: s2", "uid: s3", 1), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, fromCluster(t), leavesNode+tc.text+sets)
			check(t, "movable", s.Pods[0].Movable, tc.movable)
		})
	}
	replacing := func(uid string) string {
		return parent("template: {metadata: {annotations: {tenon.sh/surge: 'true', tenon.sh/surged-for: " + uid + "}}}")
	}
	for name, tc := range map[string]struct {
		text    string
		movable bool
	}{
		"before its set is heard of":                {pod + heir("") + set("1") + replacing("old"), false},
		"without the Deployment's word":             {pod + heir("") + set("1") + parent(asks), true},
		"of a Deployment that replaces another":     {pod + heir("") + set("1") + replacing("other"), true},
		"the Deployment's word without an heir":     {pod + set("1") + replacing("old"), true},
		"of another namespace, with an unheard set": {pod + heir("namespace: other\n") + set("1") + replacing("old"), true},
		"that no set made":                          {pod + podNamed("q", "annotations: {tenon.sh/surged-for: old}\n", container) + set("1") + replacing("old"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, fromCluster(t), leavesNode+tc.text)
			check(t, "movable", s.Pods[0].Movable, tc.movable)
		})
	}
}
