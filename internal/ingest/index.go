package ingest

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	"tenon/core/order"
	"tenon/internal/owner"
)

// Index holds the objects that pods and nodes refer to. It keeps the objects that it is given and
// never changes them. One goroutine writes, and no other reads at the same time.
type Index struct {
	namespaces   map[string]map[string]string // labels by name
	claims       map[key]*corev1.PersistentVolumeClaim
	volumes      map[string]*corev1.PersistentVolume
	classes      map[string]*storagev1.StorageClass
	attachments  map[string]*storagev1.CSINode
	priorities   map[string]*schedulingv1.PriorityClass
	limits       namespaced[*corev1.LimitRange]
	quotas       namespaced[*corev1.ResourceQuota]
	services     namespaced[*corev1.Service]
	disruptions  namespaced[*policyv1.PodDisruptionBudget]
	replicators  map[key]*corev1.ReplicationController
	replicaSets  map[key]*appsv1.ReplicaSet
	statefulSets map[key]*appsv1.StatefulSet
	deployments  map[key]*appsv1.Deployment
	jobs         map[key]*batchv1.Job
	buffers      map[key]*autoscalingv1beta1.CapacityBuffer
	requests     map[key]*autoscalingv1.ProvisioningRequest
	podTemplates map[key]*corev1.PodTemplate
	consumers    consumers
	former       former
	heirs        heirs
}

// key names an object within its kind.
type key struct{ namespace, name string }

func keyOf(o metav1.Object) key { return key{namespaceOf(o), o.GetName()} }

// namespaceOf is the namespace into which kubectl would put an object that names none.
func namespaceOf(o metav1.Object) string {
	if ns := o.GetNamespace(); ns != "" {
		return ns
	}
	return metav1.NamespaceDefault
}

// namespaced holds objects by namespace and name.
type namespaced[T metav1.Object] map[string]map[string]T

func (n namespaced[T]) put(o T) {
	k := keyOf(o)
	if n[k.namespace] == nil {
		n[k.namespace] = map[string]T{}
	}
	n[k.namespace][k.name] = o
}

func (n namespaced[T]) remove(o T) {
	k := keyOf(o)
	delete(n[k.namespace], k.name)
}

// in lists a namespace's objects by name.
func (n namespaced[T]) in(namespace string) []T {
	byName := n[namespace]
	out := make([]T, 0, len(byName))
	for _, name := range order.Keys(byName) {
		out = append(out, byName[name])
	}
	return out
}

// NewIndex makes an empty index.
func NewIndex() *Index {
	return &Index{
		namespaces:   map[string]map[string]string{},
		claims:       map[key]*corev1.PersistentVolumeClaim{},
		volumes:      map[string]*corev1.PersistentVolume{},
		classes:      map[string]*storagev1.StorageClass{},
		attachments:  map[string]*storagev1.CSINode{},
		priorities:   map[string]*schedulingv1.PriorityClass{},
		limits:       namespaced[*corev1.LimitRange]{},
		quotas:       namespaced[*corev1.ResourceQuota]{},
		services:     namespaced[*corev1.Service]{},
		disruptions:  namespaced[*policyv1.PodDisruptionBudget]{},
		replicators:  map[key]*corev1.ReplicationController{},
		replicaSets:  map[key]*appsv1.ReplicaSet{},
		statefulSets: map[key]*appsv1.StatefulSet{},
		deployments:  map[key]*appsv1.Deployment{},
		jobs:         map[key]*batchv1.Job{},
		buffers:      map[key]*autoscalingv1beta1.CapacityBuffer{},
		requests:     map[key]*autoscalingv1.ProvisioningRequest{},
		podTemplates: map[key]*corev1.PodTemplate{},
		consumers:    consumers{},
		former:       former{parents: map[owner.Ref]owner.Ref{}},
		heirs:        heirs{},
	}
}

// Put adds an object or replaces the one of the same name. It reports whether the index holds
// objects of this kind.
func (x *Index) Put(object any) bool {
	switch o := object.(type) {
	case *corev1.Namespace:
		x.namespaces[o.Name] = o.Labels
	case *corev1.PersistentVolumeClaim:
		x.claims[keyOf(o)] = o
	case *corev1.PersistentVolume:
		x.volumes[o.Name] = o
	case *storagev1.StorageClass:
		x.classes[o.Name] = o
	case *storagev1.CSINode:
		x.attachments[o.Name] = o
	case *schedulingv1.PriorityClass:
		x.priorities[o.Name] = o
	case *corev1.LimitRange:
		x.limits.put(o)
	case *corev1.ResourceQuota:
		x.quotas.put(o)
	case *corev1.Service:
		x.services.put(o)
	case *policyv1.PodDisruptionBudget:
		x.disruptions.put(o)
	default:
		return x.putWorkload(object)
	}
	return true
}

