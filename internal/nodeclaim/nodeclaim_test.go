package nodeclaim_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/internal/ingest"
	"tenon/internal/nodeclaim"
)

const classLabel = "memory.tenon.dev/memorynodeclass"

func description() cloud.Description {
	return memory.New(memory.Options{}).Connect().Describe()
}

func pool() *karpenterv1.NodePool {
	p := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid-web",
		Annotations: map[string]string{karpenterv1.AnnotationNodePoolHash: "stale"}}}
	t := &p.Spec.Template
	t.Labels = map[string]string{"team": "red"}
	t.Annotations = map[string]string{"note": "ours"}
	t.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"}
	t.Spec.Taints = []corev1.Taint{{Key: "web", Effect: corev1.TaintEffectNoSchedule}}
	t.Spec.StartupTaints = []corev1.Taint{{Key: "agent", Effect: corev1.TaintEffectNoExecute}}
	t.Spec.ExpireAfter = karpenterv1.NeverEnding()
	t.Spec.Requirements = []karpenterv1.Requirement{
		{Key: "beta.kubernetes.io/arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
		{Key: "cell", Operator: corev1.NodeSelectorOpIn, Values: []string{"nine", "eight"}},
		{Key: "rack", Operator: karpenterv1.OperatorGte, Values: []string{"7"}},
		{Key: "shelf", Operator: corev1.NodeSelectorOpExists},
		{Key: "gone", Operator: corev1.NodeSelectorOpDoesNotExist},
	}
	return p
}

func TestForPool(t *testing.T) {
	t.Parallel()
	got, err := nodeclaim.New(description()).ForPool(pool())
	if err != nil {
		t.Fatal(err)
	}
	block := true
	want := &karpenterv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "web-",
			Labels: map[string]string{"team": "red", karpenterv1.LabelNodePool: "web", classLabel: "default",
				"cell": "eight", "rack": "7", "shelf": "0"},
			Annotations: map[string]string{"note": "ours",
				karpenterv1.AnnotationNodePoolHash: pool().Hash(), karpenterv1.AnnotationNodePoolHashVersion: "v3"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Name: "web",
				UID: "uid-web", BlockOwnerDeletion: &block}},
			Finalizers: []string{karpenterv1.FinalizerTermination},
		},
		Spec: karpenterv1.NodeClaimSpec{
			Taints:        pool().Spec.Template.Spec.Taints,
			StartupTaints: pool().Spec.Template.Spec.StartupTaints,
			NodeClassRef:  pool().Spec.Template.Spec.NodeClassRef,
			ExpireAfter:   karpenterv1.NeverEnding(),
			Requirements: []karpenterv1.Requirement{
				{Key: "cell", Operator: "In", Values: []string{"eight", "nine"}},
				{Key: "gone", Operator: "DoesNotExist"},
				{Key: "karpenter.sh/nodepool", Operator: "In", Values: []string{"web"}},
				{Key: "kubernetes.io/arch", Operator: "In", Values: []string{"amd64"}},
				{Key: classLabel, Operator: "In", Values: []string{"default"}},
				{Key: "rack", Operator: "Gte", Values: []string{"7"}},
				{Key: "shelf", Operator: "Exists"},
				{Key: "team", Operator: "In", Values: []string{"red"}},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claim (-want +got):\n%s", diff)
	}
}

func planned() *plan.Claim {
	return &plan.Claim{
		Name: "web-1", Pool: "web",
		Offer:        plan.Offer{InstanceType: "general-4", Zone: "memory-1a", CapacityType: catalog.Spot},
		Alternatives: plan.List(plan.Offer{InstanceType: "general-8", Zone: "memory-1a", CapacityType: catalog.OnDemand}),
		Requirements: requirement.NewSet(
			requirement.New(requirement.KeyNodePool, requirement.In, "web"),
			requirement.New(requirement.KeyHostname, requirement.In, "placeholder-1"),
			requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(2),
			requirement.New("rack", requirement.Gte, "3"), requirement.New("rack", requirement.Lte, "9"),
			requirement.New("rack", requirement.NotIn, "3", "4"),
		),
		Requests: model.Resources{CPU: 1150, Memory: 1 << 30, Pods: 5},
	}
}

