package turnover

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
)

// class makes the story's node class, like those of tutorials.
func (s *story) class(change ...func(*awsv1.EC2NodeClassSpec)) *awsv1.EC2NodeClass {
	s.Helper()
	discovery := map[string]string{"karpenter.sh/discovery": "demo"}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace, Labels: s.mine()}, Spec: awsv1.EC2NodeClassSpec{
		Role:                       "karpenterNodeRole-demo",
		AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
		SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: discovery}},
		SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: discovery}},
	}}
	for _, how := range change {
		how(&class.Spec)
	}
	s.Create(class)
	return class
}

// asks are a pool's requirements: keys, and values with commas.
type asks map[string]string

// onDemand returns requirements for some types at fixed prices.
func onDemand(types ...string) asks {
	return asks{v1.LabelInstanceTypeStable: strings.Join(types, ","), karpenterv1.LabelCapacityType: "on-demand"}
}

// list returns the requirements in the form of the API.
func (a asks) list() []karpenterv1.Requirement {
	var out []karpenterv1.Requirement
	for _, key := range slices.Sorted(maps.Keys(a)) {
		out = append(out, karpenterv1.Requirement{Key: key, Operator: v1.NodeSelectorOpIn, Values: strings.Split(a[key], ",")})
	}
	return out
}

// require changes a pool's requirements, which its existing nodes do not meet.
func (s *story) require(pool *karpenterv1.NodePool, asks asks) {
	s.Helper()
	text, err := json.Marshal(asks.list())
	if err != nil {
		s.Fatal(err)
	}
	s.Patch(pool, fmt.Sprintf(`{"spec":{"template":{"spec":{"requirements":%s}}}}`, text))
}

// pool makes the story's pool. Its budget lets no node go until the test calls open.
func (s *story) pool(asks asks, change ...func(*karpenterv1.NodePool)) *karpenterv1.NodePool {
	s.Helper()
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace, Labels: s.mine()}}
	pool.Spec.Template.Labels = s.mine()
	spec := &pool.Spec.Template.Spec
	spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: s.Namespace}
	spec.Taints = []v1.Taint{{Key: storyLabel, Value: s.Namespace, Effect: v1.TaintEffectNoSchedule}}
	spec.Requirements = asks.list()
	pool.Spec.Disruption.ConsolidateAfter = karpenterv1.DurationOf(2 * time.Second)
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "0"}}
	for _, how := range change {
		how(pool)
	}
	s.Create(pool)
	return pool
}

// open sets the pool's budgets, given as JSON of the API.
func (s *story) open(pool *karpenterv1.NodePool, budgets ...string) {
	s.Helper()
	if len(budgets) == 0 {
		budgets = []string{`{"nodes":"100%"}`}
	}
	s.Patch(pool, `{"spec":{"disruption":{"budgets":[`+strings.Join(budgets, ",")+`]}}}`)
}

// deploy makes pods of so much CPU each, which run on the story's nodes only.
func (s *story) deploy(app string, replicas int32, cpu string, change ...func(*v1.PodTemplateSpec)) *appsv1.Deployment {
	s.Helper()
	labels := map[string]string{"app": app}
	template := v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{}}, Spec: v1.PodSpec{
		TerminationGracePeriodSeconds: ptr.To(int64(1)),
		NodeSelector:                  s.mine(),
		Tolerations:                   []v1.Toleration{{Key: storyLabel, Value: s.Namespace}},
		Containers: []v1.Container{{Name: "main", Image: "example.com/web:1", Resources: v1.ResourceRequirements{
			Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)},
		}}},
	}}
	for _, how := range change {
		how(&template)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: app}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template,
	}}
	s.Create(d)
	return d
}

// scatter makes nodes with one pod of app "web" each: filler pods make the nodes necessary, and are then
// deleted. A filler must leave room for one pod and not for two.
func (s *story) scatter(nodes int, web, filler string) []karpenterv1.NodeClaim {
	s.Helper()
	scatterAll([]*story{s}, nodes, web, filler)
	return s.claims()
}

// scatterAll does that for several stories at once.
func scatterAll(stories []*story, nodes int, web, filler string) {
	fillers := make([]*appsv1.Deployment, len(stories))
	for i, s := range stories {
		s.Helper()
		fillers[i] = s.deploy("filler", int32(nodes), filler)
	}
	for _, s := range stories {
		s.Running("filler", nodes)
		s.deploy("web", int32(nodes), web)
	}
	for i, s := range stories {
		if on := nodesOf(s.Running("web", nodes)); len(on) != nodes {
			s.Fatalf("the pods are on %v", on)
		}
		s.Delete(fillers[i])
	}
	for _, s := range stories {
		s.Running("filler", 0)
		if claims := s.claims(); len(claims) != nodes || !settled(claims) {
			s.Fatalf("%d nodes were wanted, there are %v", nodes, words(claims))
		}
	}
}

// nodesOf returns the nodes of pods, each once.
func nodesOf(pods []v1.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Spec.NodeName)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
