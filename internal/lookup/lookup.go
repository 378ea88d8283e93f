// Package lookup finds objects by their references: the node of a provider ID, the pods on a node,
// the claims of a pool. It holds the list of indexes that caches must keep for these queries, and
// the queries themselves, so that controllers never spell the name of a field.
//
// It only reads.
package lookup

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
)

// Index is a field by which a kind can be listed.
type Index struct {
	Kind  client.Object
	Field string
	// Values are the values under which an object is found. Empty ones are not kept.
	Values func(client.Object) []string
}

const (
	podNode        = "spec.nodeName"
	nodeProvider   = "spec.providerID"
	nodeDeleting   = "metadata.deletionTimestamp"
	nodeCommand    = "metadata.annotations.disruption"
	attachmentNode = "spec.nodeName"
	claimProvider  = "status.providerID"
	claimPool      = "metadata.labels.nodepool"
	claimClass     = "spec.nodeClassRef"
	claimCommand   = "metadata.annotations.disruption"
	claimRejected  = "status.conditions.launched"
	poolClass      = "spec.template.spec.nodeClassRef"
)

// Indexes are all indexes that the queries of this package need.
func Indexes() []Index {
	return []Index{
		{&corev1.Pod{}, podNode, by(func(p *corev1.Pod) string { return p.Spec.NodeName })},
		{&corev1.Node{}, nodeProvider, by(func(n *corev1.Node) string { return n.Spec.ProviderID })},
		{&corev1.Node{}, nodeDeleting, by(func(n *corev1.Node) string { return deleting(n) })},
		{&corev1.Node{}, nodeCommand, by(func(n *corev1.Node) string { return disrupted(n) })},
		{&storagev1.VolumeAttachment{}, attachmentNode, by(func(a *storagev1.VolumeAttachment) string { return a.Spec.NodeName })},
		{&karpenterv1.NodeClaim{}, claimProvider, by(func(c *karpenterv1.NodeClaim) string { return c.Status.ProviderID })},
		{&karpenterv1.NodeClaim{}, claimPool, by(func(c *karpenterv1.NodeClaim) string { return c.Labels[karpenterv1.LabelNodePool] })},
		{&karpenterv1.NodeClaim{}, claimClass, by(func(c *karpenterv1.NodeClaim) string { return classKey(c.Spec.NodeClassRef) })},
		{&karpenterv1.NodeClaim{}, claimCommand, by(func(c *karpenterv1.NodeClaim) string { return disrupted(c) })},
		{&karpenterv1.NodeClaim{}, claimRejected, by(rejectedIn)},
		{&karpenterv1.NodePool{}, poolClass, by(func(p *karpenterv1.NodePool) string { return classKey(p.Spec.Template.Spec.NodeClassRef) })},
	}
}

func by[T client.Object](value func(T) string) func(client.Object) []string {
	return func(object client.Object) []string {
		if v := value(object.(T)); v != "" {
			return []string{v}
		}
		return nil
	}
}

// deleting is the index value of an object that is being deleted.
func deleting(object client.Object) string {
	if object.GetDeletionTimestamp() == nil {
		return ""
	}
	return "set"
}

// rejectedIn is the index value of a claim whose launch was rejected: its pool.
func rejectedIn(claim *karpenterv1.NodeClaim) string {
	c := meta.FindStatusCondition(claim.Status.Conditions, karpenterv1.ConditionLaunched)
	if claim.DeletionTimestamp == nil && claim.Status.ProviderID == "" &&
		c != nil && c.Status == metav1.ConditionUnknown && c.Reason != condition.AwaitingReconciliation {
		return claim.Labels[karpenterv1.LabelNodePool]
	}
	return ""
}

// disrupted is the index value of a claim, or a node without one, that a disruption concerns.
func disrupted(object client.Object) string {
	if object.GetAnnotations()[karpenterv1.AnnotationDisruption] != "" {
		return "set"
	}
	return ""
}

func classKey(ref *karpenterv1.NodeClassReference) string {
	if ref == nil {
		return ""
	}
	return ref.Group + "/" + ref.Kind + "/" + ref.Name
}

// Add adds the indexes to a cache.
func Add(ctx context.Context, indexer client.FieldIndexer) error {
	for _, x := range Indexes() {
		if err := indexer.IndexField(ctx, x.Kind, x.Field, x.Values); err != nil {
			return fmt.Errorf("index %T by %s: %w", x.Kind, x.Field, err)
		}
	}
	return nil
}

// PodsOn lists the pods that are bound to a node.
func PodsOn(ctx context.Context, r client.Reader, node string) ([]*corev1.Pod, error) {
	var list corev1.PodList
	if err := r.List(ctx, &list, client.MatchingFields{podNode: node}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the pods of node %s: %w", node, err)
	}
	return pointers(list.Items), nil
}

// PodsSince lists the pods that are bound to a node, past our cache, as they were at a version of any
// object or later. The API server answers from its own cache, which finds pods by their node; a list
// of the very latest state may make it read all pods of the cluster.
func PodsSince(ctx context.Context, live client.Reader, node, version string) ([]*corev1.Pod, error) {
	var list corev1.PodList
	options := []client.ListOption{client.MatchingFields{podNode: node}, client.UnsafeDisableDeepCopy}
	if version != "" {
		options = append(options, &client.ListOptions{Raw: &metav1.ListOptions{
			ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		}})
	}
	if err := live.List(ctx, &list, options...); err != nil {
		return nil, fmt.Errorf("list the pods of node %s since version %s: %w", node, version, err)
	}
	return pointers(list.Items), nil
}

