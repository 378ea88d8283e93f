// Package cloud is the extension point: the interface between Tenon and a program that makes and removes
// machines, with its values and errors.
//
// A provider implements Provider, describes itself with data (Description), answers in core's values, and
// returns errors whose names say what the caller should do. The guide for authors is the README beside this
// file; cloud/conformance is the suite that every provider must pass; cloud/memory is the smallest complete
// provider.
//
// The contract must not know API objects, clients or controllers: a provider's author need not know how Tenon
// runs the provider.
package cloud

import (
	"context"
	"time"

	"tenon/core/catalog"
)

// Provider is one cloud.
//
// Every method may be called by many goroutines at the same time. All but Describe may
// wait for the network, and give up when their context ends; no caller waits for one claim's
// call before making another's. Values that are handed over belong to the receiver, but
// for catalogues, which are shared and must not be changed.
//
//	           Create                    the instance joins         Delete, or it dies
//	(nothing) ────────▶ Pending ─────────────────────▶ Running ─────────────────────▶ Terminating ──▶ (gone)
//	    ▲  │                │                                             ▲
//	    └──┘ error          └──────────────── Delete ─────────────────────┘
type Provider interface {
	// Describe tells what kind of cloud this is. It does not block, and the answer is the
	// same for the life of the process.
	Describe() Description
	Instances
	CatalogReader
	Inspector
}

// Instances buys and removes machines.
type Instances interface {
	Reader
	// Create buys one instance for a claim and returns without waiting for it to boot.
	//
	// The claim's UID is the token of the purchase: in every case one UID buys at most
	// one instance, ever. Called again, at the same time or after a lost answer, a crash
	// or a restart of the process, Create returns the instance that was bought; once that
	// instance is terminating or gone, it returns NotFound and buys nothing. A provider
	// keeps this promise for at least twice Description.LaunchTimeout after the purchase;
	// it is not asked for later.
	//
	// The instance carries the claim's UID, name, pool and class from its first moment
	// (tags sent with the purchase, not after it), so that a crash between the purchase
	// and the write of its result leaks nothing: List finds the instance.
	//
	// Create buys the cheapest offering that the claim allows and the cloud can give; of
	// spot offerings it may take a dearer one that is likely to live longer. A shortage of
	// one offering is no failure while another will do; when none will, the answer is
	// NoCapacity, which names what was tried, and the catalogue shows those offerings as
	// unavailable for a while.
	//
	// After NoCapacity, ClassNotReady, Rejected or Throttled nothing was bought. After any
	// other error the outcome is not known: call Create again with the same claim.
	Create(ctx context.Context, claim Claim) (Instance, error)

	// Delete begins to remove an instance, and returns without waiting for its end. It
	// returns nil while the instance exists, however often it is called, and NotFound only
	// once it is gone for good: finalizers are removed because of that answer. In
	// particular, an instance that was just bought and that other calls do not show yet is
	// not NotFound.
	Delete(ctx context.Context, providerID string) error
}

// Reader looks at instances of this cluster. Instances of others, and machines that
// were not bought here, are invisible to it.
//
// A look may be behind: for as long as Description.VisibleWithin, an instance that was
// bought may be missing and one that is gone may still be shown. A caller that removes something
// because of what is missing here waits that long first.
type Reader interface {
	// Get finds one instance; NotFound when it is gone.
	Get(ctx context.Context, providerID string) (Instance, error)
	// List finds all instances, also those that are terminating, each once, in the order
	// of their provider IDs. An error means that nothing is known; a partial list is
	// never returned as a whole one.
	List(ctx context.Context) ([]Instance, error)
}

// CatalogReader lists what the cloud sells.
type CatalogReader interface {
	// Catalog lists what a node class can buy: all types, also those without an offering
	// that can be had now. Pools with the same class share a catalogue, which must not be
	// changed. While nothing has changed a provider returns the same pointer, so that a caller
	// sees at once that there is nothing to do. The first call may block; later ones
	// answer from memory. A class that is missing or not ready is ClassNotReady.
	//
	// Prices and capacities are the cloud's own: overlays are the caller's business.
	Catalog(ctx context.Context, class ClassRef) (*catalog.Catalog, error)
}

// Inspector compares a running instance with what its class would buy now.
type Inspector interface {
	// Drifted says why an instance is no longer what its class asks for, as a reason for
	// a condition (see ValidReason), or "" if it still is. Both arguments are as the
	// claim's object has them: the provider looks up what else it needs. What cannot be
	// found out is an error, never a drift, and so is an instance that is gone (NotFound).
	Drifted(ctx context.Context, claim Claim, instance Instance) (DriftReason, error)
}

// Gate is implemented by providers whose instances are not complete when their nodes
// join. A node is registered only once its gate admits it.
type Gate interface {
	// Admit says what is still awaited. It is asked for every node until it admits it, and
	// may be asked again after a crash.
	Admit(ctx context.Context, claim Claim, instance Instance) (Admission, error)
}

// Admission is a gate's answer.
type Admission struct {
	// Awaiting names what has yet to happen, sorted; empty means that the node may be
	// registered. The names are shown to people.
	Awaiting []string
	// Again is how long to wait before asking again.
	Again time.Duration
	// Labels that became known meanwhile, for the claim and its node.
	Labels map[string]string
}

// Admitted reports whether nothing is awaited.
func (a Admission) Admitted() bool { return len(a.Awaiting) == 0 }
