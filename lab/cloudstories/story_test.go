package cloudstories

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
)

// story is one test that has the lab to itself.
type story struct {
	labtest.Story
	aws    labtest.AWS
	before int // the number of machines that earlier stories had
}

type machine = labtest.AWSInstance

func quoted(words []string) string { return `["` + strings.Join(words, `","`) + `"]` }

func tell(t *testing.T) *story {
	t.Helper()
	return begin(t, labtest.Start(t))
}

func begin(t *testing.T, lab *labtest.Lab) *story {
	t.Helper()
	s := &story{Story: lab.Story(t, long), aws: lab.AWS(t)}
	s.aws.ForgetCalls(t)
	s.before = len(s.aws.Instances(t))
	t.Cleanup(s.end)
	return s
}

// long is the limit for things that take minutes: refresh periods, backoff, hundreds of machines.
const long = 6 * time.Minute

// end removes what the story made, in the order in which a user would. Every story checks that everything
// goes, and that AWS has nothing left that costs money.
func (s *story) end() {
	s.aws.Mend(s)
	if s.Failed() {
		s.describe()
	}
	for _, kinds := range [][]client.ObjectList{
		{&appsv1.DeploymentList{}}, {&v1.PodList{}, &karpenterv1.NodePoolList{}},
		{&karpenterv1.NodeClaimList{}, &v1.NodeList{}}, {&awsv1.EC2NodeClassList{}},
	} {
		s.removeAll(kinds...)
	}
	for _, i := range s.aws.Instances(s) {
		if i.Alive() {
			s.Errorf("there still is %+v", i)
		}
	}
}

// removeAll deletes all objects of some kinds, one by one as a burst of hundreds is too much for one
// request, and waits until they are gone.
func (s *story) removeAll(lists ...client.ObjectList) {
	s.Helper()
	s.Eventually("clean up", func(ctx context.Context) (bool, string) {
		var left []string
		for _, list := range lists {
			n, err := s.removeEach(ctx, list)
			if n > 0 || err != nil {
				left = append(left, fmt.Sprintf("%d %T, %v", n, list, err))
			}
		}
		return len(left) == 0, fmt.Sprintf("these do not go: %v", left)
	})
}

func (s *story) removeEach(ctx context.Context, list client.ObjectList) (left int, err error) {
	if err := s.Lab.Client.List(ctx, list); err != nil {
		return 0, err
	}
	err = meta.EachListItem(list, func(item runtime.Object) error {
		object := item.(client.Object)
		left++
		if object.GetDeletionTimestamp() != nil {
			return nil
		}
		return client.IgnoreNotFound(s.Lab.Client.Delete(ctx, object, client.GracePeriodSeconds(0)))
	})
	return left, err
}

// describe prints the state of the cluster when the story failed.
func (s *story) describe() {
	for _, claim := range s.claims(context.Background()) {
		if !meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionInitialized) {
			s.Logf("claim %s: %+v", claim.Name, claim.Status.Conditions)
		}
	}
	for _, i := range s.aws.Instances(s) {
		if i.Alive() && strings.Contains(i.Console, "never") {
			s.Logf("instance %+v", i)
		}
	}
}

// class makes a node class like those of tutorials, of an alias.
func (s *story) class(name, alias string, change ...func(*awsv1.EC2NodeClassSpec)) *awsv1.EC2NodeClass {
	s.Helper()
	discovery := map[string]string{"karpenter.sh/discovery": "demo"}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: awsv1.EC2NodeClassSpec{
		Role:                       "karpenterNodeRole-demo",
		AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: alias}},
		SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: discovery}},
		SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: discovery}},
	}}
	for _, how := range change {
		how(&class.Spec)
	}
	s.Create(class)
	return class
}

// pool makes a pool of the class of the same name, whose nodes only pods for it may use.
func (s *story) pool(name string, asks map[string]string) *karpenterv1.NodePool {
	s.Helper()
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	spec := &pool.Spec.Template.Spec
	spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: name}
	spec.Taints = []v1.Taint{{Key: "pool", Value: name, Effect: v1.TaintEffectNoSchedule}}
	for _, key := range slices.Sorted(maps.Keys(asks)) {
		spec.Requirements = append(spec.Requirements, karpenterv1.Requirement{Key: key, Operator: v1.NodeSelectorOpIn, Values: strings.Split(asks[key], ",")})
	}
	// Stories are about AWS: unneeded nodes are not taken away.
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "0"}}
	s.Create(pool)
	return pool
}

// small are pools of machines with room for one of the pods that deploy makes.
var small = map[string]string{
	awsv1.LabelInstanceCPU:      "2",
	awsv1.LabelInstanceCategory: "c,m,r",
	v1.LabelArchStable:          "amd64",
}

// and returns a pool's demands with further ones.
func and(asks map[string]string, more ...string) map[string]string {
	out := maps.Clone(asks)
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// deploy makes pods for a pool, of which one fits on a small machine.
func (s *story) deploy(pool string, replicas int32) {
	s.Helper()
	s.deployOf(pool, replicas, "1")
}

func (s *story) deployOf(pool string, replicas int32, cpu string) {
	s.Helper()
	labels := map[string]string{"app": pool}
	s.Create(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: pool}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: v1.PodSpec{
			TerminationGracePeriodSeconds: new(int64),
			NodeSelector:                  map[string]string{karpenterv1.LabelNodePool: pool},
			Tolerations:                   []v1.Toleration{{Key: "pool", Value: pool}},
			Containers: []v1.Container{{Name: "main", Image: "example.com/web:1", Resources: v1.ResourceRequirements{
				Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)},
			}}},
		}},
	}})
}

// claims returns all claims, in the order of their names.
func (s *story) claims(ctx context.Context) []karpenterv1.NodeClaim {
	s.Helper()
	list := &karpenterv1.NodeClaimList{}
	if err := s.Lab.Client.List(ctx, list); err != nil {
		s.Error(err)
	}
	return list.Items
}

// calls counts the calls of an operation that succeeded, and those that failed.
func (s *story) calls(service, operation string) (well, ill int) {
	s.Helper()
	for _, call := range s.aws.Calls(s) {
		switch {
		case call.Service != service || call.Operation != operation:
		case call.Code == "":
			well++
		default:
			ill++
		}
	}
	return well, ill
}

func (s *story) alive() (list []machine) {
	s.Helper()
	return slices.DeleteFunc(s.aws.Instances(s), func(i machine) bool { return !i.Alive() })
}
