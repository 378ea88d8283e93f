package cluster

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

type schemaKind = schema.GroupVersionKind

// jobs run pods until enough of them have succeeded.
func (c *Cluster) jobs() reconcile.Controller {
	return reconcile.Controller{
		Name:      "jobs",
		Workers:   reconcile.Workers{Min: 5, Max: 5},
		Watches:   []reconcile.Watch{{Kind: &batchv1.Job{}}, {Kind: &corev1.Pod{}, Keys: controllerOf("Job")}},
		Reconcile: c.run,
	}
}

func (c *Cluster) run(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var job batchv1.Job
	if err := c.Client.Get(ctx, key, &job, client.UnsafeDisableDeepCopy); err != nil || job.DeletionTimestamp != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	pods := c.podsOf(job.UID)
	done := max(job.Status.Succeeded, succeeded(pods))
	want := min(*job.Spec.Parallelism, ptr.Deref(job.Spec.Completions, *job.Spec.Parallelism)-done)
	for n := int32(len(active(pods))); n < want; n++ {
		if err := c.Client.Create(ctx, podFrom(&job, batchv1.SchemeGroupVersion.WithKind("Job"), &job.Spec.Template, "")); err != nil {
			return reconcile.Never, err
		}
	}
	if done == job.Status.Succeeded && job.Status.StartTime != nil {
		return reconcile.Never, nil
	}
	next := job.DeepCopy()
	next.Status.Succeeded = done
	if next.Status.StartTime == nil {
		next.Status.StartTime = ptr.To(c.now())
	}
	if done >= ptr.Deref(job.Spec.Completions, 1) && next.Status.CompletionTime == nil {
		next.Status.CompletionTime = ptr.To(c.now())
		next.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: c.now()}}
	}
	next.ResourceVersion = ""
	return reconcile.Never, client.IgnoreNotFound(c.Client.Status().Update(ctx, next))
}

func succeeded(pods []*corev1.Pod) int32 {
	n := int32(0)
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// statefulSets keep one pod of each number, and make them in order.
func (c *Cluster) statefulSets() reconcile.Controller {
	return reconcile.Controller{
		Name:      "statefulsets",
		Workers:   reconcile.Workers{Min: 5, Max: 5},
		Watches:   []reconcile.Watch{{Kind: &appsv1.StatefulSet{}}, {Kind: &corev1.Pod{}, Keys: controllerOf("StatefulSet")}},
		Reconcile: c.number,
	}
}

func (c *Cluster) number(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var set appsv1.StatefulSet
	if err := c.Client.Get(ctx, key, &set, client.UnsafeDisableDeepCopy); err != nil || set.DeletionTimestamp != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	pods := c.podsOf(set.UID)
	byName := map[string]*corev1.Pod{}
	for _, pod := range pods {
		byName[pod.Name] = pod
	}
	together := set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
	for n := range *set.Spec.Replicas {
		name := fmt.Sprintf("%s-%d", set.Name, n)
		pod, there := byName[name]
		delete(byName, name)
		if there && Finished(pod) && pod.DeletionTimestamp == nil {
			return reconcile.Never, client.IgnoreNotFound(c.Client.Delete(ctx, pod))
		}
		if !there {
			if err := c.member(ctx, &set, name); err != nil {
				return reconcile.Never, err
			}
		}
		if !together && (!there || !Ready(pod) || pod.DeletionTimestamp != nil) {
			return reconcile.Never, nil
		}
	}
	return reconcile.Never, c.dismiss(ctx, pods, byName)
}

// member makes a pod of a stateful set and its volume claims, which outlive the pod.
func (c *Cluster) member(ctx context.Context, set *appsv1.StatefulSet, name string) error {
	pod := podFrom(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"), &set.Spec.Template, name)
	for i := range set.Spec.VolumeClaimTemplates {
		claim := set.Spec.VolumeClaimTemplates[i].DeepCopy()
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name + "-" + name},
		}})
		claim.Namespace, claim.Name = set.Namespace, claim.Name+"-"+name
		if err := c.Client.Create(ctx, claim); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return c.Client.Create(ctx, pod)
}

// dismiss deletes the pods that are in the map, in the order of the list.
func (c *Cluster) dismiss(ctx context.Context, pods []*corev1.Pod, which map[string]*corev1.Pod) error {
	for _, pod := range pods {
		if _, surplus := which[pod.Name]; !surplus || pod.DeletionTimestamp != nil {
			continue
		}
		if err := c.Client.Delete(ctx, pod); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// daemonSets keep one pod on each node that it matches.
func (c *Cluster) daemonSets() reconcile.Controller {
	return reconcile.Controller{
		Name: "daemonsets",
		Watches: []reconcile.Watch{
			{Kind: &appsv1.DaemonSet{}},
			{Kind: &corev1.Pod{}, Keys: controllerOf("DaemonSet")},
			{Kind: &corev1.Node{}, Keys: c.allDaemonSets, Matters: func(old, changed client.Object) bool { return changed == nil || mayHelp(old, changed) }},
		},
		Reconcile: c.serve,
	}
}

func (c *Cluster) allDaemonSets(_ context.Context, _ client.Object) []reconcile.Key {
	var keys []reconcile.Key
	for _, set := range c.Client.Find(&appsv1.DaemonSet{}, "", "") {
		keys = append(keys, client.ObjectKeyFromObject(set))
	}
	return keys
}

func (c *Cluster) serve(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var set appsv1.DaemonSet
	if err := c.Client.Get(ctx, key, &set, client.UnsafeDisableDeepCopy); err != nil || set.DeletionTimestamp != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	pods := c.podsOf(set.UID)
	served := map[string]bool{}
	for _, pod := range active(pods) {
		served[target(pod)] = true
		if pod.Spec.NodeName == "" && c.nodes.byName[target(pod)] == nil { // its node was deleted before the pod was bound
			if err := c.Client.Delete(ctx, pod); client.IgnoreNotFound(err) != nil {
				return reconcile.Never, err
			}
		}
	}
	for _, r := range slices.Clone(c.nodes.rooms) {
		if served[r.node.Name] {
			continue
		}
		pod := daemon(&set, r.node.Name)
		if !runsOn(pod, r.node) {
			continue
		}
		if err := c.Client.Create(ctx, pod); err != nil {
			return reconcile.Never, err
		}
	}
	return reconcile.Never, nil
}

// daemonTolerations are the tolerations that the real controller adds.
func daemonTolerations() []corev1.Toleration {
	var out []corev1.Toleration
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		out = append(out, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	}
	for _, key := range []string{corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable} {
		out = append(out, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	return out
}

// daemon returns the pod of a daemon set for one node, which the scheduler binds.
func daemon(set *appsv1.DaemonSet, node string) *corev1.Pod {
	pod := podFrom(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"), &set.Spec.Template, "")
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, daemonTolerations()...)
	only := corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) == 0 {
		required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	for i := range required.NodeSelectorTerms {
		required.NodeSelectorTerms[i].MatchFields = []corev1.NodeSelectorRequirement{only}
	}
	pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	return pod
}

// target returns the node that a daemon pod is for.
func target(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return ""
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) == 0 || len(required.NodeSelectorTerms[0].MatchFields) == 0 {
		return ""
	}
	return required.NodeSelectorTerms[0].MatchFields[0].Values[0]
}

// runsOn reports whether a daemon belongs on a node; the scheduler checks the room.
func runsOn(pod *corev1.Pod, node *corev1.Node) bool {
	match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	return err == nil && match && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(pod, t) && t.Key != corev1.TaintNodeNotReady && t.Key != corev1.TaintNodeUnreachable
	})
}
