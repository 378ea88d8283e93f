package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/core/catalog"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/owner"
)

// Build makes a snapshot of a whole set of objects. The order of the objects does not matter. If
// two objects of a kind have the same name, the later one counts.
func Build(objects *Objects, options Options) *snapshot.Snapshot {
	b := builder{
		objects: objects,
		t:       NewTranslator(indexed(objects), options),
		pods:    byName(objects.Pods),
	}
	b.out = &snapshot.Snapshot{Now: options.Now.UTC(), Settings: options.Settings}
	b.out.Settings.WellKnown = options.Vocabulary.WellKnown()
	b.t.given = objects.Pods
	b.addPools()
	b.addGroups()
	b.addNodes()
	b.allow()
	b.addPods()
	for b.t.Stale() { // a selector looked at a label that had been left out
		b.t.Restart()
		b.addPods()
	}
	b.out.Budgets = b.t.Budgets()
	return b.out
}

// allow evaluates the pools' budgets, now that their nodes are known.
func (b *builder) allow() {
	nodes := InService(b.out.Nodes)
	for i, pool := range byName(b.objects.NodePools) {
		b.t.Allow(pool, nodes[pool.Name], &b.out.Pools[i].Consolidation)
	}
	groups := b.out.Pools[len(b.objects.NodePools):]
	for i, group := range byName(b.objects.NodeGroups) {
		b.t.AllowGroup(group, nodes[groups[i].Name], &groups[i].Consolidation)
	}
}

func indexed(objects *Objects) *Index {
	x := NewIndex()
	for _, o := range objects.Others {
		x.Put(o)
		if ns := o.GetNamespace(); ns != "" {
			x.sawNamespace(ns)
		}
	}
	for _, pod := range objects.Pods {
		x.sawNamespace(namespaceOf(pod))
		if !isTerminal(pod) {
			x.Replace(nil, pod)
		}
	}
	return x
}

// builder is one run of Build.
type builder struct {
	objects *Objects
	t       *Translator
	pods    []*corev1.Pod // by namespace and name
	out     *snapshot.Snapshot

	prices  map[string]Prices // by pool
	leaving map[string]bool   // nodes by name; false for nodes that stay, also if a disruption of theirs will be cancelled
}

// byName sorts objects, so that the answer does not depend on the order of the input.
func byName[T metav1.Object](list []T) []T {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b T) int {
		return cmp.Or(
			strings.Compare(namespaceOf(a), namespaceOf(b)),
			strings.Compare(a.GetName(), b.GetName()),
			strings.Compare(string(a.GetUID()), string(b.GetUID())),
		)
	})
	return out
}

func (b *builder) addPools() {
	pools := byName(b.objects.NodePools)
	b.out.Pools = make([]snapshot.Pool, len(pools))
	offers := make([]PoolOffers, len(pools))
	for i, pool := range pools {
		translated := b.t.Pool(pool)
		found, err := b.catalogOf(pool)
		if err != nil && translated.MayLaunch() {
			translated.Unready = reason.Unready{Code: reason.CatalogFailed, Message: err.Error()}
		}
		if found == nil {
			found = &noCatalog
		}
		b.out.Pools[i] = translated
		offers[i] = PoolOffers{Pool: &b.out.Pools[i], Offers: found}
	}
	b.storeCatalogs(offers)
}

// storeCatalogs applies overlays and stores each catalogue once.
func (b *builder) storeCatalogs(offers []PoolOffers) {
	b.prices = map[string]Prices{}
	stored := map[*catalog.Catalog]snapshot.CatalogIndex{}
	var overlays []*karpenterv1alpha1.NodeOverlay
	if b.t.options.Overlays {
		overlays = b.objects.Overlays
	}
	overlaid, _ := b.t.Overlay(overlays, offers) // overlays that are refused are reported where overlays are checked
	for i, found := range overlaid {
		index, ok := stored[found]
		if !ok {
			index = b.out.AddCatalog(found)
			stored[found] = index
		}
		offers[i].Pool.Catalog = index
		b.prices[offers[i].Pool.Name] = Prices{Offers: found, NodePrice: offers[i].Pool.NodePrice}
	}
}

