package ingest

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Node translates a node, its claim, or both together; either may be nil. prices are those of their
// pool. The result is false when nothing can be decided yet: for a node of ours that has no claim,
// and not yet a provider ID or an instance type.
//
// The name is that of the Node as soon as it exists, since pods refer to it, and that of the claim
// until then.
func (t *Translator) Node(node *corev1.Node, claim *karpenterv1.NodeClaim, prices Prices) (snapshot.Node, bool) {
	if node != nil && (!t.hasIdentity(node) || claim == nil && t.awaitsClaim(node)) {
		node = nil
	}
	if node == nil && claim == nil {
		return snapshot.Node{}, false
	}
	v := view{t: t, node: node, claim: claim, prices: prices}
	v.choice = sync.OnceValue(v.findChoice)
	return v.snapshot(), true
}

// hasIdentity reports whether a node's own data can be relied on: always for nodes of others, for
// ours once the provider ID is known and the instance type or the end of initialization.
func (t *Translator) hasIdentity(node *corev1.Node) bool {
	if t.options.Files || node.Labels[karpenterv1.LabelNodePool] == "" {
		return true
	}
	_, typed := node.Labels[corev1.LabelInstanceTypeStable]
	_, initialized := node.Labels[karpenterv1.LabelInitialized]
	return node.Spec.ProviderID != "" && (typed || initialized)
}

// awaitsClaim reports whether a node that has no claim joined before its claim was seen to have the instance. The claim is listed without
// a node until then: with both, its room would count twice.
func (t *Translator) awaitsClaim(node *corev1.Node) bool {
	return !t.options.Files && node.Labels[karpenterv1.LabelNodePool] != "" && hasTaint(node.Spec.Taints, karpenterv1.TaintUnregistered())
}

// view is one node while it is being translated: at least one of node and claim is there.
type view struct {
	t      *Translator
	node   *corev1.Node
	claim  *karpenterv1.NodeClaim
	prices Prices
	// choice is what may be launched for the claim, which is looked up for claims without an instance only.
	choice func() choice
}

func (v view) snapshot() snapshot.Node {
	labels := v.labels()
	out := snapshot.Node{
		Name:         v.name(),
		Pool:         cmp.Or(v.bought(karpenterv1.LabelNodePool, labels), v.group()),
		Labels:       labels,
		Taints:       v.taints(),
		Initialized:  v.initialized(),
		Leaving:      v.leaving(),
		InstanceType: v.bought(corev1.LabelInstanceTypeStable, labels),
		Zone:         v.bought(corev1.LabelTopologyZone, labels),
		CapacityType: v.bought(karpenterv1.LabelCapacityType, labels),
		Created:      v.created(),
	}
	out.Reservation = v.reservation(labels)
	if _, named := labels[corev1.LabelHostname]; !named {
		labels[corev1.LabelHostname] = out.Name
	}
	if v.claim != nil {
		out.Claim = v.claim.Name
	}
	if v.node != nil {
		out.Unschedulable = v.node.Spec.Unschedulable
		out.VolumeLimits = v.t.index.volumeLimits(v.node.Name)
	}
	out.Capacity, out.Allocatable = v.room()
	out.Most = v.most()
	out.Price = v.price(&out)
	out.Life = v.life()
	return out
}

// bought is the instance as it was bought, which never changes. The claim knows it; a kubelet can
// write the labels of its own Node.
func (v view) bought(label string, labels map[string]string) string {
	if v.claim != nil && v.claim.Labels[label] != "" {
		return v.claim.Labels[label]
	}
	return labels[label]
}

// reservation is the one that the instance was bought from, "" for none. A claim that knows how it was bought has no
// other.
func (v view) reservation(labels map[string]string) string {
	label := v.t.options.ReservationLabel
	switch {
	case label == "":
		return ""
	case v.claim != nil && v.claim.Labels[karpenterv1.LabelCapacityType] != "":
		return v.claim.Labels[label]
	}
	return labels[label]
}

func (v view) name() string {
	if v.node != nil {
		return v.node.Name
	}
	return v.claim.Name
}

func (v view) created() time.Time {
	if v.claim != nil {
		return v.claim.CreationTimestamp.UTC()
	}
	return v.node.CreationTimestamp.UTC()
}

