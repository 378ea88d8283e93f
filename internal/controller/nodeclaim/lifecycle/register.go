package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/lookup"
	"tenon/internal/parallel"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
	"tenon/internal/translate"
)

// gatePause is how long to wait for a gate that gives no time.
const gatePause = 5 * time.Second

// advance registers and initializes, as far as node and gate allow, and says so in the
// conditions. What an earlier version decided stays decided.
func (l *lifecycle) advance(ctx context.Context, claim *karpenterv1.NodeClaim, conditions *condition.Set) (reconcile.Result, error) {
	if claim.Status.ProviderID != "" && conditions.HasStatus(karpenterv1.ConditionLaunched, metav1.ConditionUnknown) {
		conditions.SetTrue(karpenterv1.ConditionLaunched) // the writer of the provider ID has bought
	}
	refresh(conditions)
	if conditions.HasStatus(karpenterv1.ConditionInitialized, metav1.ConditionTrue) {
		return reconcile.Never, nil
	}
	nodes, err := lookup.NodesOfClaim(ctx, l.kit.Client, claim)
	if err != nil {
		return reconcile.Never, err
	}
	if !conditions.HasStatus(karpenterv1.ConditionRegistered, metav1.ConditionTrue) {
		result, err := l.register(ctx, claim, conditions, nodes)
		if err != nil || !conditions.HasStatus(karpenterv1.ConditionRegistered, metav1.ConditionTrue) {
			return result, err
		}
	}
	return l.initialize(ctx, claim, conditions, nodes)
}

// refresh carries True conditions over to this generation: the spec never changes, so a new generation only
// means that the claim is being deleted.
func refresh(conditions *condition.Set) {
	for _, name := range karpenterv1.NodeClaimConditions().Dependents {
		if conditions.HasStatus(name, metav1.ConditionTrue) && !conditions.IsTrue(name) {
			conditions.SetTrue(name)
		}
	}
}

// register takes the claim's node in. Two nodes of one machine are a mistake that a user can correct by
// deleting the old one. So, unlike in Karpenter, it is not final: the claim waits until there is one node,
// or its time is over. nodes is read, and its node replaced by the registered one.
func (l *lifecycle) register(ctx context.Context, claim *karpenterv1.NodeClaim, conditions *condition.Set, nodes []*corev1.Node) (reconcile.Result, error) {
	switch {
	case len(nodes) == 0:
		conditions.SetUnknown(karpenterv1.ConditionRegistered, nodeNotFound, nodeNotFoundMessage)
		return reconcile.Never, nil
	case len(nodes) > 1:
		conditions.SetFalse(karpenterv1.ConditionRegistered, "MultipleNodesFound", "Invariant violated, matched multiple nodes")
		return reconcile.Never, nil
	}
	admission, trouble := l.ask(ctx, claim)
	claim.Labels = merged(claim.Labels, admission.Labels)
	node := withClaim(nodes[0], claim)
	if admitted := trouble == nil && admission.Admitted(); !admitted {
		err := l.saveNode(ctx, nodes[0], node)
		conditions.SetUnknown(karpenterv1.ConditionRegistered, "RegistrationHookPending", strings.Join(admission.Awaiting, ", "))
		return reconcile.In(gateWait(admission)), errors.Join(trouble, err)
	}
	l.warnOfRace(ctx, claim, nodes[0])
	wait, together := l.staysClosed(ctx, claim, node)
	if wait > 0 {
		if left := untold - l.joined(node); left > 0 {
			return reconcile.In(min(wait, left)), nil
		}
		conditions.SetUnknown(karpenterv1.ConditionRegistered, "NodeNotReady", "Pods have places on the node, which opens when it is ready and they have been told")
		return reconcile.In(wait), nil
	}
	if left := l.othersOpen(nodes[0]); left > 0 {
		return reconcile.In(left), nil
	}
	if err := l.openTogether(ctx, claim.Name, together, func() error { return l.saveNode(ctx, nodes[0], admittedNode(node, claim)) }); err != nil {
		return reconcile.Never, err
	}
	if l.places != nil {
		l.places.Opened(claim.Name)
	}
	nodes[0] = node
	claim.Status.NodeName = node.Name
	conditions.SetTrue(karpenterv1.ConditionRegistered)
	return reconcile.Never, nil
}

// sideBySide is how many nodes are opened at the same time, unless only one write is made at a time. A busy API server gives each write its
// share, and the nodes of a group are to open within a second: they are more than other writes.
const sideBySide = 200

