// Package nomination tells pods on which nodes they have their places, in
// status.nominatedNodeName: kube-scheduler tries that node before it looks at others, and
// keeps its room from other pods of the same priority. It is the controller `pod.nomination`.
//
//	node is ready ──▶ its pods are nominated ──▶ a watch has told of it ──▶ node opens ──▶ pods are bound there
//	                                                                              │
//	                                                nominated once more ◀── taken away by the scheduler
//
// Every nomination makes the scheduler try the pod, and it takes the nomination away when that
// fails. So pods are nominated when only the taint of ours keeps them from their node. Where the node
// opened before the scheduler has heard of the nominations, it would give the room to others: so the
// node opens when our own watch has told of them, which is fed like the scheduler's.
//
// The package must not decide where pods go, and a pod without a nomination is no error: it is
// bound wherever the scheduler finds room.
package nomination

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/parallel"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/world"
)

const (
	// sideBySide is how many nominations are written at the same time. Nothing else that is sent
	// to the API server waits for more than these.
	sideBySide = 20
	// openings is how many nodes are about to open at the same time, and turn is after how long to
	// look whether others have opened. Of 2,000 mixed pods in the lab 65 to 71 % landed with eight and
	// with four, 73 and 74 % with three, and 43 % with one, where nodes wait too long for their turn.
	openings = 3
	turn     = 100 * time.Millisecond
	// hearing is how often to look whether nominations have been told of, and longestHearing how
	// long a node waits for that. After longestOpening it counts no more as one that is about to open.
	hearing        = 25 * time.Millisecond
	longestHearing = 2 * time.Second
	longestOpening = 5 * time.Second
)

// Nominator writes nominations.
type Nominator struct {
	kit      reconcile.Kit
	world    *world.World
	parallel int
	refused  atomic.Bool // the API server does not let us nominate, and that has been logged

	mu      sync.Mutex
	opening map[string]time.Time // claims whose nodes are about to open, since when
}

// New makes a nominator that makes at most so many writes at the same time.
func New(kit reconcile.Kit, w *world.World, parallel int) *Nominator {
	return &Nominator{kit: kit, world: w, parallel: min(max(parallel, 1), sideBySide), opening: map[string]time.Time{}}
}

// Controller corrects nominations of pods whose nodes are open.
func (n *Nominator) Controller() reconcile.Controller {
	return reconcile.Controller{
		Name:      "pod.nomination",
		Subscribe: n.world.Subscribe,
		Workers:   reconcile.One,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
			n.count()
			if n.kit.Settings.NominatePods {
				n.write(ctx, n.world.Corrections())
			}
			return reconcile.Never, nil
		},
	}
}

// count tells how many pods landed where they were planned.
func (n *Nominator) count() {
	landed, strayed := n.world.Placements()
	n.kit.Metrics.PodsPlacementsTotal.WithLabelValues("true").Add(float64(landed))
	n.kit.Metrics.PodsPlacementsTotal.WithLabelValues("false").Add(float64(strayed))
}

// Wanted reports whether pods are to be nominated before the node of a claim opens.
func (n *Nominator) Wanted(claim string) bool {
	return n.kit.Settings.NominatePods && n.world.Nominates(claim)
}

// Prepare nominates the pods that have their places on the node of a claim. It returns how much
// longer the node is to stay closed; nothing is that it may open.
func (n *Nominator) Prepare(ctx context.Context, claim, node string) time.Duration {
	if !n.Wanted(claim) {
		return 0
	}
	since, ok := n.begin(claim)
	if !ok {
		return turn
	}
	n.write(ctx, n.world.NominationsFor(claim, node))
	if n.kit.Clock.Since(since) < longestHearing && !n.world.Heard(claim, node) {
		return hearing
	}
	return 0
}

// begin counts the node of a claim among those that are about to open, unless there are too many.
func (n *Nominator) begin(claim string) (since time.Time, ok bool) {
	now := n.kit.Clock.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.DeleteFunc(n.opening, func(_ string, since time.Time) bool { return now.Sub(since) > longestOpening })
	since, ok = n.opening[claim]
	if !ok && len(n.opening) < openings {
		since, ok = now, true
		n.opening[claim] = now
	}
	return since, ok
}

// Opened notes that the node of a claim has opened.
func (n *Nominator) Opened(claim string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.opening, claim)
}

func (n *Nominator) write(ctx context.Context, list []world.Nomination) {
	parallel.Run(n.parallel, len(list), func(i int) { n.patch(ctx, list[i]) })
}

// status is what is written of a pod. The UID is a precondition: a pod of the same name that
// was made meanwhile is left alone.
type status struct {
	Metadata struct {
		UID types.UID `json:"uid"`
	} `json:"metadata"`
	Status struct {
		NominatedNodeName *string `json:"nominatedNodeName"`
	} `json:"status"`
}

func (n *Nominator) patch(ctx context.Context, nomination world.Nomination) {
	var body status
	action := "withdrawn"
	body.Metadata.UID = nomination.UID
	if nomination.Node != "" {
		body.Status.NominatedNodeName, action = &nomination.Node, "nominated"
	}
	text, err := json.Marshal(body)
	if err != nil {
		reconcile.Log(ctx).Error(err, "nominating a pod", "Pod", nomination.Name)
		return
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: nomination.Namespace, Name: nomination.Name}}
	err = n.kit.Client.Status().Patch(ctx, pod, client.RawPatch(types.MergePatchType, text))
	switch {
	case err == nil:
		n.kit.Metrics.PodsNominationsTotal.WithLabelValues(action).Inc()
	case patch.Outdated(err): // it is gone
	case apierrors.IsForbidden(err):
		if n.refused.CompareAndSwap(false, true) {
			reconcile.Log(ctx).Error(err, "pods are not nominated, and may be bound to other nodes than planned; let Tenon patch pods/status, or set NOMINATE_PODS=false")
		}
	default:
		reconcile.Log(ctx).V(1).Info("a pod is not nominated", "Pod", nomination.Namespace+"/"+nomination.Name, "reason", err.Error())
	}
}