func (x *Index) putWorkload(object any) bool {
	switch o := object.(type) {
	case *corev1.ReplicationController:
		x.replicators[keyOf(o)] = o
	case *appsv1.ReplicaSet:
		x.former.note(x.replicaSets[keyOf(o)], o)
		x.replicaSets[keyOf(o)] = o
	case *appsv1.StatefulSet:
		x.statefulSets[keyOf(o)] = o
	case *appsv1.Deployment:
		x.deployments[keyOf(o)] = o
	case *batchv1.Job:
		x.jobs[keyOf(o)] = o
	case *autoscalingv1beta1.CapacityBuffer:
		x.buffers[keyOf(o)] = o
	case *autoscalingv1.ProvisioningRequest:
		x.requests[keyOf(o)] = o
	case *corev1.PodTemplate:
		x.podTemplates[keyOf(o)] = o
	default:
		return false
	}
	return true
}

// Find returns the object of this kind and name that Put received last, or nil. Of a namespace only
// the labels are kept.
func (x *Index) Find(object any) any {
	switch o := object.(type) {
	case *corev1.Namespace:
		if labels, ok := x.namespaces[o.Name]; ok {
			return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.Name, Labels: labels}}
		}
	case *corev1.PersistentVolumeClaim:
		return found(x.claims, keyOf(o))
	case *corev1.PersistentVolume:
		return found(x.volumes, o.Name)
	case *storagev1.StorageClass:
		return found(x.classes, o.Name)
	case *storagev1.CSINode:
		return found(x.attachments, o.Name)
	case *schedulingv1.PriorityClass:
		return found(x.priorities, o.Name)
	case *corev1.LimitRange:
		return found(x.limits[namespaceOf(o)], o.Name)
	case *corev1.ResourceQuota:
		return found(x.quotas[namespaceOf(o)], o.Name)
	case *corev1.Service:
		return found(x.services[namespaceOf(o)], o.Name)
	case *policyv1.PodDisruptionBudget:
		return found(x.disruptions[namespaceOf(o)], o.Name)
	case *corev1.ReplicationController:
		return found(x.replicators, keyOf(o))
	case *appsv1.ReplicaSet:
		return found(x.replicaSets, keyOf(o))
	case *appsv1.StatefulSet:
		return found(x.statefulSets, keyOf(o))
	case *appsv1.Deployment:
		return found(x.deployments, keyOf(o))
	case *batchv1.Job:
		return found(x.jobs, keyOf(o))
	case *autoscalingv1beta1.CapacityBuffer:
		return found(x.buffers, keyOf(o))
	case *autoscalingv1.ProvisioningRequest:
		return found(x.requests, keyOf(o))
	case *corev1.PodTemplate:
		return found(x.podTemplates, keyOf(o))
	}
	return nil
}

// found returns a value of a map as an interface that is nil when the value is.
func found[K comparable, V any](m map[K]V, k K) any {
	if v, ok := m[k]; ok {
		return v
	}
	return nil
}

// Remove removes an object. Only its kind and name matter.
func (x *Index) Remove(object any) bool {
	switch o := object.(type) {
	case *corev1.Namespace:
		delete(x.namespaces, o.Name)
	case *corev1.PersistentVolumeClaim:
		delete(x.claims, keyOf(o))
	case *corev1.PersistentVolume:
		delete(x.volumes, o.Name)
	case *storagev1.StorageClass:
		delete(x.classes, o.Name)
	case *storagev1.CSINode:
		delete(x.attachments, o.Name)
	case *schedulingv1.PriorityClass:
		delete(x.priorities, o.Name)
	case *corev1.LimitRange:
		x.limits.remove(o)
	case *corev1.ResourceQuota:
		x.quotas.remove(o)
	case *corev1.Service:
		x.services.remove(o)
	case *policyv1.PodDisruptionBudget:
		x.disruptions.remove(o)
	default:
		return x.removeWorkload(object)
	}
	return true
}

func (x *Index) removeWorkload(object any) bool {
	switch o := object.(type) {
	case *corev1.ReplicationController:
		delete(x.replicators, keyOf(o))
	case *appsv1.ReplicaSet:
		x.former.note(x.replicaSets[keyOf(o)], nil)
		delete(x.replicaSets, keyOf(o))
	case *appsv1.StatefulSet:
		delete(x.statefulSets, keyOf(o))
	case *appsv1.Deployment:
		delete(x.deployments, keyOf(o))
	case *batchv1.Job:
		delete(x.jobs, keyOf(o))
	case *autoscalingv1beta1.CapacityBuffer:
		delete(x.buffers, keyOf(o))
	case *autoscalingv1.ProvisioningRequest:
		delete(x.requests, keyOf(o))
	case *corev1.PodTemplate:
		delete(x.podTemplates, keyOf(o))
	default:
		return false
	}
	return true
}

// sawNamespace makes sure that a namespace counts although its object was not given.
func (x *Index) sawNamespace(name string) {
	if _, known := x.namespaces[name]; !known {
		x.namespaces[name] = map[string]string{corev1.LabelMetadataName: name}
	}
}

