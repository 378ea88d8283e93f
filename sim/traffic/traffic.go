// Package traffic simulates the users of a cluster: they begin with a pool and some workloads, scale them
// through the day, roll them out, and run jobs at night.
//
// Everything comes from dice, so a seed determines a whole week. The package must not look at nodes.
package traffic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/sim/cluster"
	"tenon/sim/invariant"
)

// Users are the users of one cluster.
type Users struct {
	Client client.Client
	Dice   *rand.Rand
	Now    func() time.Time
	Later  func(at time.Time, what string, do func())
	// Size is roughly how many pods run by day.
	Size int
	// Limit is how many cores the pool may have; zero means enough.
	Limit int
	// OnDemand makes the pool buy no spot machines.
	OnDemand bool
	// Empties makes the pool's policy WhenEmpty.
	Empties bool
	// Buffers are the dice for capacity buffers; nil means none.
	Buffers *rand.Rand

	apps    []string
	scaled  []app // by an autoscaler
	sets    int   // stateful ones
	stopped bool
	jobs    int
}

// namespace is the namespace of the users' workloads.
const namespace = "default"

// Begin makes the first objects.
func (u *Users) Begin(ctx context.Context) error {
	if err := u.Furnish(ctx); err != nil {
		return err
	}
	for left := u.Size; left > 0; {
		replicas := min(1+u.Dice.IntN(max(u.Size/8, 2)), left)
		left -= replicas
		if err := u.begin(ctx, int32(replicas)); err != nil {
			return err
		}
	}
	if u.Dice.IntN(3) == 0 { // most clusters have a pod that never fits
		if err := u.misfit(ctx); err != nil {
			return err
		}
	}
	u.Later(u.Now().Add(u.wait(10*time.Minute)), "users", u.act)
	u.Later(u.Now().Add(u.wait(step)), "autoscaler", u.follow)
	if u.Buffers != nil {
		u.Later(u.Now().Add(time.Minute), "buffers", u.buffer)
	}
	return nil
}

// Furnish makes a class, a pool and a daemon, and nothing that needs a node.
func (u *Users) Furnish(ctx context.Context) error {
	for _, object := range append([]client.Object{u.class(), u.pool(), u.daemon()}, ranks()...) {
		if err := u.Client.Create(ctx, object); err != nil {
			return fmt.Errorf("make %T: %w", object, err)
		}
	}
	return u.Judge(ctx)
}

// Stop ends the users' actions. Some leave a pod behind that no node can hold.
func (u *Users) Stop(ctx context.Context) error {
	u.stopped = true
	if u.Dice.IntN(3) > 0 {
		return nil
	}
	return client.IgnoreAlreadyExists(u.misfit(ctx))
}

// misfit returns a pod that no node can hold. It makes the product decide again and again.
func (u *Users) misfit(ctx context.Context) error {
	template := u.template("misfit", 1_000_000, 1024)
	template.Annotations = map[string]string{invariant.Infeasible: "true"}
	return u.Client.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "misfit"},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	})
}

func (u *Users) wait(about time.Duration) time.Duration {
	return time.Duration(u.Dice.ExpFloat64() * float64(about))
}

func (u *Users) class() *awsv1.EC2NodeClass {
	return &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec: awsv1.EC2NodeClassSpec{
			Role:                       "role",
			AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"cluster": "sim"}}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"cluster": "sim"}}},
		},
	}
}

// Pool returns a pool like the first, with another name.
func (u *Users) Pool(name string) *karpenterv1.NodePool {
	pool := u.pool()
	pool.Name = name
	return pool
}

func (u *Users) pool() *karpenterv1.NodePool {
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	spec := &pool.Spec.Template.Spec
	spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	spec.Requirements = []karpenterv1.Requirement{
		{Key: corev1.LabelArchStable, Operator: "In", Values: []string{"amd64"}},
		{Key: karpenterv1.LabelCapacityType, Operator: "In", Values: []string{"spot", "on-demand"}},
	}
	if u.Size > 0 {
		// An unset value would be written as "Never".
		pool.Spec.Disruption.ConsolidateAfter = karpenterv1.DurationOf(time.Minute)
		pool.Spec.Limits = karpenterv1.Limits{corev1.ResourceCPU: *resource.NewQuantity(int64(8*u.Size), resource.DecimalSI)}
	}
	if u.Limit > 0 {
		pool.Spec.Limits = karpenterv1.Limits{corev1.ResourceCPU: *resource.NewQuantity(int64(u.Limit), resource.DecimalSI)}
	}
	if u.Empties {
		pool.Spec.Disruption.ConsolidationPolicy = karpenterv1.ConsolidateWhenEmpty
	}
	if u.OnDemand {
		spec.Requirements[1].Values = []string{"on-demand"}
	}
	return pool
}

