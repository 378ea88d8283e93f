// Package nomination tells pods on which nodes they have their places, in
// status.nominatedNodeName: kube-scheduler tries that node before it looks at others, and
// keeps its room from other pods of the same priority. It is the controller `pod.nomination`.
//
//	nodes are ready ──▶ their pods are nominated ──▶ a watch has told of it ──▶ nodes open ──▶ pods are bound there
//	                                                                               │
//	                                                 nominated once more ◀── taken away by the scheduler
//
// The scheduler takes a nomination away when it tries the pod while its node is closed. So pods are
// nominated when only the taint of ours keeps them from their node, and the nodes of a burst open together.
// If a node opened before the scheduler knows the nominations, it would give the room to other pods. So
// nodes open once our own watch, which gets the same events as the scheduler's, has shown the nominations.
//
// The package must not decide where pods go, and a pod without a nomination is no error: it is
// bound wherever the scheduler finds room.
package nomination

import (
	"context"
	"encoding/json"
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
	// sideBySide is how many nominations are written at the same time. There is no other limit on their
	// rate: nodes stay closed until all are written.
	sideBySide = 60
	// hearing is how often to look whether nominations have been told of, and longestHearing how
	// long a node waits for that.
	hearing        = 25 * time.Millisecond
	longestHearing = 2 * time.Second
)

// Nominator writes nominations.
type Nominator struct {
	kit      reconcile.Kit
	world    *world.World
	pods     client.StatusClient
	parallel int
	refused  atomic.Bool // the API server does not let us nominate, and that has been logged
	openings openings
	outbox   *outbox
}

// New makes a nominator that makes at most so many writes at the same time.
func New(kit reconcile.Kit, w *world.World, pods client.StatusClient, parallel int) *Nominator {
	parallel = min(max(parallel, 1), sideBySide)
	landed, strayed := kit.Metrics.PodsPlacementsTotal.WithLabelValues("true"), kit.Metrics.PodsPlacementsTotal.WithLabelValues("false")
	w.SubscribePlacements(func(planned bool) {
		if planned {
			landed.Inc()
		} else {
			strayed.Inc()
		}
	})
	return &Nominator{kit: kit, world: w, pods: pods, parallel: parallel, outbox: newOutbox(parallel)}
}

// Controller corrects nominations of pods whose nodes are open.
func (n *Nominator) Controller() reconcile.Controller {
	return reconcile.Controller{
		Name:      "pod.nomination",
		Subscribe: n.world.Subscribe,
		Workers:   reconcile.One,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
			if n.kit.Settings.NominatePods {
				n.correct(ctx, n.world.Corrections())
			}
			return reconcile.Never, nil
		},
	}
}

// Wanted reports whether the node of a claim stays closed until pods have been nominated.
func (n *Nominator) Wanted(claim string) bool {
	return n.kit.Settings.NominatePods && n.world.OpensWithOthers(claim)
}

// Prepare nominates the pods that have their places on the node of a claim, together with those of
// other nodes that open with it. It returns how much longer the node is to stay closed, and when it may open, all nodes that
// are to open at the same time, by claim, if this one is the first that learns of it.
func (n *Nominator) Prepare(ctx context.Context, claim, node string) (closed time.Duration, together map[string]string) {
	if !n.Wanted(claim) {
		return 0, nil
	}
	now, opens := n.turn(ctx, claim, node), map[string]string{claim: node}
	if now.leads && n.heard() && n.complete(ctx) {
		together = n.openings.group()
		now.open, opens = true, together
	}
	switch {
	case now.open:
		n.write(ctx, n.world.NominationsFor(opens)) // those that the scheduler has taken away meanwhile
		return 0, together
	case now.leads:
		return hearing, nil
	}
	return now.pause, nil
}

// complete reports whether the nodes of a group may open. Pods of nodes that have become ready meanwhile are nominated first.
func (n *Nominator) complete(ctx context.Context) bool {
	late := n.openings.heard(n.kit.Clock.Now())
	if late != nil {
		n.nominate(ctx, late)
	}
	return late == nil
}

// turn says what a node does next, after its whole group has been nominated if that is due.
func (n *Nominator) turn(ctx context.Context, claim, node string) turn {
	ask := func() turn {
		return n.openings.ask(claim, closedNode{node, n.world.PlacesOn(claim)}, n.kit.Clock.Now(), n.world.Unopened)
	}
	now := ask()
	if now.nominate == nil {
		return now
	}
	n.nominate(ctx, now.nominate)
	return ask()
}

// nominate writes the nominations for nodes that open together.
func (n *Nominator) nominate(ctx context.Context, nodes map[string]string) {
	n.write(ctx, n.world.NominationsFor(nodes))
	n.openings.nominated(n.kit.Clock.Now())
}

// heard reports whether watches have told of the nominations for all nodes that open together.
func (n *Nominator) heard() bool {
	for claim, node := range n.openings.group() {
		if !n.world.Heard(claim, node) {
			return false
		}
	}
	return true
}

// Repeat nominates the pods of a node that is about to open which kube-scheduler has tried meanwhile: others would take their room before
// a nomination that is written afterwards arrives.
func (n *Nominator) Repeat(ctx context.Context, claim, node string) {
	n.write(ctx, n.world.NominationsFor(map[string]string{claim: node}))
}

// NextToOpen returns the claims of the nodes that are to open next, of nodes that open together and of which some are closed still. Their
// pods are nominated again if they have been tried meanwhile.
func (n *Nominator) NextToOpen(ctx context.Context, together, closed map[string]string) []string {
	n.write(ctx, n.world.NominationsFor(closed))
	return n.world.NextToOpen(together, closed)
}

// Opened notes that the node of a claim has opened.
func (n *Nominator) Opened(claim string) { n.openings.leave(claim) }

// correct has nominations written while the next ones may already be found. A simulation makes one write at a time.
func (n *Nominator) correct(ctx context.Context, list []world.Nomination) {
	if n.parallel == 1 {
		n.write(ctx, list)
		return
	}
	n.outbox.send(ctx, list, n.patch)
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
	err = n.pods.Status().Patch(ctx, pod, client.RawPatch(types.MergePatchType, text))
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
