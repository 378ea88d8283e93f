// Package invariant watches a run for states that must never occur, and checks at its end that nothing
// superfluous is left.
//
// It sees what the API server and the cloud see, not what the product thinks. The package
// must not change anything.
package invariant

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/internal/command"
	"tenon/internal/telemetry"
	"tenon/sim/store"
)

// Violation is a broken rule.
type Violation struct {
	At   time.Time
	Rule string
	What string
}

// String returns a line for people.
func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s", v.At.UTC().Format(time.DateTime), v.Rule, v.What)
}

// The rules.
const (
	BoughtOnce      = "nothing is bought twice for one claim"
	IntentFirst     = "intent comes before effect"
	Limits          = "pool limits are never exceeded"
	PromisedOnce    = "no pod has places on two machines that are on their way"
	BoughtForPods   = "no more machines are on their way than pods that want one"
	BoughtInVain    = "no room is bought for pods that a quota forbids"
	PodGrace        = "do-not-disrupt pods keep their grace"
	PodBudgets      = "no budget is broken"
	PodNamed        = "no pod goes without a decision that names it"
	NodeNamed       = "no node goes without a decision that names it"
	PodsFirst       = "no machine ends under its pods"
	NodeStays       = "no node vanishes under its pods"
	ClaimInUse      = "no machine of a claim in use is ended"
	ClaimRemembers  = "no claim is forgotten before its machine"
	NoStrayInstance = "no instance without a claim"
	NoStrayClaim    = "no claim without its instance"
	TagsPutBack     = "no machine of a claim in use lacks a tag for long"
	NodeBudgets     = "budgets of pools are never exceeded"
	ReplacedFirst   = "nothing goes before what replaces it is ready"
	PaidOnce        = "nothing is paid for twice for long"
	Cheaper         = "nothing is replaced by what costs more"
)

// Watch looks at one run.
type Watch struct {
	Store *store.Store
	Cloud *memory.Cloud
	Now   func() time.Time
	// Several reports whether more than one process of the product is alive, for which some rules are
	// weaker. Nil means never.
	Several func() bool
	// Price returns what an offering costs an hour. With nil no price is known.
	Price func(cloud.Offer) model.Money
	// Meddled says that a user removed the finalizers of a node or a claim: the product is not responsible
	// for what follows. Nil means never.
	Meddled func(name string) bool
	// Recent returns the latest events: at rest the reason of each waiting pod is among them. Nil means
	// none.
	Recent func() []telemetry.Event
	// Totals bound all nodes together.
	Totals Totals
	// Report is called once for each violation.
	Report func(Violation)

	bought    map[string]string       // provider IDs by claim
	strays    map[string]time.Time    // since when, by what
	edited    map[string]time.Time    // when the spec of a pool was last changed
	limited   map[string]time.Time    // when its limits were
	limits    map[string]string       // of pools
	left      map[string][]time.Time  // when claims of a pool went
	prices    map[string]model.Money  // by claim
	paired    map[string]time.Time    // since when a command pays for both, by its ID
	wanting   map[types.UID]wantedPod // pods that have been pending
	crowd     time.Time               // when several processes were last alive
	told      map[string]bool
	announced map[string]bool // instances, by the cloud
	looked    time.Time
	stirred   time.Time                  // when something last changed that is no decision
	brought   map[string]*command.Record // claims that disruptions bought, and which
	going     map[string]*command.Record // claims that disruptions take, until they are gone
	heirs     heirs
	promises  promises
	loosened  map[string]time.Time // when a node's last pod went that had held it
	late      Late
	machines  map[string]*karpenterv1.NodeClaim // by provider ID; nil is not looked up yet
	podsOn    podsByNode
	beside    beside
	totals
}

// Jumped says that the clock went forward while nothing ran. The product had no time to learn of earlier changes.
func (w *Watch) Jumped(by time.Duration) {
	for _, at := range []*time.Time{&w.disturbed, &w.fell, &w.crowd} {
		if !at.IsZero() {
			*at = at.Add(by)
		}
	}
	for _, times := range []map[string]time.Time{w.limited, w.edited, w.strays} {
		for name, at := range times { // in any order
			times[name] = at.Add(by)
		}
	}
}

// Begin starts to watch.
func (w *Watch) Begin() {
	w.bought, w.strays = map[string]string{}, map[string]time.Time{}
	w.limited, w.limits, w.told = map[string]time.Time{}, map[string]string{}, map[string]bool{}
	w.wanting, w.edited, w.left = map[types.UID]wantedPod{}, map[string]time.Time{}, map[string][]time.Time{}
	w.announced, w.grown, w.growths, w.settling = map[string]bool{}, map[string]time.Time{}, map[string][]growth{}, map[types.UID]time.Time{}
	w.prices, w.paired = map[string]model.Money{}, map[string]time.Time{}
	w.stirred, w.brought, w.going = w.Now(), map[string]*command.Record{}, map[string]*command.Record{}
	w.heirs = heirs{awaited: map[types.UID][]*command.Record{}, moved: map[types.UID]*command.Record{}, waiting: map[types.UID]string{}, astray: map[string]bool{}, gains: map[string]bool{}, lacking: map[string][]time.Time{}}
	w.loosened = map[string]time.Time{}
	w.promises = promises{by: map[types.UID]promise{}, told: map[string]bool{}}
	w.podsOn = podsByNodeOf(w.Store)
	w.beside = beside{unsettled: map[string]time.Time{}, needless: map[string]string{}}
	w.Store.Listen(w.hear)
}

