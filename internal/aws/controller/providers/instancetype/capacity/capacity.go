// Package capacity looks at the memory of nodes when they have joined, tells the provider, and keeps what
// it learned in a ConfigMap, so that a restart does not go back to estimates.
//
// The provider decides what an observed memory means for capacity.
package capacity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud/aws/offering"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// Memory is where sightings go.
type Memory interface {
	LearnMemory(class *awsv1.EC2NodeClass, instanceType, imageID string, bytes int64) (news bool, err error)
	Encode() map[string]string
	Restore(map[string]string)
}

// Map is the name of the ConfigMap.
const Map = "tenon-learned-capacity"

// soon is when a node is looked at again for which EC2 has not listed its types yet.
const soon = 2 * time.Second

// keepsEvery is the least time between two writes, because many nodes may join together.
const keepsEvery = time.Minute

type observer struct {
	kit       reconcile.Kit
	memory    Memory
	namespace string

	// wake has what was learned looked at; nil before the start.
	wake atomic.Pointer[func()]

	mu       sync.Mutex
	wrote    time.Time
	restored bool
	kept     map[string]string // as the ConfigMap has it
}

// New makes the controllers: one that looks at nodes, and one that keeps what they teach
// in a namespace.
func New(kit reconcile.Kit, memory Memory, namespace string) []reconcile.Controller {
	o := &observer{kit: kit, memory: memory, namespace: namespace}
	return []reconcile.Controller{
		{
			Name:      "providers.instancetype.capacity",
			Watches:   []reconcile.Watch{{Kind: &corev1.Node{}, Matters: joins}},
			Workers:   reconcile.One,
			Reconcile: o.look,
		},
		{
			Name: "providers.instancetype.capacity.keep", Workers: reconcile.One, Reconcile: o.keep,
			Subscribe: func(wake func()) { o.wake.Store(&wake) },
		},
	}
}

// joins: the node has just been registered, or is met for the first time.
func joins(old, changed client.Object) bool {
	return changed != nil && registered(changed) && (old == nil || !registered(old))
}

func registered(node client.Object) bool {
	return node.GetLabels()[karpenterv1.LabelRegistered] == "true"
}

func (o *observer) look(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	node := &corev1.Node{}
	if err := o.kit.Client.Get(ctx, key, node); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	claim, err := lookup.ClaimOf(ctx, o.kit.Client, node)
	if err != nil || claim == nil {
		return reconcile.Never, err
	}
	ref := claim.Spec.NodeClassRef
	if ref == nil || ref.Group != awsv1.Group {
		return reconcile.Never, nil
	}
	class := &awsv1.EC2NodeClass{}
	if err := o.kit.Client.Get(ctx, client.ObjectKey{Name: ref.Name}, class); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	memory := node.Status.Capacity[corev1.ResourceMemory]
	news, err := o.memory.LearnMemory(class, claim.Labels[corev1.LabelInstanceTypeStable], claim.Status.ImageID, scalar.Amount(memory))
	if errors.Is(err, offering.ErrNoTypes) { // at the start; the first look that needs them says what is wrong
		return reconcile.In(soon), nil
	}
	if err != nil {
		return reconcile.Never, fmt.Errorf("look at node %s: %w", node.Name, err)
	}
	if news {
		if wake := o.wake.Load(); wake != nil {
			(*wake)()
		}
		reconcile.Log(ctx).V(1).Info("discovered memory of an instance type", "instance-type", claim.Labels[corev1.LabelInstanceTypeStable], "memory", memory.String())
	}
	return reconcile.Never, nil
}

// keep reads the map once, and writes it when there is something new. Only one process
// does that: the leader.
func (o *observer) keep(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	stored := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: o.namespace, Name: Map}
	if !o.restored {
		err := o.kit.Uncached(reconcile.Unwatched).Get(ctx, key, stored)
		if client.IgnoreNotFound(err) != nil {
			return reconcile.Never, fmt.Errorf("read what was learned of capacity: %w", err)
		}
		o.memory.Restore(stored.Data)
		o.restored, o.kept = true, stored.Data
	}
	known := o.memory.Encode()
	if maps.Equal(known, o.kept) {
		return reconcile.In(keepsEvery), nil
	}
	now := o.kit.Clock.Now()
	if wait := o.wrote.Add(keepsEvery).Sub(now); wait > 0 {
		return reconcile.In(wait), nil
	}
	if err := o.write(ctx, key, known); err != nil {
		return reconcile.Never, fmt.Errorf("keep what was learned of capacity: %w", err)
	}
	o.kept, o.wrote = known, now
	return reconcile.In(keepsEvery), nil
}

func (o *observer) write(ctx context.Context, key client.ObjectKey, data map[string]string) error {
	return patch.ConfigMap(ctx, o.kit, key, func(stored *corev1.ConfigMap) error {
		stored.Data = data
		return nil
	})
}