// NodesOf lists the nodes of an instance: one, but for a short while none, and two only by mistake.
func NodesOf(ctx context.Context, r client.Reader, providerID string) ([]*corev1.Node, error) {
	if providerID == "" {
		return nil, nil
	}
	var list corev1.NodeList
	if err := r.List(ctx, &list, client.MatchingFields{nodeProvider: providerID}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the nodes of %s: %w", providerID, err)
	}
	return pointers(list.Items), nil
}

// NodesOfClaim lists the nodes of a claim's instance: only the one that registered, as long as it exists. A
// kubelet may write the provider ID of another node.
func NodesOfClaim(ctx context.Context, r client.Reader, claim *karpenterv1.NodeClaim) ([]*corev1.Node, error) {
	nodes, err := NodesOf(ctx, r, claim.Status.ProviderID)
	if at := slices.IndexFunc(nodes, func(n *corev1.Node) bool { return n.Name == claim.Status.NodeName }); at >= 0 {
		return nodes[at : at+1], err
	}
	return nodes, err
}

// ByAge orders nodes: the one that registered first comes first. A kubelet may write the provider ID of another node, but only on a Node that
// is newer: of the nodes with one provider ID, the first is the instance's.
func ByAge(a, b *corev1.Node) int {
	return cmp.Or(a.CreationTimestamp.Time.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// IsFirst reports whether no node with the same provider ID registered before this one.
func IsFirst(ctx context.Context, r client.Reader, node *corev1.Node) (bool, error) {
	nodes, err := NodesOf(ctx, r, node.Spec.ProviderID)
	return !slices.ContainsFunc(nodes, func(n *corev1.Node) bool { return n.Name != node.Name && ByAge(n, node) < 0 }), err
}

// NodesLeaving lists the nodes that are being deleted.
func NodesLeaving(ctx context.Context, r client.Reader) ([]*corev1.Node, error) {
	var list corev1.NodeList
	if err := r.List(ctx, &list, client.MatchingFields{nodeDeleting: "set"}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the nodes that are being deleted: %w", err)
	}
	return pointers(list.Items), nil
}

// NodesDisrupted lists the nodes without a claim that a disruption concerns.
func NodesDisrupted(ctx context.Context, r client.Reader) ([]*corev1.Node, error) {
	var list corev1.NodeList
	if err := r.List(ctx, &list, client.MatchingFields{nodeCommand: "set"}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the nodes that are disrupted: %w", err)
	}
	return pointers(list.Items), nil
}

// AttachmentsTo lists the volumes that are attached to a node.
func AttachmentsTo(ctx context.Context, r client.Reader, node string) ([]*storagev1.VolumeAttachment, error) {
	var list storagev1.VolumeAttachmentList
	if err := r.List(ctx, &list, client.MatchingFields{attachmentNode: node}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the volume attachments of node %s: %w", node, err)
	}
	return pointers(list.Items), nil
}

// ClaimsOf lists the claims of an instance: one, and two only by mistake.
func ClaimsOf(ctx context.Context, r client.Reader, providerID string) ([]*karpenterv1.NodeClaim, error) {
	if providerID == "" {
		return nil, nil
	}
	return claims(ctx, r, claimProvider, providerID)
}

// ClaimOf finds the claim of a node's instance. Nil means that there is none, or that there are several,
// or that the claim has another node: a kubelet may write the provider ID of another node.
func ClaimOf(ctx context.Context, r client.Reader, node *corev1.Node) (*karpenterv1.NodeClaim, error) {
	found, err := ClaimsOf(ctx, r, node.Spec.ProviderID)
	if err != nil || len(found) != 1 {
		return nil, err
	}
	claim := found[0]
	if claim.Status.NodeName == node.Name {
		return claim, nil // the cache may not have the node yet
	}
	nodes, err := NodesOfClaim(ctx, r, claim)
	if err != nil || len(nodes) == 1 && nodes[0].Name == claim.Status.NodeName {
		return nil, err
	}
	return claim, nil
}

// ClaimsIn lists the claims of a pool.
func ClaimsIn(ctx context.Context, r client.Reader, pool string) ([]*karpenterv1.NodeClaim, error) {
	return claims(ctx, r, claimPool, pool)
}

// ClaimsRejected lists the claims of a pool whose launch was rejected.
func ClaimsRejected(ctx context.Context, r client.Reader, pool string) ([]*karpenterv1.NodeClaim, error) {
	return claims(ctx, r, claimRejected, pool)
}

// ClaimsWith lists the claims of a node class.
func ClaimsWith(ctx context.Context, r client.Reader, class karpenterv1.NodeClassReference) ([]*karpenterv1.NodeClaim, error) {
	return claims(ctx, r, claimClass, classKey(&class))
}

// ClaimsDisrupted lists the claims that a disruption concerns: those that it removes, and their
// replacements.
func ClaimsDisrupted(ctx context.Context, r client.Reader) ([]*karpenterv1.NodeClaim, error) {
	return claims(ctx, r, claimCommand, "set")
}

func claims(ctx context.Context, r client.Reader, field, value string) ([]*karpenterv1.NodeClaim, error) {
	var list karpenterv1.NodeClaimList
	if err := r.List(ctx, &list, client.MatchingFields{field: value}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the claims with %s %s: %w", field, value, err)
	}
	return pointers(list.Items), nil
}

// PoolsWith lists the pools of a node class.
func PoolsWith(ctx context.Context, r client.Reader, class karpenterv1.NodeClassReference) ([]*karpenterv1.NodePool, error) {
	var list karpenterv1.NodePoolList
	if err := r.List(ctx, &list, client.MatchingFields{poolClass: classKey(&class)}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the pools of %s %s: %w", class.Kind, class.Name, err)
	}
	return pointers(list.Items), nil
}

// pointers points into a list, whose objects belong to the cache: they must not be changed; a
// caller that wants to change one makes a copy.
func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}
