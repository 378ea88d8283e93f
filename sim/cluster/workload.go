package cluster

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

// replicaSets keep their number of pods.
func (c *Cluster) replicaSets() reconcile.Controller {
	return reconcile.Controller{
		Name:      "replicasets",
		Workers:   reconcile.Workers{Min: 5, Max: 5},
		Watches:   []reconcile.Watch{{Kind: &appsv1.ReplicaSet{}}, {Kind: &corev1.Pod{}, Keys: controllerOf("ReplicaSet")}},
		Reconcile: c.replicate,
	}
}

func (c *Cluster) replicate(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var set appsv1.ReplicaSet
	if err := c.Client.Get(ctx, key, &set, client.UnsafeDisableDeepCopy); err != nil || set.DeletionTimestamp != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	pods := active(c.podsOf(set.UID))
	var refused error
	for n := len(pods); n < int(*set.Spec.Replicas); n++ {
		err := c.Client.Create(ctx, podFrom(&set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), &set.Spec.Template, ""))
		if apierrors.IsForbidden(err) { // by a quota: the others would be, too
			refused = err
			break
		}
		if err != nil {
			return reconcile.Never, err
		}
	}
	surplus := len(pods) - int(*set.Spec.Replicas)
	if surplus > 0 {
		slices.SortFunc(pods, leastNeeded)
	}
	for i := range surplus {
		if err := c.Client.Delete(ctx, pods[i]); client.IgnoreNotFound(err) != nil {
			return reconcile.Never, err
		}
	}
	ready := int32(0)
	for _, pod := range pods {
		if Ready(pod) {
			ready++
		}
	}
	status := appsv1.ReplicaSetStatus{Replicas: int32(len(pods)), ReadyReplicas: ready, AvailableReplicas: ready, ObservedGeneration: set.Generation}
	again := reconcile.Never
	if refused != nil {
		again = reconcile.In(refusedRetry)
		status.Conditions = []appsv1.ReplicaSetCondition{failing(&set, refused, c.now())}
	}
	if equality.Semantic.DeepEqual(status, set.Status) {
		return again, nil
	}
	next := set.DeepCopy()
	next.Status, next.ResourceVersion = status, ""
	return again, client.IgnoreNotFound(c.Client.Status().Update(ctx, next))
}

// refusedRetry is how long after a refusal the rest of a set is tried again.
const refusedRetry = 30 * time.Second

// failing is the condition of a set whose pods are refused. While pods are refused it keeps its first text,
// as in kube-controller-manager: each refusal names another pod, and a text that changed each time would
// wake the controller again at once.
func failing(set *appsv1.ReplicaSet, refused error, now metav1.Time) appsv1.ReplicaSetCondition {
	for _, condition := range set.Status.Conditions {
		if condition.Type == appsv1.ReplicaSetReplicaFailure {
			return condition
		}
	}
	return appsv1.ReplicaSetCondition{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: refused.Error(), LastTransitionTime: now,
	}
}

// active returns the pods that run or will run.
func active(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil || Finished(p) })
}

// leastNeeded orders pods for deletion: first those without a node, those that are not ready, and young
// ones.
func leastNeeded(a, b *corev1.Pod) int {
	return cmp.Or(
		cmp.Compare(rank(a), rank(b)),
		b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
		cmp.Compare(a.Name, b.Name),
	)
}

func rank(p *corev1.Pod) int {
	switch {
	case p.Spec.NodeName == "":
		return 0
	case p.Status.Phase == corev1.PodPending:
		return 1
	case !Ready(p):
		return 2
	}
	return 3
}

// podFrom returns a pod of a template. A pod without a name gets one.
func podFrom(owner client.Object, kind schemaKind, template *corev1.PodTemplateSpec, name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = owner.GetNamespace(), name
	if name == "" {
		pod.GenerateName = owner.GetName() + "-"
	}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)}
	return pod
}

// deployments roll out their replica sets.
func (c *Cluster) deployments() reconcile.Controller {
	return reconcile.Controller{
		Name:      "deployments",
		Workers:   reconcile.Workers{Min: 5, Max: 5},
		Watches:   []reconcile.Watch{{Kind: &appsv1.Deployment{}}, {Kind: &appsv1.ReplicaSet{}, Keys: controllerOf("Deployment")}},
		Reconcile: c.roll,
	}
}