func TestForPlan(t *testing.T) {
	t.Parallel()
	got := nodeclaim.New(description()).ForPlan(pool(), planned(), nil)
	two := 2
	want := []karpenterv1.Requirement{
		{Key: "karpenter.sh/capacity-type", Operator: "In", Values: []string{"on-demand", "spot"}},
		{Key: "karpenter.sh/nodepool", Operator: "In", Values: []string{"web"}},
		{Key: "node.kubernetes.io/instance-type", Operator: "In", Values: []string{"general-4", "general-8"}, MinValues: &two},
		{Key: "rack", Operator: "Gte", Values: []string{"3"}},
		{Key: "rack", Operator: "Lte", Values: []string{"9"}},
		{Key: "rack", Operator: "NotIn", Values: []string{"3", "4"}},
	}
	if diff := cmp.Diff(want, got.Spec.Requirements); diff != "" {
		t.Errorf("requirements (-want +got):\n%s", diff)
	}
	if got.Labels["rack"] != "5" {
		t.Errorf("rack %q, want the first that is allowed", got.Labels["rack"])
	}
	if v := got.Annotations[karpenterv1.AnnotationMinValuesRelaxed]; v != "false" {
		t.Errorf("minimum relaxed: %q", v)
	}
	requests := corev1.ResourceList{"cpu": resource.MustParse("1150m"), "memory": resource.MustParse("1Gi"), "pods": resource.MustParse("5")}
	if diff := cmp.Diff(requests, got.Spec.Resources.Requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	back, err := description().Vocabulary().Parse(ingest.Entries(got.Spec.Requirements)...)
	if err != nil || !back.Equal(planned().Narrowed().Without(requirement.KeyHostname)) {
		t.Errorf("read back: %v, %v", back, err)
	}
}

// TestOverlayAnnotations: any type that the claim may become counts, others do not.
func TestOverlayAnnotations(t *testing.T) {
	t.Parallel()
	offers := func(types ...catalog.Type) *catalog.Catalog { return &catalog.Catalog{Types: types} }
	cases := map[string]struct {
		offers          *catalog.Catalog
		price, capacity string
	}{
		"no overlay":                {offers(catalog.Type{Name: "general-4"}), "", ""},
		"a price of the planned":    {offers(catalog.Type{Name: "general-4", PriceOverlay: true}), "true", ""},
		"a capacity of another way": {offers(catalog.Type{Name: "general-8", CapacityOverlay: true}), "", "true"},
		"a type that is not meant":  {offers(catalog.Type{Name: "general-1", PriceOverlay: true, CapacityOverlay: true}), "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := nodeclaim.New(description()).ForPlan(pool(), planned(), tc.offers).Annotations
			if p, c := a[karpenterv1.AnnotationPriceOverlayApplied], a[karpenterv1.AnnotationCapacityOverlayApplied]; p != tc.price || c != tc.capacity {
				t.Errorf("price %q, capacity %q", p, c)
			}
		})
	}
}

// TestDefaultGracePeriod: the provider's is for pools that say none.
func TestDefaultGracePeriod(t *testing.T) {
	t.Parallel()
	d := description()
	d.TerminationGracePeriod = new(time.Duration)
	*d.TerminationGracePeriod = time.Hour
	own := pool()
	own.Spec.Template.Spec.TerminationGracePeriod = &scalar.Duration{Duration: time.Minute}
	for p, want := range map[*karpenterv1.NodePool]time.Duration{pool(): time.Hour, own: time.Minute} {
		if got := nodeclaim.New(d).ForPlan(p, planned(), nil).Spec.TerminationGracePeriod; got == nil || got.Duration != want {
			t.Errorf("grace period %v, want %v", got, want)
		}
	}
}

// TestNothingShared: a claim that is changed changes neither the pool nor the next claim,
// and two claims of one pool are the same to the byte.
func TestNothingShared(t *testing.T) {
	t.Parallel()
	p, maker := pool(), nodeclaim.New(description())
	text := func() string {
		claim, err := maker.ForPool(p)
		if err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(claim)
		if err != nil {
			t.Fatal(err)
		}
		claim.Labels["team"], claim.Annotations["note"] = "blue", "theirs"
		claim.Spec.Taints[0].Key, claim.Spec.NodeClassRef.Name = "other", "other"
		return string(written)
	}
	if a, b := text(), text(); a != b {
		t.Errorf("the second claim differs:\n%s\n%s", a, b)
	}
	if diff := cmp.Diff(pool(), p); diff != "" {
		t.Errorf("the pool changed (-want +got):\n%s", diff)
	}
}

func TestForPoolRefuses(t *testing.T) {
	t.Parallel()
	p := pool()
	p.Spec.Template.Spec.Requirements[0].Operator = "Near"
	if _, err := nodeclaim.New(description()).ForPool(p); err == nil {
		t.Error("a claim was made from requirements that cannot be read")
	}
}

// TestManyRequirements: where labels and requirements together are too many, labels stay.
func TestManyRequirements(t *testing.T) {
	t.Parallel()
	p := pool()
	p.Spec.Template.Spec.Requirements = nil
	for i := range 90 {
		p.Spec.Template.Labels[fmt.Sprintf("label-%d", i)] = "x"
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements,
			karpenterv1.Requirement{Key: fmt.Sprintf("rule-%d", i), Operator: corev1.NodeSelectorOpNotIn, Values: []string{"y"}})
	}
	claim, err := nodeclaim.New(description()).ForPool(p)
	if err != nil {
		t.Fatal(err)
	}
	rules := 0
	for _, r := range claim.Spec.Requirements {
		if r.Operator == corev1.NodeSelectorOpNotIn {
			rules++
		}
	}
	if n := len(claim.Spec.Requirements); n != 100 || rules != 90 {
		t.Errorf("%d requirements, %d of the pool's 90 among them", n, rules)
	}
	if claim.Labels["label-0"] != "x" || claim.Labels["label-89"] != "x" {
		t.Error("a label is lost")
	}
}