func (v view) managed() bool {
	return v.claim != nil || v.node.Labels[karpenterv1.LabelNodePool] != ""
}

// registered: "managed → Node exists and label equals true; unmanaged Nodes are always both". Nodes
// in files may lack the label: then they count as registered.
func (v view) registered() bool {
	return v.node != nil && (!v.managed() || v.node.Labels[karpenterv1.LabelRegistered] == "true" || v.silent())
}

// initialized nodes of groups are those that have joined: nothing else says whether their taints are startup taints. Those of pools have
// the label and their claim.
func (v view) initialized() bool {
	if v.group() != "" {
		return v.node.Annotations[tenonv1alpha1.AnnotationJoined] == "true"
	}
	return v.node != nil && (!v.managed() || v.node.Labels[karpenterv1.LabelInitialized] == "true" && v.claimed() || v.silent())
}

// claimed reports whether a node of a pool has its claim, which may be seen later than the node, or be deleted before it. Nothing can be
// recorded about the disruption of a node without it. Claims may be left out of files.
func (v view) claimed() bool { return v.claim != nil || v.t.options.Files }

// group is the pool of the group that the node belongs to; empty for none.
func (v view) group() string { return memberOf(v.node, v.claim) }

func (v view) silent() bool {
	_, registered := v.node.Labels[karpenterv1.LabelRegistered]
	_, initialized := v.node.Labels[karpenterv1.LabelInitialized]
	return v.t.options.Files && !registered && !initialized && v.claim == nil &&
		!hasTaint(v.node.Spec.Taints, karpenterv1.TaintUnregistered())
}

// labels come "from the claim until registered, from the Node afterwards". The labels of a claim
// are those that it states and those of every requirement with a single value.
func (v view) labels() map[string]string {
	words := &v.t.options.Vocabulary
	out := map[string]string{}
	if v.registered() || v.claim == nil {
		for _, name := range order.Keys(v.node.Labels) {
			out[name] = v.node.Labels[name]
		}
		for _, name := range order.Keys(v.node.Labels) { // the older name of a label counts where the newer is missing
			if key := words.Key(name); key != name && out[key] == "" {
				out[key] = words.Value(key, v.node.Labels[name])
			}
		}
		return out
	}
	for r := range v.requirements().All() {
		if value, ok := r.Single(); ok {
			out[r.Key()] = value
		}
	}
	maps.Copy(out, v.claim.Labels)
	return out
}

// requirements are those of the claim. An unreadable one is left out.
func (v view) requirements() requirement.Set {
	set, err := v.t.options.Vocabulary.Parse(poolEntries(v.claim.Spec.Requirements)...)
	if err != nil {
		return requirement.Set{}
	}
	return set
}

// taints are those that a new pod must tolerate: "claim spec.taints while unregistered,
// else Node taints. While a managed node is uninitialized, known-ephemeral taints and
// taints matching the claim's startupTaints are dropped". Nodes of groups have the startup taints of the settings.
func (v view) taints() []model.Taint {
	var list, startup []corev1.Taint
	if v.claim != nil {
		list, startup = v.claim.Spec.Taints, v.claim.Spec.StartupTaints
	}
	if v.registered() || v.claim == nil {
		// Cluster Autoscaler's candidate for deletion accepts pods like other nodes, and is no candidate any more once it is used. So does
		// a node that a pool is to replace, until its replacement is there; and one that is passed over while pods move is so for a few seconds.
		list = slices.DeleteFunc(slices.Clone(v.node.Spec.Taints), func(t corev1.Taint) bool {
			return t.Key == tenonv1alpha1.TaintCandidate || t.Key == tenonv1alpha1.TaintHandover || isNotReceiving(t)
		})
	}
	if v.initialized() {
		return taints(list)
	}
	if v.group() != "" {
		startup = slices.DeleteFunc(slices.Clone(list), func(t corev1.Taint) bool { return !v.t.options.GroupTaints.IsStartup(t.Key) })
	}
	return lasting(list, startup)
}