func (c *Cluster) roll(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var d appsv1.Deployment
	if err := c.Client.Get(ctx, key, &d, client.UnsafeDisableDeepCopy); err != nil || d.DeletionTimestamp != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	current, old, err := c.setsOf(ctx, &d)
	if err != nil {
		return reconcile.Never, err
	}
	for _, step := range turn(&d, current, old) {
		if err := c.scale(ctx, step.set, step.to); err != nil {
			return reconcile.Never, err
		}
	}
	for _, set := range old {
		if *set.Spec.Replicas == 0 && set.Status.Replicas == 0 {
			if err := c.Client.Delete(ctx, set); client.IgnoreNotFound(err) != nil {
				return reconcile.Never, err
			}
		}
	}
	return reconcile.Never, nil
}

// setsOf returns the replica set of the present template, which is made if need be, and those of older
// ones.
func (c *Cluster) setsOf(ctx context.Context, d *appsv1.Deployment) (*appsv1.ReplicaSet, []*appsv1.ReplicaSet, error) {
	hash := fingerprint(&d.Spec.Template)
	var current *appsv1.ReplicaSet
	var old []*appsv1.ReplicaSet
	for _, object := range c.Client.Find(&appsv1.ReplicaSet{}, "", "") {
		switch set := object.(*appsv1.ReplicaSet); {
		case !metav1.IsControlledBy(set, d):
		case set.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == hash:
			current = set
		default:
			old = append(old, set)
		}
	}
	if current != nil {
		return current, old, nil
	}
	current = newSet(d, hash)
	if len(old) == 0 {
		current.Spec.Replicas = d.Spec.Replicas
	}
	return current, old, c.Client.Create(ctx, current)
}

func newSet(d *appsv1.Deployment, hash string) *appsv1.ReplicaSet {
	template := *d.Spec.Template.DeepCopy()
	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: d.Name + "-" + hash, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](0), Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	}
}

func fingerprint(template *corev1.PodTemplateSpec) string {
	text, err := template.Marshal()
	if err != nil {
		return "broken"
	}
	h := fnv.New32a()
	_, _ = h.Write(text) // a hash accepts every input
	return fmt.Sprintf("%08x", h.Sum32())
}

// resize is one step of a roll-out.
type resize struct {
	set *appsv1.ReplicaSet
	to  int32
}

// turn adds new pods as far as the surge allows, and deletes old ones as far as enough are available.
func turn(d *appsv1.Deployment, current *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) []resize {
	want := *d.Spec.Replicas
	if len(old) == 0 {
		return []resize{{current, want}}
	}
	surge, down := bounds(d)
	total, available := *current.Spec.Replicas, current.Status.AvailableReplicas
	for _, set := range old {
		total += *set.Spec.Replicas
		available += set.Status.AvailableReplicas
	}
	steps := []resize{{current, min(*current.Spec.Replicas+max(want+surge-total, 0), want)}}
	spare := available - (want - down)
	for _, set := range old {
		broken := *set.Spec.Replicas - set.Status.AvailableReplicas
		take := min(max(spare, 0)+max(broken, 0), *set.Spec.Replicas)
		if *current.Spec.Replicas == 0 && spare <= 0 {
			take = 0
		}
		spare -= take
		steps = append(steps, resize{set, *set.Spec.Replicas - take})
	}
	return steps
}

func bounds(d *appsv1.Deployment) (surge, down int32) {
	rolling := d.Spec.Strategy.RollingUpdate
	if rolling == nil {
		return 0, *d.Spec.Replicas
	}
	up, err := intstr.GetScaledValueFromIntOrPercent(rolling.MaxSurge, int(*d.Spec.Replicas), true)
	if err != nil {
		up = 1
	}
	off, err := intstr.GetScaledValueFromIntOrPercent(rolling.MaxUnavailable, int(*d.Spec.Replicas), false)
	if err != nil {
		off = 0
	}
	if up == 0 && off == 0 {
		off = 1
	}
	return int32(up), int32(off)
}

func (c *Cluster) scale(ctx context.Context, set *appsv1.ReplicaSet, to int32) error {
	if *set.Spec.Replicas == to {
		return nil
	}
	next := set.DeepCopy()
	next.Spec.Replicas = &to
	next.ResourceVersion = ""
	return client.IgnoreNotFound(c.Client.Update(ctx, next))
}
