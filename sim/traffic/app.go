package traffic

import (
	"context"
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/sim/cluster"
)

// Names of objects to which some apps refer.
const (
	urgent = "urgent" // pods that may preempt others
	idle   = "idle"   // pods that all others may preempt
	disks  = "disks"  // volumes that are in one zone
)

// ranks are the priority classes, and the class of volumes.
func ranks() []client.Object {
	return []client.Object{
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: urgent}, Value: 1000},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: idle}, Value: -10, PreemptionPolicy: ptr.To(corev1.PreemptNever)},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: disks}, Provisioner: cluster.Driver,
			VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)},
	}
}

// begin makes an app of a random kind: most are deployments, some are stateful sets.
func (u *Users) begin(ctx context.Context, replicas int32) error {
	name := fmt.Sprintf("app-%d", len(u.apps)+u.sets)
	template := u.template(name, int64(100*(1+u.Dice.IntN(20))), int64(128*(1+u.Dice.IntN(24))))
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	u.season(&template.Spec, selector, replicas)
	if u.Dice.IntN(6) == 0 {
		u.sets++
		return u.keep(ctx, name, min(replicas, 5), template, selector)
	}
	return u.deploy(ctx, name, replicas, template, selector)
}

// season gives pods random constraints.
func (u *Users) season(spec *corev1.PodSpec, selector *metav1.LabelSelector, replicas int32) {
	switch u.Dice.IntN(12) {
	case 0, 1, 2:
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector,
		}}
	case 3:
		if replicas <= 6 {
			spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, LabelSelector: selector,
			}}}}
		}
	case 4:
		spec.NodeSelector = map[string]string{karpenterv1.LabelCapacityType: "on-demand"}
	case 5:
		spec.TerminationGracePeriodSeconds = ptr.To(int64(u.Dice.IntN(300)))
	}
	switch u.Dice.IntN(8) {
	case 0:
		spec.PriorityClassName = urgent
	case 1:
		spec.PriorityClassName = idle
	}
}

// deploy makes a deployment. Some have a budget, and some an autoscaler.
func (u *Users) deploy(ctx context.Context, name string, replicas int32, template corev1.PodTemplateSpec, selector *metav1.LabelSelector) error {
	u.apps = append(u.apps, name)
	if u.Dice.IntN(3) == 0 {
		u.scaled = append(u.scaled, app{name, replicas})
	}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: template},
	}
	if err := u.Client.Create(ctx, d); err != nil {
		return fmt.Errorf("make deployment %s: %w", name, err)
	}
	return u.guard(ctx, name, replicas, selector)
}

// guard gives some apps a budget.
func (u *Users) guard(ctx context.Context, name string, replicas int32, selector *metav1.LabelSelector) error {
	if replicas < 2 || u.Dice.IntN(2) == 0 {
		return nil
	}
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.FromInt(1)), Selector: selector},
	}
	return u.Client.Create(ctx, budget)
}

// keep makes a stateful set, mostly with a volume for each pod.
func (u *Users) keep(ctx context.Context, name string, replicas int32, template corev1.PodTemplateSpec, selector *metav1.LabelSelector) error {
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       appsv1.StatefulSetSpec{Replicas: &replicas, Selector: selector, Template: template, ServiceName: name},
	}
	if u.Dice.IntN(4) > 0 {
		// Volumes that were made while there were few zones cannot be spread over more.
		set.Spec.Template.Spec.TopologySpreadConstraints = nil
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: ptr.To(disks), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}},
			},
		}}
	}
	if err := u.Client.Create(ctx, set); err != nil {
		return fmt.Errorf("make stateful set %s: %w", name, err)
	}
	return u.guard(ctx, name, replicas, selector)
}

// app is a deployment with an autoscaler, and its number of pods in the middle of the day.
type app struct {
	name string
	size int32
}

// The parameters of an autoscaler: how often it checks, the difference at which it acts, and the
// largest change at once.
const (
	step      = 5 * time.Minute
	tolerance = 0.1
	farthest  = 2.0
)

// follow makes the autoscaled apps follow the load of the day.
func (u *Users) follow() {
	if u.stopped {
		return
	}
	ctx := context.Background()
	for _, a := range u.scaled {
		var d appsv1.Deployment
		if u.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: a.name}, &d) != nil {
			continue
		}
		now, load := float64(*d.Spec.Replicas), u.load()*(0.9+0.2*u.Dice.Float64())
		want := min(max(math.Ceil(load*float64(a.size)), 1, now/farthest), now*farthest)
		if math.Abs(want-now) > tolerance*now {
			d.Spec.Replicas = ptr.To(int32(math.Ceil(want)))
			_ = u.Client.Update(ctx, &d) // it was just read
		}
	}
	u.Later(u.Now().Add(step), "autoscaler", u.follow)
}

// load is a fraction of the maximum: a wave that peaks at two in the afternoon, lower at the
// weekend.
func (u *Users) load() float64 {
	t := u.Now().UTC()
	hour := float64(t.Hour()) + float64(t.Minute())/60
	load := 0.6 + 0.4*math.Cos((hour-14)/24*2*math.Pi)
	if day := t.Weekday(); day == time.Saturday || day == time.Sunday {
		load *= 0.6
	}
	return load
}