// namespacesMatching lists, sorted, the namespaces that a selector matches.
func (x *Index) namespacesMatching(s *metav1.LabelSelector) []string {
	want := selector(s)
	var out []string
	for name, labels := range x.namespaces {
		if want.Matches(labels) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Heard reports whether the ReplicaSet is known.
func (x *Index) Heard(replicaSet owner.Ref) bool {
	_, known := named(x.replicaSets, "ReplicaSet", replicaSet)
	return known
}

// Wanted is how many pods a ReplicaSet is to have; false if the ReplicaSet is not known, or is being deleted.
func (x *Index) Wanted(replicaSet owner.Ref) (int, bool) {
	set, known := named(x.replicaSets, "ReplicaSet", replicaSet)
	if !known || set.DeletionTimestamp != nil {
		return 0, false
	}
	return int(ptr.Deref(set.Spec.Replicas, 1)), true
}

// Hindered reports whether something, such as a quota, keeps a ReplicaSet from creating its pods, or from deleting them.
func (x *Index) Hindered(replicaSet owner.Ref) bool {
	set, known := named(x.replicaSets, "ReplicaSet", replicaSet)
	return known && slices.ContainsFunc(set.Status.Conditions, func(c appsv1.ReplicaSetCondition) bool {
		return c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == "True"
	})
}

// Target is Wanted once the Deployment is followed: when many are scaled down, the last sets hear of it seconds later. No set is to have
// more pods than its Deployment wants.
func (x *Index) Target(replicaSet owner.Ref) (int, bool) {
	wanted, known := x.Wanted(replicaSet)
	if d, owned := named(x.deployments, "Deployment", x.Parent(replicaSet)); owned && d.DeletionTimestamp == nil {
		wanted = min(wanted, int(ptr.Deref(d.Spec.Replicas, 1)))
	}
	return wanted, known
}

// Quotas are the ResourceQuotas of a namespace, by name.
func (x *Index) Quotas(namespace string) []*corev1.ResourceQuota { return x.quotas.in(namespace) }

// Ranges are the LimitRanges of a namespace, by name.
func (x *Index) Ranges(namespace string) []*corev1.LimitRange { return x.limits.in(namespace) }

// named returns the object of the group apps and of this kind that a reference names.
func named[T metav1.Object](objects map[key]T, kind string, ref owner.Ref) (T, bool) {
	o, known := objects[key{ref.Namespace, ref.Name}]
	if !known || owner.Is("apps/v1", kind, o) != ref {
		var none T
		return none, false
	}
	return o, true
}

// Workload is the top owner of a pod: Deployments and CronJobs are found through the objects that
// they own. It is empty for a pod without an owner.
func (x *Index) Workload(pod *corev1.Pod) owner.Ref {
	direct := owner.Of(pod)
	if above := x.Parent(direct); above != direct {
		return above
	}
	if job, known := x.jobs[key{direct.Namespace, direct.Name}]; known && owner.Is("batch/v1", "Job", job) == direct {
		return cmp.Or(owner.Of(job), direct)
	}
	return direct
}

// Parent is the Deployment that a ReplicaSet belongs to, also after the ReplicaSet was deleted, or
// the ReplicaSet itself.
func (x *Index) Parent(replicaSet owner.Ref) owner.Ref {
	if set, known := named(x.replicaSets, "ReplicaSet", replicaSet); known {
		return cmp.Or(owner.Of(set), replicaSet)
	}
	return cmp.Or(x.former.parents[replicaSet], replicaSet)
}

// ownerText names the workload of a pod as users know it, such as "Deployment/web". Without the
// ReplicaSet object, the Deployment's name is that of the ReplicaSet less the template hash.
func (x *Index) ownerText(pod *corev1.Pod) string {
	ref := x.Workload(pod)
	if name, guessed := x.guess(pod); guessed {
		return "Deployment/" + name
	}
	if ref.None() {
		return ""
	}
	return ref.Kind + "/" + ref.Name
}

// guess derives the name of the Deployment of a pod whose ReplicaSet is not known.
func (x *Index) guess(pod *corev1.Pod) (string, bool) {
	ref := owner.Of(pod)
	if _, known := x.replicaSets[key{ref.Namespace, ref.Name}]; known || !ref.IsA("apps/v1", "ReplicaSet") {
		return "", false
	}
	name, ok := strings.CutSuffix(ref.Name, "-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey])
	return name, ok && name != ""
}

// priority is a pod's priority: its own if admission has filled it in, otherwise that of its class,
// otherwise the cluster's default.
func (x *Index) priority(spec *corev1.PodSpec) int32 {
	if spec.Priority != nil {
		return *spec.Priority
	}
	if spec.PriorityClassName == "" {
		return x.defaultPriority()
	}
	if class, ok := x.priorities[spec.PriorityClassName]; ok {
		return class.Value
	}
	return systemPriorities[spec.PriorityClassName]
}

// systemPriorities are the classes that every cluster has.
var systemPriorities = map[string]int32{
	"system-cluster-critical": 2_000_000_000,
	"system-node-critical":    2_000_001_000,
}

// defaultPriority is the lowest of the classes that are marked as default, as at admission.
func (x *Index) defaultPriority() int32 {
	var found *schedulingv1.PriorityClass
	for _, class := range x.priorities {
		if class.GlobalDefault && (found == nil || class.Value < found.Value) {
			found = class
		}
	}
	if found == nil {
		return 0
	}
	return found.Value
}