// addGroups adds the pools of node groups, each with a catalogue of its own.
func (b *builder) addGroups() {
	for _, group := range byName(b.objects.NodeGroups) {
		pool, offers := b.t.Group(group)
		pool = pool.Resting(b.t.Rests(group, b.objects.NodeGroups))
		pool.Catalog = b.out.AddCatalog(offers)
		b.out.Pools = append(b.out.Pools, pool)
		b.prices[pool.Name] = Prices{Offers: offers}
	}
}

// addUnderway adds the instances of groups that have no node yet.
func (b *builder) addUnderway() {
	members, unmarked := Members(b.out.Nodes), b.t.Unmarked(slices.Values(b.objects.Nodes))
	pools := b.out.Pools[len(b.objects.NodePools):]
	for i, group := range byName(b.objects.NodeGroups) {
		pool := &pools[i]
		b.out.Nodes = append(b.out.Nodes, b.t.Underway(pool, &b.out.Catalogs[pool.Catalog], b.t.Missing(group, members[pool.Name], unmarked))...)
	}
}

// noCatalog is the catalogue of all pools that have nothing to choose from.
var noCatalog catalog.Catalog

func (b *builder) catalogOf(pool *karpenterv1.NodePool) (*catalog.Catalog, error) {
	ref := pool.Spec.Template.Spec.NodeClassRef
	if b.t.options.Catalog == nil || ref == nil {
		return nil, fmt.Errorf("there is no catalogue of instance types for it")
	}
	return b.t.options.Catalog(pool, b.objects.NodeClasses[*ref])
}

func (b *builder) addNodes() {
	b.leaving = map[string]bool{}
	claims := Pair(b.objects.NodeClaims, func(name string) *corev1.Node {
		at := slices.IndexFunc(b.objects.Nodes, func(n *corev1.Node) bool { return n.Name == name })
		if at < 0 {
			return nil
		}
		return b.objects.Nodes[at]
	})
	exists := func(name string) bool {
		return slices.ContainsFunc(b.objects.NodeClaims, func(c *karpenterv1.NodeClaim) bool { return c.Name == name })
	}
	add := func(node *corev1.Node, claim *karpenterv1.NodeClaim) {
		translated, ok := b.t.Node(node, claim, b.prices[PoolOf(node, claim)])
		if !ok {
			return
		}
		b.out.Nodes = append(b.out.Nodes, translated)
		b.leaving[translated.Name] = translated.Leaving && !TakenBack(&translated, node, claim, exists)
	}
	taken := map[*karpenterv1.NodeClaim]bool{}
	for _, node := range b.objects.Nodes {
		claim := claims.Of(node)
		taken[claim] = claim != nil
		add(node, claim)
	}
	for _, claim := range b.objects.NodeClaims {
		if !taken[claim] {
			add(nil, claim)
		}
	}
	HandOver(b.out.Nodes, HandingOver(b.objects.NodeGroups))
	b.addUnderway()
	slices.SortFunc(b.out.Nodes, CompareNodes)
}

// CompareNodes defines the order of nodes in a snapshot.
func CompareNodes(a, b snapshot.Node) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Claim, b.Claim))
}

