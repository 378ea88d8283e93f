package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/snapshot"
	"tenon/internal/owner"
)

// workload is an object that creates pods from one template.
type workload struct {
	kind     string
	object   metav1.Object
	version  string
	template *corev1.PodTemplateSpec
	// unplaced is how many of its pods run nowhere, according to its status.
	unplaced int
	// wanted is how many pods it has when complete; for a Job, how many run at once.
	wanted int
	// claims are created for each replica, numbered from first.
	claims []corev1.PersistentVolumeClaim
	first  int
}

// ref is the owner reference of its pods.
func (w workload) ref() owner.Ref { return owner.Is(w.version, w.kind, w.object) }

// maxReplicas limits the replicas of one workload, so that a typing error in a manifest does not exhaust
// the memory.
const maxReplicas = 1_000_000

// Replicas are the pods that a workload without Pod objects would create and that have no node yet: of Deployments,
// ReplicaSets, ReplicationControllers, StatefulSets and Jobs. They are called NAME-N, from 0. CronJobs create no pods
// themselves. Replicas for which no ResourceQuota has room left in rooms are refused.
func (t *Translator) Replicas(object metav1.Object, rooms Rooms) []snapshot.Pod {
	w, ok := describeWorkload(object)
	if !ok || w.unplaced <= 0 || object.GetDeletionTimestamp() != nil {
		return nil
	}
	pod := t.admitted(podOf(object, w.version, w.kind, w.template))
	if len(pod.Spec.SchedulingGates) > 0 {
		return nil
	}
	permitted, refusal := rooms.take(t.index, pod, w.unplaced)
	out := make([]snapshot.Pod, 0, w.unplaced)
	var found translated
	for n := range w.unplaced {
		pod.Name = fmt.Sprintf("%s-%d", object.GetName(), n)
		if n == 0 || usesClaims(&pod.Spec) || len(w.claims) > 0 {
			found = t.replica(pod, w, n)
		}
		refused := found.refused
		if n >= permitted {
			refused = refusal
		}
		out = append(out, snapshot.Pod{
			Namespace: pod.Namespace, Name: pod.Name, Template: found.template, Refused: refused,
			Created: object.GetCreationTimestamp().UTC(), Pending: true,
		})
	}
	return out
}

// refusedReplicas are the missing pods of a workload for which quotas have no room, given how many it has. Missing pods
// that have room are left out: the controller is about to create them.
func (t *Translator) refusedReplicas(object metav1.Object, have map[owner.Ref]int, rooms Rooms) []snapshot.Pod {
	w, ok := describeWorkload(object)
	if !ok || w.kind == "Deployment" || object.GetDeletionTimestamp() != nil {
		return nil // the missing pods belong to its ReplicaSets
	}
	lacks := w.wanted - have[w.ref()]
	if lacks <= 0 {
		return nil
	}
	pod := t.admitted(podOf(object, w.version, w.kind, w.template))
	permitted, refusal := rooms.take(t.index, pod, lacks)
	out := make([]snapshot.Pod, 0, lacks-permitted)
	if permitted == lacks {
		return out
	}
	found := t.replica(pod, w, 0)
	for range lacks - permitted {
		out = append(out, snapshot.Pod{Namespace: pod.Namespace, Template: found.template, Refused: refusal, Created: object.GetCreationTimestamp().UTC(), Pending: true})
	}
	return out
}

// replica translates one pod, with the claims that a StatefulSet would make for it.
func (t *Translator) replica(pod *corev1.Pod, w workload, n int) translated {
	if len(w.claims) == 0 {
		return t.translate(pod, nil)
	}
	promised := promises{}
	replica := *pod
	replica.Spec.Volumes = slices.Clone(pod.Spec.Volumes)
	for i := range w.claims {
		claim := &w.claims[i]
		name := fmt.Sprintf("%s-%s-%d", claim.Name, w.object.GetName(), w.first+n)
		promised[name] = &claim.Spec
		volume := corev1.Volume{Name: claim.Name}
		volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}
		replica.Spec.Volumes = append(slices.DeleteFunc(replica.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == claim.Name }), volume)
	}
	return t.translate(&replica, promised)
}

