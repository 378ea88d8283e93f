// Package guidance leads moved pods to the nodes where they were planned. It is the controller `node.guidance`.
//
// An evicted pod comes back under another name, and kube-scheduler places it before anything could tell it where the pod was planned.
// So while a disruption moves pods, the nodes with room have the taint tenon.sh/not-receiving:PreferNoSchedule, but for the receivers whose
// pods are being evicted. The world says which; this package writes it. Pods that fit on no other node still come to a
// marked one.
//
// The package must not decide where pods go. A mark that is left over, from an earlier process or after a failed write, is removed.
package guidance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/core/order"
	"tenon/internal/ingest"
	"tenon/internal/parallel"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

const (
	// tick is how often receivers are looked at while pods are guided, should nothing wake us.
	tick = 200 * time.Millisecond
	// period is how often to look for marks that are left over.
	period = time.Minute
	// sideBySide is how many nodes are written at the same time.
	sideBySide = 20
)

// World says which nodes are to have the mark; see world.World.
type World interface {
	Guide(marked map[string]bool) (marks map[string]bool, guiding bool)
	SubscribeGuidance(wake func())
}

type guide struct {
	kit      reconcile.Kit
	world    World
	parallel int
	marked   map[string]bool // nodes with the mark
	looked   time.Time       // when it was last looked for
}

// New makes the controller, which makes at most so many writes at the same time.
func New(kit reconcile.Kit, w World, parallel int) reconcile.Controller {
	g := &guide{kit: kit, world: w, parallel: min(max(parallel, 1), sideBySide), marked: map[string]bool{}}
	return reconcile.Controller{
		Name:      "node.guidance",
		Subscribe: w.SubscribeGuidance,
		Workers:   reconcile.One,
		Reconcile: g.reconcile,
	}
}

func (g *guide) reconcile(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	if err := g.find(ctx); err != nil {
		return reconcile.Never, err
	}
	for {
		wanted, guiding := g.world.Guide(g.marked)
		missing, extra := without(wanted, g.marked), without(g.marked, wanted)
		if len(missing)+len(extra) == 0 {
			if guiding {
				return reconcile.In(tick), nil
			}
			return reconcile.In(period), nil
		}
		if err := g.writeAll(ctx, missing, extra); err != nil {
			return reconcile.Never, err
		}
		if len(without(wanted, g.marked))+len(without(g.marked, wanted)) > 0 { // another writer was faster
			return reconcile.In(tick), nil
		}
	}
}

// without are the names of one set that another one lacks, in order.
func without(names, some map[string]bool) []string {
	return slices.DeleteFunc(order.Keys(names), func(name string) bool { return some[name] })
}

// writeAll gives nodes the mark, and removes that of others. What another writer was faster at is tried again at the next tick.
func (g *guide) writeAll(ctx context.Context, mark, open []string) error {
	nodes := slices.Concat(mark, open)
	wrong := make([]error, len(nodes))
	parallel.Run(g.parallel, len(nodes), func(i int) { wrong[i] = g.write(ctx, nodes[i], i < len(mark)) })
	for i, name := range nodes {
		switch {
		case wrong[i] != nil:
		case i < len(mark):
			g.marked[name] = true
		default:
			delete(g.marked, name)
		}
	}
	return errors.Join(slices.DeleteFunc(wrong, reconcile.Overtaken)...)
}

// find looks for nodes that have the mark. Those of an earlier process may be shown later than at the start.
func (g *guide) find(ctx context.Context) error {
	now := g.kit.Clock.Now()
	if !g.looked.IsZero() && now.Sub(g.looked) < period {
		return nil
	}
	var nodes corev1.NodeList
	if err := g.kit.Client.List(ctx, &nodes); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	g.looked = now
	for i := range nodes.Items {
		if !ingest.Receives(&nodes.Items[i]) {
			g.marked[nodes.Items[i].Name] = true
		}
	}
	return nil
}

// write adds or removes the mark of a node.
func (g *guide) write(ctx context.Context, name string, mark bool) error {
	node, err := g.read(ctx, name)
	if err != nil || node == nil || ingest.Receives(node) != mark {
		return err
	}
	changed := node.DeepCopy()
	ingest.SetReceives(changed, !mark)
	if err := patch.IfUnchanged(ctx, g.kit, node, changed); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("mark node %s for moved pods: %w", name, err)
	}
	return nil
}

// read returns a node, nil if there is none. It asks the API server if the cache does not show what was written last.
func (g *guide) read(ctx context.Context, name string) (*corev1.Node, error) {
	for _, r := range []client.Reader{g.kit.Client, g.kit.Uncached(reconcile.AfterOwnWrite)} {
		var node corev1.Node
		if err := r.Get(ctx, client.ObjectKey{Name: name}, &node); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		if ingest.Receives(&node) != g.marked[name] {
			return &node, nil
		}
	}
	return nil, nil
}
