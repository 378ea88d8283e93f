package reconcile

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Because says why something is read past the cache. Each such read is a request that the API server
// has to answer, so the list is closed: what is not on it is read from the cache.
type Because string

const (
	// BeforePurchase: what follows buys a machine, which a cache that is behind would buy twice.
	BeforePurchase Because = "a machine is to be bought"
	// BeforeRemoval: what follows ends pods or machines.
	BeforeRemoval Because = "something is to be removed"
	// AfterConflict: the cache was behind, and the write is tried again on the object as it is.
	AfterConflict Because = "another writer was faster"
	// AfterOwnWrite: this process wrote the object a moment ago, and no watch has shown it yet.
	AfterOwnWrite Because = "it was written a moment ago"
	// AfterLostAnswer: a write may have happened or not.
	AfterLostAnswer Because = "a write was not answered"
	// AfterStart: the caches may begin further back than the leader before this one had come.
	AfterStart Because = "this process has just become the leader"
	// Unwatched: no cache has objects of this kind.
	Unwatched Because = "no cache has it"
)

// Uncached reads from the API server itself. Errors say why it was asked.
func (k Kit) Uncached(why Because) client.Reader { return uncached{k.Server, why} }

type uncached struct {
	client.Reader
	why Because
}

// Get implements client.Reader.
func (u uncached) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return u.explain(u.Reader.Get(ctx, key, object, options...))
}

// List implements client.Reader.
func (u uncached) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return u.explain(u.Reader.List(ctx, list, options...))
}

func (u uncached) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("ask the API server itself, as %s: %w", u.why, err)
}
