package memory_test

import (
	"testing"
	"time"

	"tenon/cloud"
	"tenon/cloud/memory"
)

// An instance that lacks a tag runs on: a look by its identifier and the owner of the cloud see it, lists
// do not while the cluster's tag is missing, and a tag can be put back.
func TestTagsAreRemovedAndPutBack(t *testing.T) {
	t.Parallel()
	clock, far, near := world(memory.Options{})
	bought := mustCreate(t, near, claim("a"))
	list := func(want int, when string) []cloud.Instance {
		t.Helper()
		found, err := near.List(t.Context())
		if err != nil || len(found) != want {
			t.Fatalf("%s: listed %v, error %v, want %d", when, found, err, want)
		}
		return found
	}
	list(1, "with all tags")
	for _, tag := range []memory.Tag{memory.TagCluster, memory.TagPool, memory.TagClass} {
		if !far.Untag(bought.ProviderID, tag) || far.Untag(bought.ProviderID, tag) {
			t.Errorf("%s is not removed once", tag)
		}
	}
	list(0, "without the cluster's tag")
	i, err := near.Get(t.Context(), bought.ProviderID)
	if err != nil || i.Pool != "" || i.Class.Name != "" || i.ClaimUID != "a" {
		t.Errorf("looked at %+v, error %v", i, err)
	}
	if all := far.Instances(); len(all) != 1 || all[0].Pool != bought.Pool {
		t.Errorf("the owner of the cloud sees %+v", all)
	}
	clock.Step(30 * time.Minute)
	list(1, "half an hour later, among the strays")
	list(0, "right after that")
	if err := near.Label(t.Context(), bought.ProviderID, memory.TagPool); err != nil {
		t.Fatal(err)
	}
	if i := list(1, "with the cluster's tag again")[0]; i.Pool != bought.Pool || i.Class.Name != "" {
		t.Errorf("listed %+v, want the pool's tag and not the class's", i)
	}
	if lacks := far.Lacks(bought.ProviderID); len(lacks) != 1 || lacks[0] != memory.TagClass {
		t.Errorf("it lacks %v, want the class's tag", lacks)
	}
	if err := near.Delete(t.Context(), bought.ProviderID); err != nil {
		t.Fatal(err)
	}
	if err := near.Label(t.Context(), bought.ProviderID, memory.TagClass); !cloud.IsNotFound(err) {
		t.Errorf("labelling what is gone: %v", err)
	}
}