// openTogether opens the node of a claim and others, by claim. If they opened one after the other, kube-scheduler would try pods whose
// nodes are still closed, and put them elsewhere. So many open at the same time, and those whose pods it is about to try wait until
// others are open. Another node that cannot be opened here opens when its claim comes to that.
func (l *lifecycle) openTogether(ctx context.Context, claim string, nodes map[string]string, open func() error) (failed error) {
	if len(nodes) > 1 {
		l.opening.Store(l.kit.Clock.Now().UnixNano())
		defer l.opening.Store(0)
	}
	if _, among := nodes[claim]; !among {
		failed = open()
	}
	closed := maps.Clone(nodes)
	for len(closed) > 0 {
		claims := l.places.NextToOpen(ctx, nodes, closed)
		parallel.Run(l.parallel, len(claims), func(i int) {
			if claims[i] == claim {
				l.places.Repeat(ctx, claim, nodes[claim])
				failed = open()
			} else if err := l.openOne(ctx, claims[i], nodes[claims[i]]); err != nil {
				reconcile.Log(ctx).V(1).Info("a node does not open with others", "NodeClaim", claims[i], "reason", err.Error())
			}
		})
		for _, c := range claims {
			delete(closed, c)
		}
	}
	return failed
}

// While nodes of a group are still closed, the claims of those that are open are not written: the API server's time is for the nodes, and
// kube-scheduler already tries the pods of all of them. othersAgain is how often claims look, and longestOthers how long they wait at most.
const (
	othersAgain   = 500 * time.Millisecond
	longestOthers = 5 * time.Second
)

// othersOpen is how long the claim of a node that has been opened waits because others open.
func (l *lifecycle) othersOpen(node *corev1.Node) time.Duration {
	since := l.opening.Load()
	if since == 0 || node.Labels[karpenterv1.LabelRegistered] != "true" || l.kit.Clock.Since(time.Unix(0, since)) >= longestOthers {
		return 0
	}
	return othersAgain
}

func (l *lifecycle) openOne(ctx context.Context, claimName, nodeName string) error {
	claim, node := &karpenterv1.NodeClaim{}, &corev1.Node{}
	if err := l.kit.Client.Get(ctx, client.ObjectKey{Name: claimName}, claim); err != nil {
		return client.IgnoreNotFound(err)
	}
	if err := l.kit.Client.Get(ctx, client.ObjectKey{Name: nodeName}, node); err != nil {
		return client.IgnoreNotFound(err)
	}
	if claim.DeletionTimestamp != nil || node.Spec.ProviderID != claim.Status.ProviderID || !ready(node) || isHeld(node) {
		return nil
	}
	l.places.Repeat(ctx, claimName, nodeName)
	return l.saveNode(ctx, node, admittedNode(withClaim(node, claim), claim))
}

// How long after it has joined a node may stay closed for the sake of its pods: while it is not ready, and at all. A burst may open in two
// groups, each of which waits for its nominations. On a busy API server that takes longer than the nodes do to join, and a node that opens
// by itself wakes the pods of all others.
const (
	longestUnready = 30 * time.Second
	longestClosed  = time.Minute
)

// untold is how long after its node has joined a claim does not say what the node waits for, unless it is written anyway. Most nodes open
// earlier and are ready soon, and in a burst each write counts.
const untold = 30 * time.Second

// joined is how long ago a node joined.
func (l *lifecycle) joined(node *corev1.Node) time.Duration {
	return l.kit.Clock.Since(node.CreationTimestamp.Time)
}

// staysClosed is how much longer a node stays closed because pods have places there: until it is
// ready, and they have been told. Nothing is that it opens now, together with others.
func (l *lifecycle) staysClosed(ctx context.Context, claim *karpenterv1.NodeClaim, node *corev1.Node) (wait time.Duration, together map[string]string) {
	joined := l.joined(node)
	if l.places == nil || joined >= longestClosed || !tainted(node, karpenterv1.TaintUnregistered()) || !l.places.Wanted(claim.Name) {
		return 0, nil
	}
	if !ready(node) || isHeld(node) {
		return max(longestUnready-joined, 0), nil
	}
	return l.places.Prepare(ctx, claim.Name, node.Name)
}

// isHeld reports whether a taint that goes by itself keeps pods away.
func isHeld(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return karpenterv1.IsEphemeral(t) && t.Key != karpenterv1.TaintUnregistered().Key
	})
}

func gateWait(a cloud.Admission) time.Duration {
	if a.Again <= 0 {
		return gatePause
	}
	return a.Again
}