func (w *Watch) report(rule, format string, values ...any) {
	v := Violation{At: w.Now(), Rule: rule, What: fmt.Sprintf(format, values...)}
	if key := v.Rule + v.What; !w.told[key] {
		w.told[key] = true
		w.Report(v)
	}
}

// hear handles every change.
func (w *Watch) hear(c store.Change) {
	w.noteWish(c)
	w.noteLeaver(c)
	switch object := c.Object().(type) {
	case *karpenterv1.NodePool:
		w.remember(c)
	case *karpenterv1.NodeClaim:
		old, _ := c.Old.(*karpenterv1.NodeClaim)
		now, _ := c.New.(*karpenterv1.NodeClaim)
		w.noteMachine(old, now)
		w.noteClaim(old, now)
		switch {
		case c.New == nil:
			w.left[poolOf(object)] = append(w.left[poolOf(object)], w.Now())
			if !w.meddled(object.Name) {
				w.forgotten(object)
			}
		case commandOf(old) == nil && commandOf(object) != nil:
			w.begun(object)
			w.noteCommand(object)
		}
	case *corev1.Node:
		w.noteMember(c)
		if c.New == nil && !w.meddled(object.Name) {
			w.vanished(object)
		}
	case *corev1.Pod:
		w.podsOn.hear(c)
		w.want(object)
		w.keep(object, c.New == nil)
		w.loosen(c)
		w.notePod(c)
		w.noteSettling(c)
	}
	w.noteRoom(c)
}

func (w *Watch) meddled(name string) bool { return w.Meddled != nil && w.Meddled(name) }

// lookEvery is how often the watch makes its slower checks.
const lookEvery = 30 * time.Second

// Step is called after every step.
func (w *Watch) Step() {
	if w.Several != nil && w.Several() {
		w.crowd = w.Now()
	}
	w.stepBeside()
	if w.Now().Sub(w.looked) < lookEvery {
		return
	}
	w.looked = w.Now()
	instances := w.Cloud.Instances()
	w.lookForStrays(instances)
	w.lookAtPurchases(instances)
	w.lookAtCommands()
	w.noteFall()
}

// How long an instance may exist without a claim, and a launched claim without its instance. An instance
// without the cluster's tag is found only twice an hour. Tags are checked as often, and a check may fail.
const (
	stray         = 15 * time.Minute
	strayUntagged = stray + 30*time.Minute
	untagged      = stray + 30*time.Minute
)

// lookForStrays compares instances and claims.
func (w *Watch) lookForStrays(all []cloud.Instance) {
	seen := map[string]bool{}
	claims, instances := map[types.UID]bool{}, map[string]bool{}
	for _, claim := range store.All[*karpenterv1.NodeClaim](w.Store) {
		claims[claim.UID] = true
	}
	for _, i := range all {
		instances[i.ProviderID] = true
		if !claims[types.UID(i.ClaimUID)] && i.State != cloud.Terminating {
			patience := stray
			if slices.Contains(w.Cloud.Lacks(i.ProviderID), memory.TagCluster) {
				patience = strayUntagged
			}
			w.stray(seen, NoStrayInstance, i.ProviderID, patience)
		}
	}
	for _, claim := range store.All[*karpenterv1.NodeClaim](w.Store) {
		if id := claim.Status.ProviderID; id != "" && !instances[id] {
			w.stray(seen, NoStrayClaim, claim.Name, stray)
		}
		if tags := w.missing(claim); len(tags) > 0 {
			w.stray(seen, TagsPutBack, fmt.Sprint(bare(claim), tags), untagged)
		}
	}
	for key := range w.strays { // deletion alone: the order does not matter
		if !seen[key] {
			delete(w.strays, key)
		}
	}
}

// bare is how a machine that lacks tags is called.
func bare(claim *karpenterv1.NodeClaim) string { return "the machine of " + claim.Name + " without " }

// Untagged is called when a user removes a tag from a machine. The product may have put it back a moment ago, and has its time anew.
func (w *Watch) Untagged(providerID string) {
	for _, claim := range store.All[*karpenterv1.NodeClaim](w.Store) {
		if claim.Status.ProviderID == providerID {
			maps.DeleteFunc(w.strays, func(what string, _ time.Time) bool { return strings.HasPrefix(what, bare(claim)) })
		}
	}
}

// missing returns the tags that the machine of a claim in use lacks and should get back.
func (w *Watch) missing(claim *karpenterv1.NodeClaim) []memory.Tag {
	if claim.DeletionTimestamp != nil || claim.Status.NodeName == "" || w.meddled(claim.Name) {
		return nil
	}
	return slices.DeleteFunc(w.Cloud.Lacks(claim.Status.ProviderID), func(t memory.Tag) bool { return t == memory.TagToken })
}

func (w *Watch) stray(seen map[string]bool, rule, what string, patience time.Duration) {
	seen[what] = true
	since, known := w.strays[what]
	if !known {
		w.strays[what] = w.Now()
		return
	}
	if w.Now().Sub(since) > patience {
		w.report(rule, "%s, since %s", what, since.UTC().Format(time.DateTime))
	}
}