// leaving reports that the claim or the node is being deleted, the instance is terminating, or a
// disruption has begun, which is written on both.
func (v view) leaving() bool {
	if v.node != nil && (v.node.DeletionTimestamp != nil || hasTaint(v.node.Spec.Taints, karpenterv1.TaintDisrupted())) {
		return true
	}
	if v.claim == nil {
		return false
	}
	return v.claim.DeletionTimestamp != nil || slices.ContainsFunc(v.claim.Status.Conditions, func(c metav1.Condition) bool {
		return c.Status == metav1.ConditionTrue &&
			(c.Type == karpenterv1.ConditionInstanceTerminating || c.Type == karpenterv1.ConditionDisruptionReason)
	})
}

// room is capacity and allocatable: "until initialized, Node values with any zero/missing quantity
// replaced by the claim's status values; afterwards Node values only". If the claim has no such
// values, those of the cheapest of its instance types count.
func (v view) room() (capacity, allocatable model.Resources) {
	if v.node != nil {
		capacity, allocatable = resources(v.node.Status.Capacity), resources(v.node.Status.Allocatable)
		if allocatable.IsZero() {
			allocatable = capacity
		}
	}
	if v.claim == nil {
		return capacity, allocatable
	}
	promisedCapacity, promised := resources(v.claim.Status.Capacity), resources(v.claim.Status.Allocatable)
	capacity, allocatable = believable(capacity, promisedCapacity), believable(allocatable, promisedCapacity)
	if v.initialized() {
		return capacity, allocatable
	}
	if promised.IsZero() {
		promisedCapacity, promised = v.expected()
	}
	return filledUp(capacity, promisedCapacity), filledUp(allocatable, promised)
}

// believable is a node's report, with no more processors and memory than a quarter beyond what was bought: estimates of
// memory are low, but not by more. A malicious kubelet could otherwise have the pods of all other nodes moved to its own.
func believable(reported, bought model.Resources) model.Resources {
	if bought.CPU > 0 {
		reported.CPU = min(reported.CPU, bought.CPU+bought.CPU/4)
	}
	if bought.Memory > 0 {
		reported.Memory = min(reported.Memory, bought.Memory+bought.Memory/4)
	}
	return reported
}

func filledUp(r, from model.Resources) model.Resources {
	for _, a := range from.Amounts() {
		if r.Get(a.Name) == 0 {
			r = r.Add(model.NewResources(a))
		}
	}
	return r
}

// expected is the room of the instance that will probably be launched for a claim; if no offering
// is known, the requests of the claim.
func (v view) expected() (capacity, allocatable model.Resources) {
	if c := v.choice(); c.kind != nil {
		return c.kind.FullCapacity(c.offering), c.kind.Allocatable(c.offering)
	}
	requests := resources(v.claim.Spec.Resources.Requests)
	return requests, requests
}

// most is the most of each resource that may be launched for the claim; nothing once the launched instance is
// known.
func (v view) most() model.Resources {
	if v.node != nil || !resources(v.claim.Status.Capacity).IsZero() {
		return model.Resources{}
	}
	return v.choice().most
}

func (v view) findChoice() choice {
	return choiceOf(v.prices.Offers, v.requirements(), v.t.options.Vocabulary.WellKnown(), resources(v.claim.Spec.Resources.Requests))
}

// price is that of an hour, including what the pool's nodes cost beyond their machines. Zero means
// unknown, as for nodes of no pool.
func (v view) price(n *snapshot.Node) model.Money {
	machine := v.machinePrice(n)
	if machine == 0 {
		return 0
	}
	return machine + v.prices.NodePrice
}

func (v view) machinePrice(n *snapshot.Node) model.Money {
	if v.group() != "" {
		return groupNodePrice(v.prices.Offers)
	}
	if n.InstanceType == "" && v.claim != nil {
		if offering := v.choice().offering; offering != nil {
			return offering.Price
		}
	}
	return priceOf(v.prices.Offers, n)
}

// volumeLimits are how many volumes the CSI drivers of a node can attach.
func (x *Index) volumeLimits(node string) []model.Amount {
	found, ok := x.attachments[node]
	if !ok {
		return nil
	}
	var out []model.Amount
	for _, driver := range found.Spec.Drivers {
		if driver.Allocatable != nil && driver.Allocatable.Count != nil {
			out = append(out, model.Amount{Name: driver.Name, Value: int64(*driver.Allocatable.Count)})
		}
	}
	slices.SortFunc(out, func(a, b model.Amount) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
