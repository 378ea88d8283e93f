package kubelet

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordination "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// leaseNamespace is the namespace in which the node controller reads heartbeats.
const leaseNamespace = v1.NamespaceNodeLease

// serveInstance performs the next step of a launched instance.
func (f *Fleet) serveInstance(ctx context.Context, k key) (time.Time, error) {
	i, known := f.memory.instance(k.name)
	if !known {
		return time.Time{}, nil
	}
	n := f.nodeOfInstance(k.name)
	step := stepInstance(i, n != nil, f.config, f.config.Clock.Now())
	switch {
	case step.Join:
		return time.Time{}, f.join(ctx, i.Instance)
	case step.Remove:
		return time.Time{}, f.removeNode(ctx, n)
	case step.Forget:
		f.memory.forgetInstance(k.name)
	}
	return step.At, nil
}

func (f *Fleet) nodeOfInstance(providerID string) *v1.Node {
	if nodes := list[v1.Node](f.watches.nodes, byProviderID, providerID); len(nodes) > 0 {
		return nodes[0]
	}
	return nil
}

// join registers the instance's Node.
func (f *Fleet) join(ctx context.Context, i Instance) error {
	var address string
	if len(i.Addresses) == 0 {
		a, err := f.memory.newNodeAddress()
		if err != nil {
			return fmt.Errorf("join %s: %w", i.Name, err)
		}
		address = a.String()
	}
	n, err := nodeOf(i, address, f.config, f.config.Clock.Now())
	if err != nil {
		return err
	}
	if _, err := f.client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("join %s: %w", i.Name, err)
	}
	f.memory.joined(i.ProviderID)
	return nil
}

// removeNode deletes the Node of a machine that is gone. Finalizers may keep it.
func (f *Fleet) removeNode(ctx context.Context, n *v1.Node) error {
	if n.DeletionTimestamp != nil {
		return nil
	}
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(n.UID))}
	err := f.client.CoreV1().Nodes().Delete(ctx, n.Name, options)
	if outdated(err) {
		return nil
	}
	return wrap("delete node "+n.Name, err)
}

// serveNode performs the next report of a kubelet.
func (f *Fleet) serveNode(ctx context.Context, k key) (time.Time, error) {
	n := find[v1.Node](f.watches.nodes, k.name)
	if n == nil || n.UID != k.uid {
		f.memory.forgetNode(k.uid)
		return time.Time{}, nil
	}
	if !Simulated(n) || behind(n.ResourceVersion, f.memory.registration(n.UID).written) {
		return time.Time{}, nil
	}
	in, err := f.gatherNode(n)
	if err != nil {
		return time.Time{}, err
	}
	step := stepNode(in, f.config.Clock.Now())
	if err := f.writeNode(ctx, n, step); err != nil {
		return time.Time{}, err
	}
	return step.At, f.announceDriver(ctx, n, in.Fault)
}

func (f *Fleet) gatherNode(n *v1.Node) (nodeInput, error) {
	in := nodeInput{Node: n, Fault: f.faultOf(n), Illnesses: f.illnessesOf(n), InUse: f.volumesInUse(n.Name), Config: f.config}
	if address := addressOf(n); address != "" {
		f.memory.reserveNode(n.UID, address)
		return in, nil
	}
	address, err := f.memory.nodeAddress(n.UID)
	in.Address = address
	return in, err
}

// faultOf combines all faults of a machine. An annotation that cannot be parsed is logged and ignored.
func (f *Fleet) faultOf(n *v1.Node) Fault {
	asked, err := ParseFault(n.Annotations[AnnotationFault])
	if err != nil {
		f.config.Log.Warn("annotation ignored", "node", n.Name, "err", err)
	}
	return asked.and(f.memory.fault(n.Spec.ProviderID, n.Name))
}

func (f *Fleet) illnessesOf(n *v1.Node) []Illness {
	asked, err := ParseIllnesses(n.Annotations[AnnotationConditions])
	if err != nil {
		f.config.Log.Warn("annotation ignored", "node", n.Name, "err", err)
	}
	return asked
}