// ask asks the provider's gate, if it has one. A gate that fails counts as waiting.
func (l *lifecycle) ask(ctx context.Context, claim *karpenterv1.NodeClaim) (cloud.Admission, error) {
	gate, guarded := l.kit.Cloud.(cloud.Gate)
	if !guarded {
		return cloud.Admission{}, nil
	}
	order, err := translate.Order(claim, l.words)
	if err != nil {
		return cloud.Admission{}, err
	}
	admission, err := gate.Admit(ctx, order, translate.Recall(claim, l.about.ReservationLabel))
	if err != nil {
		return cloud.Admission{Awaiting: []string{l.about.Name}}, fmt.Errorf("ask whether the node of claim %s may be registered: %w", claim.Name, err)
	}
	return admission, nil
}

// withClaim is the node with all that the claim gives it: the finalizer that drains it, the claim as owner,
// labels and annotations (the claim's values win, because it says what was bought), and taints. If the
// node's bootstrap sets the taints, they are left out, because another controller may have removed them
// already.
func withClaim(node *corev1.Node, claim *karpenterv1.NodeClaim) *corev1.Node {
	out := node.DeepCopy()
	controllerutil.AddFinalizer(out, karpenterv1.FinalizerTermination)
	own(out, claim)
	if out.Labels[karpenterv1.LabelDoNotSyncTaints] != "true" {
		for _, taint := range slices.Concat(claim.Spec.Taints, claim.Spec.StartupTaints) {
			if !tainted(out, taint) {
				out.Spec.Taints = append(out.Spec.Taints, taint)
			}
		}
	}
	out.Annotations = merged(out.Annotations, claim.Annotations)
	delete(out.Annotations, karpenterv1.AnnotationDisruption) // that is about the claim
	key, class := translate.ClassLabel(claim)
	out.Labels = merged(merged(out.Labels, map[string]string{key: class}), claim.Labels)
	return out
}

// own makes the claim an owner of the node, once.
func own(node *corev1.Node, claim *karpenterv1.NodeClaim) {
	if slices.ContainsFunc(node.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == claim.UID }) {
		return
	}
	block := true
	node.OwnerReferences = append(node.OwnerReferences, metav1.OwnerReference{
		APIVersion: karpenterv1.GroupVersion.String(), Kind: "NodeClaim",
		Name: claim.Name, UID: claim.UID, BlockOwnerDeletion: &block,
	})
}

// admittedNode opens a node that has all of its claim to pods. A node that is ready for them is initialized by the same
// write. It changes its argument.
func admittedNode(node *corev1.Node, claim *karpenterv1.NodeClaim) *corev1.Node {
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		unregistered := karpenterv1.TaintUnregistered()
		return t.MatchTaint(&unregistered)
	})
	node.Labels = merged(node.Labels, map[string]string{karpenterv1.LabelRegistered: "true"})
	if findObstacle(node, claim) == (uninitialized{}) {
		node.Labels = merged(node.Labels, map[string]string{karpenterv1.LabelInitialized: "true"})
	}
	return node
}

func tainted(node *corev1.Node, taint corev1.Taint) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
}

// merged is base with more on top; neither is changed.
func merged(base, more map[string]string) map[string]string {
	if len(more) == 0 {
		return base
	}
	out := maps.Clone(base)
	if out == nil {
		out = make(map[string]string, len(more))
	}
	maps.Copy(out, more)
	return out
}

// saveNode writes a node if it differs from what it was. Lists of taints are written as a
// whole, so another writer's change in between is a conflict.
func (l *lifecycle) saveNode(ctx context.Context, before, node *corev1.Node) error {
	if equality.Semantic.DeepEqual(before, node) {
		return nil
	}
	if err := patch.IfUnchanged(ctx, l.kit, before, node); err != nil {
		return fmt.Errorf("write node %s: %w", node.Name, err)
	}
	return nil
}

// warnOfRace tells of a node that was open to pods before it had its labels and taints.
func (l *lifecycle) warnOfRace(ctx context.Context, claim *karpenterv1.NodeClaim, node *corev1.Node) {
	_, registered := node.Labels[karpenterv1.LabelRegistered]
	if registered || tainted(node, karpenterv1.TaintUnregistered()) {
		return
	}
	const text = "Missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes"
	reconcile.Log(ctx).Error(nil, "missing taint prevents registration related race conditions on Karpenter-managed nodes",
		"taint", "karpenter.sh/unregistered", "Node", node.Name)
	l.kit.Events.Publish(telemetry.Warning(claim, "UnregisteredTaintMissing", text))
}
