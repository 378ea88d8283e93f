// Package world is the live picture of a cluster: fed by watches and by the ledger of
// what we have done and not yet seen, read as snapshots.
//
//	watches ──Put, Remove──▶ ┌───────┐ ──Snapshot──▶ core
//	                         │ World │ ──Pulse─────▶ when to decide
//	execute ─Assume, Commit▶ └───────┘ ──Subscribe─▶ wakes the loop
//
// A slow part holds up nothing: a claim that is slow to launch is a future node like any other, and a
// snapshot can be taken at any time once the caches have been filled.
//
// A snapshot costs as much as has changed since the same Reader's last one; without a Reader it costs a
// copy of all pods. The package must not call the API server or a cloud, must not decide anything, and
// reads no clock but the one it is given.
package world

import (
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/owner"
)

// World is one cluster. All methods may be called by many goroutines; each sees a consistent picture and
// leaves one.
type World struct {
	clock   clock.PassiveClock
	options ingest.Options

	mu         sync.Mutex
	index      *ingest.Index
	translator *ingest.Translator
	pools      map[string]*karpenterv1.NodePool
	newPools   map[string]time.Time // pools that have not been judged yet, and when they appeared
	groups     groups
	nodes      nodeState
	pods       podState
	daemons    daemons
	ledger     ledger
	promises   promises
	pulse      pulse
	scaleDowns scaleDowns
	buffers    []snapshot.Buffer                    // as of the last picture
	rooms      map[types.NamespacedName]ingest.Room // what buffers ask for now
	booked     map[types.NamespacedName]ingest.Booked

	disruptions *Disruptions // with a lock of its own
	subscribers []func()
}

// key names an object within its kind.
type key = types.NamespacedName

func keyOf(o metav1.Object) key { return key{Namespace: o.GetNamespace(), Name: o.GetName()} }

// New makes an empty world. The options say how objects are read; the time and the catalogues come with
// each snapshot.
func New(options ingest.Options, clock clock.PassiveClock) *World {
	index := ingest.NewIndex()
	w := &World{
		clock: clock, options: options, index: index, translator: ingest.NewTranslator(index, options),
		pools: map[string]*karpenterv1.NodePool{}, newPools: map[string]time.Time{}, groups: newGroups(), nodes: newNodeState(), pods: newPodState(),
		daemons: newDaemons(), ledger: newLedger(), promises: newPromises(), pulse: pulse{unmade: map[owner.Ref]time.Time{}}, scaleDowns: scaleDowns{},
	}
	w.disruptions = newDisruptions(w)
	return w
}

// Subscribe registers wake, which is called when there may be something new to decide. wake must return
// at once.
func (w *World) Subscribe(wake func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.subscribers = append(slices.Clip(w.subscribers), wake)
}

// Put notes that an object exists, or has changed. The world keeps the object, which the caller must not
// change any more.
func (w *World) Put(object any) {
	w.change(func() {
		if w.put(object) {
			w.pulse.changes++
			w.recheckBuffers()
		}
		w.noteRooms(object)
		w.noteBookings(object)
	})
}

// Remove notes that an object is gone.
func (w *World) Remove(object any) {
	w.change(func() {
		w.pulse.changes++
		w.recheckBuffers()
		w.remove(object)
		w.noteRooms(object)
		w.noteBookings(object)
	})
}

// change runs one change, and wakes the subscribers if it matters to a decision.
func (w *World) change(do func()) {
	for _, wake := range w.changed(do) {
		wake() // outside the lock: the world does not know what wake does
	}
}

// changed returns the subscribers to wake.
func (w *World) changed(do func()) []func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.pulse.count
	do()
	if w.pulse.count == before {
		return nil
	}
	return w.subscribers
}

// put reports whether something has changed.
func (w *World) put(object any) bool {
	switch o := object.(type) {
	case *corev1.Pod:
		w.putPod(o)
	case *corev1.Node:
		w.putNode(o)
		return w.nodes.nodes[o.Name] == o
	case *karpenterv1.NodeClaim:
		old := w.nodes.claims[o.Name]
		w.putClaim(o)
		return w.nodes.claims[o.Name] == o && !(old != nil && sameClaim(old, o))
	case *karpenterv1.NodePool:
		old := w.pools[o.Name]
		w.pools[o.Name] = o
		w.noteNewPool(old, o)
		if old != nil && samePool(old, o) {
			return false
		}
		w.pulse.supply()
	case *tenonv1alpha1.NodeGroup:
		if !w.groups.put(w.translator, o) {
			return false
		}
		w.pulse.supply()
	case *corev1.ResourceQuota, *autoscalingv1beta1.CapacityBuffer, *autoscalingv1.ProvisioningRequest, *corev1.PodTemplate:
		w.index.Put(o) // a quota changes with every pod, and says only how many more may come
		return false
	case *appsv1.Deployment:
		return w.referDeployment(o)
	case *appsv1.DaemonSet:
		w.daemons.put(o)
		w.pulse.supply()
	default:
		w.refer(object)
	}
	return true
}

func (w *World) remove(object any) {
	switch o := object.(type) {
	case *corev1.Pod:
		w.removePod(keyOf(o))
	case *corev1.Node:
		w.nodes.removeNode(o.Name)
		w.pulse.supply()
	case *karpenterv1.NodeClaim:
		w.removeClaim(o.Name)
	case *karpenterv1.NodePool:
		delete(w.pools, o.Name)
		delete(w.newPools, o.Name)
		w.pulse.supply()
	case *tenonv1alpha1.NodeGroup:
		delete(w.groups.all, o.Name)
		w.pulse.supply()
	case *appsv1.DaemonSet:
		w.daemons.remove(keyOf(o))
		w.pulse.supply()
	case *corev1.ResourceQuota, *autoscalingv1beta1.CapacityBuffer, *autoscalingv1.ProvisioningRequest, *corev1.PodTemplate:
		w.index.Remove(o)
	default:
		w.unrefer(object)
	}
}

// samePool reports whether nothing that a decision looks at has changed: the counts in a pool's status
// change all the time, and every decision makes its own.
func samePool(a, b *karpenterv1.NodePool) bool {
	said := func(annotation string) bool { return a.Annotations[annotation] == b.Annotations[annotation] }
	return a.Generation == b.Generation && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		readiness(a) == readiness(b) && said(karpenterv1.AnnotationNodePrice) && said(karpenterv1.AnnotationPriceCeiling) && said(karpenterv1.AnnotationDriftAtLimit)
}

func readiness(p *karpenterv1.NodePool) metav1.ConditionStatus {
	if c := meta.FindStatusCondition(p.Status.Conditions, condition.Ready); c != nil {
		return c.Status
	}
	return ""
}

// Pools lists the pools as they were put, in no order.
func (w *World) Pools() []*karpenterv1.NodePool {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]*karpenterv1.NodePool, 0, len(w.pools))
	for _, p := range w.pools {
		out = append(out, p)
	}
	return out
}

// Pool finds a pool.
func (w *World) Pool(name string) (*karpenterv1.NodePool, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.pools[name]
	return p, ok
}

// Pod finds a pod.
func (w *World) Pod(namespace, name string) (*corev1.Pod, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.pods.all[key{Namespace: namespace, Name: name}]
	return p, ok
}

// Size returns the number of nodes, including those to come, and of pods.
func (w *World) Size() (nodes, pods int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.nodes.nodes) + len(w.nodes.assumed) + w.nodes.unjoined, len(w.pods.all)
}