func (f *Fleet) writeNode(ctx context.Context, n *v1.Node, step nodeStep) error {
	if len(step.Labels) > 0 || len(step.Annotations) > 0 {
		patch, err := metadataBody(n.UID, step.Labels, step.Annotations)
		if err := f.patchNode(ctx, n, types.MergePatchType, patch, err); err != nil {
			return err
		}
	}
	if step.Status != nil {
		patch, err := nodeStatusBody(n.UID, step.Status)
		if err := f.patchNode(ctx, n, types.StrategicMergePatchType, patch, err, "status"); err != nil {
			return err
		}
	}
	if step.Taints != nil {
		patch, err := taintsBody(n.ResourceVersion, *step.Taints)
		return f.patchNode(ctx, n, types.MergePatchType, patch, err)
	}
	return nil
}

func (f *Fleet) patchNode(ctx context.Context, n *v1.Node, kind types.PatchType, patch []byte, err error, subresources ...string) error {
	if err != nil {
		return fmt.Errorf("patch for node %s: %w", n.Name, err)
	}
	is, err := f.client.CoreV1().Nodes().Patch(ctx, n.Name, kind, patch, metav1.PatchOptions{}, subresources...)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("patch node %s: %w", n.Name, err)
	}
	f.memory.register(n.UID, func(r *registration) { r.written = is.ResourceVersion })
	return nil
}

// announceDriver writes the CSINode once. A CSINode of a former Node of the same name blocks it until the
// garbage collector deletes that, so we try again.
func (f *Fleet) announceDriver(ctx context.Context, n *v1.Node, fault Fault) error {
	if fault.Silent || f.memory.registration(n.UID).csi {
		return nil
	}
	c := csiNode(n, f.config.VolumeLimit)
	_, err := f.client.StorageV1().CSINodes().Create(ctx, c, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		err = f.checkDriver(ctx, n)
	}
	if err != nil {
		return fmt.Errorf("announce driver on node %s: %w", n.Name, err)
	}
	f.memory.register(n.UID, func(r *registration) { r.csi = true })
	return nil
}

func (f *Fleet) checkDriver(ctx context.Context, n *v1.Node) error {
	c, err := f.client.StorageV1().CSINodes().Get(ctx, n.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(c.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == n.UID }) {
		return fmt.Errorf("its CSINode belongs to a former node")
	}
	return nil
}

// serveLease renews the Lease. It keeps its own interval: an early call does nothing.
func (f *Fleet) serveLease(ctx context.Context, k key) (time.Time, error) {
	n := find[v1.Node](f.watches.nodes, k.name)
	if n == nil || n.UID != k.uid || !Simulated(n) || f.faultOf(n).Silent {
		return time.Time{}, nil
	}
	now := f.config.Clock.Now()
	r := f.memory.registration(n.UID)
	if next := r.renewed.Add(spread(n.Name, f.config.HeartbeatInterval)); now.Before(next) {
		return next, nil
	}
	seen, err := f.renew(ctx, n, r.leaseSeen, now)
	if err != nil {
		f.memory.register(n.UID, func(r *registration) { r.leaseSeen = "" })
		return time.Time{}, fmt.Errorf("renew lease of node %s: %w", n.Name, err)
	}
	f.memory.register(n.UID, func(r *registration) { r.leaseSeen, r.renewed = seen, now })
	return now.Add(spread(n.Name, f.config.HeartbeatInterval)), nil
}

// renew writes the Lease over the version seen last, and returns the new one.
func (f *Fleet) renew(ctx context.Context, n *v1.Node, seen string, now time.Time) (string, error) {
	leases := f.client.CoordinationV1().Leases(leaseNamespace)
	lease := leaseOf(n, f.config, now)
	if seen == "" {
		old, err := leases.Get(ctx, n.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			created, err := leases.Create(ctx, lease, metav1.CreateOptions{})
			if err != nil {
				return "", err
			}
			return created.ResourceVersion, nil
		}
		if err != nil {
			return "", err
		}
		seen = old.ResourceVersion
	}
	lease.ResourceVersion = seen
	updated, err := leases.Update(ctx, lease, metav1.UpdateOptions{})
	if err != nil {
		return "", err
	}
	return updated.ResourceVersion, nil
}

func leaseOf(n *v1.Node, c Config, now time.Time) *coordination.Lease {
	holder, seconds := n.Name, int32(c.leaseDuration()/time.Second)
	return &coordination.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Namespace: leaseNamespace, OwnerReferences: ownedBy(n)},
		Spec: coordination.LeaseSpec{
			HolderIdentity:       &holder,
			LeaseDurationSeconds: &seconds,
			RenewTime:            leaseTime(now),
		},
	}
}

// outdated reports whether a write came too late: its object is gone, or another object has its name. The
// watch will show that.
func outdated(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err)
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
