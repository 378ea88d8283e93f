package scenario

import (
	"encoding/json"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	autoscalingv1 "tenon/api/autoscaling/v1"
	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/sim/cluster"
)

// refused reports whether the API server refused a request.
func refused(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) }

// over merges YAML into a value: fields that it names are replaced, lists as a whole.
func over(value any, text string) error {
	if text == "" {
		return nil
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}

// pod is the pod that replicas, cpu, memory and the YAML of a line describe.
func (p *run) template(w wish) (corev1.PodTemplateSpec, error) {
	t := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": w.subject}}}
	requests := corev1.ResourceList{}
	for _, kind := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		quantity, err := resource.ParseQuantity(w.options[string(kind)])
		if err != nil {
			return t, fmt.Errorf("%s: %w", kind, err)
		}
		requests[kind] = quantity
	}
	t.Spec.Containers = []corev1.Container{{Name: "main", Image: "image", Resources: corev1.ResourceRequirements{Requests: requests}}}
	if port := w.options["port"]; port != "" {
		n, err := strconv.ParseInt(port, 10, 32)
		if err != nil {
			return t, err
		}
		t.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: int32(n), HostPort: int32(n)}}
	}
	if uses := w.options["uses"]; uses != "" {
		t.Annotations = map[string]string{autoscalingv1.AnnotationConsume: uses}
	}
	mine := &metav1.LabelSelector{MatchLabels: t.Labels}
	if w.options["spread"] == "zone" {
		t.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: mine}}
	}
	if w.options["apart"] == "node" {
		t.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: mine}}}}
	}
	return t, over(&t.Spec, w.extra)
}

func (p *run) replicas(w wish) (*int32, error) {
	n, err := strconv.ParseInt(w.options["replicas"], 10, 32)
	return ptr.To(int32(n)), err
}

// deploy makes a deployment: replicas, cpu, memory, and optionally port=80, spread=zone,
// apart=node, budget=1, which is how many pods may be unavailable.
func (p *run) deploy(w wish) error {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: w.subject}}
	var err error
	if d.Spec.Template, err = p.template(w); err != nil {
		return err
	}
	if d.Spec.Replicas, err = p.replicas(w); err != nil {
		return err
	}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: d.Spec.Template.Labels}
	if err := p.sim.Store.Create(p.ctx, d); err != nil || w.options["budget"] == "" {
		return err
	}
	return p.guard(w.subject, w.options["budget"])
}

// keep makes a stateful set with a volume for each pod.
func (p *run) keep(w wish) error {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: w.subject}}
	var err error
	if set.Spec.Template, err = p.template(w); err != nil {
		return err
	}
	if set.Spec.Replicas, err = p.replicas(w); err != nil {
		return err
	}
	set.Spec.ServiceName, set.Spec.Selector = w.subject, &metav1.LabelSelector{MatchLabels: set.Spec.Template.Labels}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To("disks"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}},
		},
	}}
	return p.sim.Store.Create(p.ctx, set)
}

// work makes a job, whose pods run for a time: replicas, cpu, memory, for=20m.
func (p *run) work(w wish) error {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: w.subject}}
	var err error
	if job.Spec.Template, err = p.template(w); err != nil {
		return err
	}
	if job.Spec.Parallelism, err = p.replicas(w); err != nil {
		return err
	}
	job.Spec.Completions = job.Spec.Parallelism
	job.Spec.Template.Annotations = map[string]string{cluster.RunsFor: w.options["for"]}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return p.sim.Store.Create(p.ctx, job)
}

// bind creates a pod without an owner on a node, as a scheduler with an old cache may do: on the
// first leaving node, or else on the first node.
func (p *run) bind(w wish) error {
	t, err := p.template(w)
	if err != nil {
		return err
	}
	node, err := p.aNode()
	if err != nil {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: w.subject, Labels: t.Labels}, Spec: t.Spec}
	if w.options["protected"] != "" {
		pod.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: w.options["protected"]}
	}
	pod.Spec.NodeName = node.Name
	return p.sim.Store.Create(p.ctx, pod)
}

// guard lets at most this many pods of an app be unavailable.
func (p *run) guard(name, most string) error {
	return p.sim.Store.Create(p.ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: ptr.To(intstr.Parse(most)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
	})
}

// budget makes a PodDisruptionBudget for an app: unavailable=0.
func (p *run) budget(w wish) error { return p.guard(w.subject, w.options["unavailable"]) }

// pool makes a pool like the first one, or changes an existing one.
func (p *run) pool(w wish) error {
	var pool karpenterv1.NodePool
	err := p.sim.Store.Get(p.ctx, client.ObjectKey{Name: w.subject}, &pool)
	switch {
	case err == nil:
		if err := over(&pool.Spec, w.extra); err != nil {
			return err
		}
		return p.sim.Store.Update(p.ctx, &pool)
	case !apierrors.IsNotFound(err):
		return err
	}
	fresh := p.users.Pool(w.subject)
	if err := over(&fresh.Spec, w.extra); err != nil {
		return err
	}
	return p.sim.Store.Create(p.ctx, fresh)
}

// class changes a node class, and optionally the image of its instances: image=new.
func (p *run) class(w wish) error {
	if image := w.options["image"]; image != "" {
		p.sim.Cloud.SetClass(w.subject, memory.Class{Image: image})
	}
	var class awsv1.EC2NodeClass
	if err := p.sim.Store.Get(p.ctx, client.ObjectKey{Name: w.subject}, &class); err != nil {
		return err
	}
	if err := over(&class.Spec, w.extra); err != nil {
		return err
	}
	return p.sim.Store.Update(p.ctx, &class)
}

// limit sets the limit of the first pool in cores.
func (p *run) limit(w wish) error {
	return p.pool(wish{subject: "default", extra: fmt.Sprintf("{limits: {cpu: %q}}", w.subject)})
}
