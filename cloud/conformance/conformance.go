// Package conformance tests providers: it states the contract of package cloud as a table of laws, and tries
// each of them. Every provider must pass.
//
// A provider's test makes a Harness and calls Run:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, func(t *testing.T) conformance.Harness { … })
//	}
//
// Each law gets a fresh harness, so that laws cannot help or hide each other. A law looks
// at the provider only through the contract, and at the cloud behind it only through the
// harness. It must not know any provider.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"tenon/cloud"
)

// Harness is a provider with a cloud that the laws control: an emulated or simulated one. All functions are
// required unless their comment says otherwise.
type Harness struct {
	Provider cloud.Provider
	// Class is ready, and can buy on demand in at least two zones. UnreadyClass is of a
	// supported kind and cannot be used.
	Class, UnreadyClass cloud.ClassRef
	// Undefined are well-known labels that the class leaves open, so that types say
	// nothing about them.
	Undefined []string
	// Advance lets time pass.
	Advance func(time.Duration)
	// EndsWithin is how long an instance may take from Delete to its end.
	EndsWithin time.Duration
	// Exhaust makes the cloud run out of an offering, without telling the provider.
	Exhaust func(cloud.Offer)
	// LoseAnswer makes the cloud lose its answer to the next purchase.
	LoseAnswer func()
	// Kill ends a machine without telling the provider.
	Kill func(providerID string)
	// Drift makes a machine differ from its class; nil if nothing ever drifts here.
	Drift func(providerID string)
	// Restart returns a new process's provider for the same cloud, which remembers nothing.
	Restart func() cloud.Provider
	// Bought is how many machines the cloud itself says it has sold.
	Bought func() int
}

// Validate says what is missing.
func (h Harness) Validate() error {
	var missing []error
	need := func(there bool, name string) {
		if !there {
			missing = append(missing, fmt.Errorf("the harness has no %s", name))
		}
	}
	need(h.Provider != nil, "Provider")
	need(h.Class != cloud.ClassRef{}, "Class")
	need(h.UnreadyClass != cloud.ClassRef{}, "UnreadyClass")
	need(h.Advance != nil, "Advance")
	need(h.Exhaust != nil, "Exhaust")
	need(h.LoseAnswer != nil, "LoseAnswer")
	need(h.Kill != nil, "Kill")
	need(h.Restart != nil, "Restart")
	need(h.Bought != nil, "Bought")
	return errors.Join(missing...)
}

// Law is one promise of the contract.
type Law struct {
	Name string
	// Why says what goes wrong in a cluster whose provider breaks the law.
	Why string
	try func(*lawRun)
}

// Try says how the provider breaks the law, or nil. The harness must be fresh.
func (l Law) Try(ctx context.Context, h Harness) error {
	if err := h.Validate(); err != nil {
		return err
	}
	t := &lawRun{Harness: h, ctx: ctx, law: l.Name}
	t.run(l.try)
	return errors.Join(t.wrong...)
}

// Run tries every law.
func Run(t *testing.T, harness func(*testing.T) Harness) {
	for _, law := range Laws() {
		t.Run(law.Name, func(t *testing.T) {
			t.Parallel()
			if err := law.Try(t.Context(), harness(t)); err != nil {
				t.Errorf("%v\n(otherwise %s)", err, law.Why)
			}
		})
	}
}

// Laws is the table. The order is that of the guide.
func Laws() []Law {
	return []Law{
		{"it describes itself", "metrics, requirements and node repair speak of the wrong things", describes},

		{"a catalogue obeys the rules of the core", "decisions buy what cannot be had, or refuse what they could", catalogueObeysRules},
		{"a catalogue that was handed out never changes", "decisions in progress see two worlds at once", catalogueIsFrozen},
		{"a catalogue stays the same while nothing changes", "every poll makes the world compile ten thousand offerings anew", catalogueIsStable},

		{"an instance is what was asked for", "pods that made us buy the node cannot run on it", respectsRequirements},
		{"an instance is as the catalogue says", "the node disagrees with the plan it was bought for", keepsCatalogue},
		{"an instance holds what was requested", "the pods do not fit, and the next node is bought", holdsRequests},
		{"an instance is the cheapest", "the plan's price is a lie", buysCheapest},
		{"overlays decide what is cheapest", "discounts and licences of the users do not count", followsOverlays},
		{"minimums of values are kept", "a claim that must stay flexible is not", keepsMinimums},
		{"a reservation is not oversold", "nodes that were paid for are bought again on demand", keepsReservations},

		{"one token buys one instance", "a retry leaks a machine", tokenBuysOnce},
		{"one token buys one instance, also at the same time", "two workers leak a machine", tokenBuysOnceAtOnce},
		{"a lost answer buys nothing twice", "a broken connection leaks a machine", lostAnswerBuysOnce},
		{"a crash leaks nothing", "what was bought before the crash runs for ever", crashLeaksNothing},
		{"a token whose instance is gone buys nothing", "a claim that is being removed comes back", spentTokenBuysNothing},
		{"a claim without an identity buys nothing", "what it buys can never be found again", tokenIsNeeded},

		{"a shortage is named and remembered", "the next decision buys the same thing again", namesShortage},
		{"a shortage of one thing leaves the others", "one sold-out type stops a whole pool", avoidsShortage},
		{"a class that is not ready buys nothing", "machines boot with half of their settings", refusesClass},

		{"what exists is listed with its identity", "garbage collection removes what is used, or keeps what is not", listsInstances},
		{"get and list agree", "two controllers see two worlds", getAgrees},
		{"what never was is not found", "finalizers wait for machines that do not exist", unknownIsNotFound},
		{"delete may be called again, and ends", "finalizers are removed too early, or never", deletesOnce},
		{"delete removes one instance", "other nodes are lost", deletesOnlyOne},
		{"what dies by itself is not found", "claims wait for machines that are gone", deathIsSeen},

		{"drift is a reason or nothing", "nodes are replaced for no reason, or none that can be written down", reportsDrift},
		{"a call whose context has ended does nothing", "work goes on after shut-down, unseen", respectsContext},
		{"values change hands", "one caller's edit changes what others see", valuesChangeHands},
	}
}