func describeWorkload(object metav1.Object) (workload, bool) {
	w := workload{object: object, version: "apps/v1"}
	switch o := object.(type) {
	case *appsv1.Deployment:
		w.kind, w.template = "Deployment", &o.Spec.Template
		w.unplaced, w.wanted = lacking(o.Spec.Replicas, o.Status.ReadyReplicas), lacking(o.Spec.Replicas, 0)
	case *appsv1.ReplicaSet:
		w.kind, w.template = "ReplicaSet", &o.Spec.Template
		w.unplaced, w.wanted = lacking(o.Spec.Replicas, o.Status.ReadyReplicas), lacking(o.Spec.Replicas, 0)
	case *corev1.ReplicationController:
		if o.Spec.Template == nil {
			return workload{}, false
		}
		w.kind, w.version, w.template = "ReplicationController", "v1", o.Spec.Template
		w.unplaced, w.wanted = lacking(o.Spec.Replicas, o.Status.ReadyReplicas), lacking(o.Spec.Replicas, 0)
	case *appsv1.StatefulSet:
		w.kind, w.template, w.claims = "StatefulSet", &o.Spec.Template, o.Spec.VolumeClaimTemplates
		w.unplaced, w.wanted = lacking(o.Spec.Replicas, o.Status.ReadyReplicas), lacking(o.Spec.Replicas, 0)
		if o.Spec.Ordinals != nil {
			w.first = int(o.Spec.Ordinals.Start)
		}
		w.first += int(max(o.Status.ReadyReplicas, 0))
	case *batchv1.Job:
		w.kind, w.version, w.template = "Job", "batch/v1", &o.Spec.Template
		w.wanted = jobPods(o)
		w.unplaced = w.wanted
		if o.Status.Ready != nil {
			w.unplaced -= min(max(int(*o.Status.Ready), 0), w.wanted)
		}
	default:
		return workload{}, false
	}
	return w, true
}

// lacking is how many replicas are not ready. Absent replicas mean one.
func lacking(replicas *int32, ready int32) int {
	want := int32(1)
	if replicas != nil {
		want = *replicas
	}
	return min(int(want-min(max(ready, 0), want)), maxReplicas)
}

// jobPods is how many pods a job runs at once.
func jobPods(job *batchv1.Job) int {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return 0
		}
	}
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		return 0
	}
	want := int32(1)
	if job.Spec.Parallelism != nil {
		want = *job.Spec.Parallelism
	}
	if job.Spec.Completions != nil {
		want = min(want, *job.Spec.Completions-job.Status.Succeeded)
	}
	return lacking(&want, 0)
}

// workloads lists, in a fixed order, the objects whose pods must be derived: those without Pod objects
// and without an owner in the list.
func (x *Index) workloads(havePods populated) []metav1.Object {
	var out []metav1.Object
	out = appendWorkloads(out, x, x.deployments, havePods)
	out = appendWorkloads(out, x, x.statefulSets, havePods)
	out = appendWorkloads(out, x, x.replicaSets, havePods)
	out = appendWorkloads(out, x, x.replicators, havePods)
	return appendWorkloads(out, x, x.jobs, havePods)
}

func appendWorkloads[T metav1.Object](out []metav1.Object, x *Index, objects map[key]T, havePods populated) []metav1.Object {
	for _, k := range sortedKeys(objects) {
		o := objects[k]
		if w, ok := describeWorkload(o); ok && havePods.has(w) || x.ownedByKnown(o) {
			continue
		}
		out = append(out, o)
	}
	return out
}

// workloadKind is the kind in lower case.
func workloadKind(o metav1.Object) string {
	w, _ := describeWorkload(o)
	return strings.ToLower(w.kind)
}

func sortedKeys[T any](m map[key]T) []key {
	keys := make([]key, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
	return keys
}

// ownedByKnown reports whether a known Deployment owns this ReplicaSet.
func (x *Index) ownedByKnown(o metav1.Object) bool {
	_, known := named(x.deployments, "Deployment", owner.Of(o))
	return known
}

// populated are the workloads that have Pod objects. Deployments whose ReplicaSets are not in the
// files are known by name alone.
type populated struct {
	owners  map[owner.Ref]bool
	guessed map[key]bool
}

func (p populated) has(w workload) bool {
	return p.owners[w.ref()] || w.kind == "Deployment" && p.guessed[keyOf(w.object)]
}