// addPods adds pods, replicas and daemons, and the templates that they need.
func (b *builder) addPods() {
	b.out.Pods, b.out.Daemons, b.out.Gated = make([]snapshot.Pod, 0, len(b.pods)), nil, nil
	havePods, live := populated{map[owner.Ref]bool{}, map[key]bool{}}, map[owner.Ref]*corev1.Pod{}
	for _, pod := range b.pods {
		b.addPod(pod)
		if gated, is := Gated(pod); is {
			b.out.Gated = append(b.out.Gated, gated)
		}
		b.noteOwner(pod, havePods, live)
	}
	if b.addReplicas(havePods) || b.addRefused() {
		slices.SortStableFunc(b.out.Pods, func(x, y snapshot.Pod) int {
			return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
		})
	}
	for _, set := range byName(b.objects.DaemonSets) {
		if daemon, ok := b.t.Daemon(set, live[owner.Is("apps/v1", "DaemonSet", set)]); ok {
			b.out.Daemons = append(b.out.Daemons, daemon)
		}
	}
	b.out.Buffers = b.t.Buffers()
	b.out.Templates = b.t.Templates()
}

// addReplicas adds the pods of workloads that have no Pod objects. If another pod already has the
// name of a replica, the replica's name includes the kind of its workload.
func (b *builder) addReplicas(havePods populated) bool {
	if !b.t.options.Files {
		return false // a cluster's controllers make their pods themselves
	}
	workloads := b.t.index.workloads(havePods)
	if len(workloads) == 0 {
		return false
	}
	taken := map[key]bool{}
	for i := range b.out.Pods {
		taken[key{b.out.Pods[i].Namespace, b.out.Pods[i].Name}] = true
	}
	rooms := Rooms{}
	for _, w := range workloads {
		for _, replica := range b.t.Replicas(w, rooms) {
			for taken[key{replica.Namespace, replica.Name}] {
				replica.Name += "-" + workloadKind(w)
			}
			taken[key{replica.Namespace, replica.Name}] = true
			b.out.Pods = append(b.out.Pods, replica)
		}
	}
	return true
}

// addRefused adds the pods of a cluster's workloads for which a ResourceQuota has no room: the controllers cannot create
// them, so they do not exist as objects. They are called NAME-N, with the first numbers that no pod has.
func (b *builder) addRefused() bool {
	if len(b.objects.Makers) == 0 {
		return false
	}
	have, taken := map[owner.Ref]int{}, map[key]bool{}
	for _, pod := range b.pods {
		taken[key{namespaceOf(pod), pod.Name}] = true
		if !isTerminal(pod) {
			have[owner.Of(pod)]++
		}
	}
	rooms, found := Rooms{}, false
	for _, maker := range byName(b.objects.Makers) {
		for _, pod := range b.t.refusedReplicas(maker, have, rooms) {
			n := 0
			for taken[key{pod.Namespace, fmt.Sprintf("%s-%d", maker.GetName(), n)}] {
				n++
			}
			pod.Name = fmt.Sprintf("%s-%d", maker.GetName(), n)
			taken[key{pod.Namespace, pod.Name}], found = true, true
			b.out.Pods = append(b.out.Pods, pod)
		}
	}
	return found
}

// addPod leaves out pods on nodes that are not in the snapshot: nothing can be decided about them,
// and no rule counts them.
func (b *builder) addPod(pod *corev1.Pod) {
	leaving, known := b.leaving[pod.Spec.NodeName]
	if pod.Spec.NodeName != "" && !known {
		return
	}
	if translated, ok := b.t.PodOn(pod, leaving); ok {
		b.out.Pods = append(b.out.Pods, translated)
	}
}

// noteOwner remembers which workloads have pods, and each DaemonSet's latest.
func (b *builder) noteOwner(pod *corev1.Pod, havePods populated, live map[owner.Ref]*corev1.Pod) {
	if set := DaemonSetOf(pod); !set.None() && Newer(pod, live[set]) {
		live[set] = pod
	}
	direct := owner.Of(pod)
	if direct.None() || havePods.owners[direct] {
		return
	}
	havePods.owners[direct] = true
	havePods.owners[b.t.index.Workload(pod)] = true
	if name, guessed := b.t.index.guess(pod); guessed {
		havePods.guessed[key{direct.Namespace, name}] = true
	}
}