// Judge sets the conditions of class and pool to ready, as their controllers would.
func (u *Users) Judge(ctx context.Context) error {
	ready := func(kinds ...string) []metav1.Condition {
		var out []metav1.Condition
		for _, kind := range kinds {
			out = append(out, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(u.Now())})
		}
		return out
	}
	class := &awsv1.EC2NodeClass{}
	if err := u.Client.Get(ctx, client.ObjectKey{Name: "default"}, class); err != nil {
		return err
	}
	class.Status.Conditions = ready("Ready")
	if err := u.Client.Status().Update(ctx, class); err != nil {
		return err
	}
	pool := &karpenterv1.NodePool{}
	if err := u.Client.Get(ctx, client.ObjectKey{Name: "default"}, pool); err != nil {
		return err
	}
	pool.Status.Conditions = ready("Ready", karpenterv1.ConditionValidationSucceeded, karpenterv1.ConditionNodeClassReady)
	return u.Client.Status().Update(ctx, pool)
}

// template is a pod of some size.
func (u *Users) template(app string, cpuMilli, memoryMebi int64) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "example.com/" + app + ":1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(cpuMilli, resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(memoryMebi<<20, resource.BinarySI),
			}},
		}}},
	}
}

func (u *Users) daemon() *appsv1.DaemonSet {
	template := u.template("agent", 50, 64)
	template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent"},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	}
}

// act performs one action of the users, and schedules the next.
func (u *Users) act() {
	if u.stopped {
		return
	}
	ctx := context.Background()
	// When a user's action fails, the user will try something else: nothing here depends on it.
	switch u.Dice.IntN(10) {
	case 0, 1:
		_ = u.job(ctx)
	case 2:
		_ = u.rollOut(ctx)
	default:
		_ = u.scale(ctx)
	}
	u.Later(u.Now().Add(u.wait(10*time.Minute)), "users", u.act)
}

func (u *Users) any(ctx context.Context) (*appsv1.Deployment, error) {
	var d appsv1.Deployment
	err := u.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: u.apps[u.Dice.IntN(len(u.apps))]}, &d)
	return &d, err
}

// scale follows the day: more by day, fewer by night.
func (u *Users) scale(ctx context.Context) error {
	if len(u.apps) == 0 {
		return nil
	}
	d, err := u.any(ctx)
	if err != nil {
		return err
	}
	most := max(2*u.Size/len(u.apps), 2)
	if hour := u.Now().UTC().Hour(); hour < 7 || hour > 20 {
		most = max(most/3, 1)
	}
	d.Spec.Replicas = ptr.To(int32(1 + u.Dice.IntN(most)))
	return u.Client.Update(ctx, d)
}

func (u *Users) rollOut(ctx context.Context) error {
	if len(u.apps) == 0 {
		return nil
	}
	d, err := u.any(ctx)
	if err != nil {
		return err
	}
	d.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("example.com/%s:%d", d.Name, d.Generation+1)
	return u.Client.Update(ctx, d)
}

func (u *Users) job(ctx context.Context) error {
	u.jobs++
	name := fmt.Sprintf("job-%d", u.jobs)
	template := u.template(name, int64(500*(1+u.Dice.IntN(8))), int64(512*(1+u.Dice.IntN(8))))
	template.Annotations = map[string]string{
		cluster.RunsFor: (time.Minute + u.wait(20*time.Minute)).Round(time.Second).String(),
	}
	if u.Dice.IntN(2) == 0 {
		template.Annotations[karpenterv1.AnnotationDoNotDisrupt] = "true"
	}
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	n := int32(1 + u.Dice.IntN(4))
	return u.Client.Create(ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       batchv1.JobSpec{Parallelism: &n, Completions: &n, Template: template},
	})
}
