package translate_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/internal/translate"
)

const classLabel = "memory.tenon.dev/memorynodeclass"

func byHand() *karpenterv1.NodeClaim {
	few := 2
	return &karpenterv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "web-1", UID: "uid-1",
			Labels:      map[string]string{"team": "red", karpenterv1.LabelNodePool: "web"},
			Annotations: map[string]string{"note": "mine"}},
		Spec: karpenterv1.NodeClaimSpec{
			NodeClassRef: &karpenterv1.NodeClassReference{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"},
			Requirements: []karpenterv1.Requirement{
				{Key: "beta.kubernetes.io/arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
				{Key: "cell", Operator: corev1.NodeSelectorOpIn, Values: []string{"seven"}},
				{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"general-4", "general-8"}, MinValues: &few},
			},
			Resources: karpenterv1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1500m"), corev1.ResourceMemory: resource.MustParse("1Gi"), "pods": resource.MustParse("3")}},
			Taints:        []corev1.Taint{{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}},
			StartupTaints: []corev1.Taint{{Key: "agent", Effect: corev1.TaintEffectNoExecute}},
		},
	}
}

func words() requirement.Vocabulary {
	return memory.New(memory.Options{}).Connect().Describe().Vocabulary()
}

func order(t *testing.T, claim *karpenterv1.NodeClaim) cloud.Claim {
	t.Helper()
	ordered, err := translate.Order(claim, words())
	if err != nil {
		t.Fatal(err)
	}
	return ordered
}

// A claim that takes the place of nodes says so; no pod waits for it.
func TestReplacementsWait(t *testing.T) {
	t.Parallel()
	claim := byHand()
	claim.Annotations[karpenterv1.AnnotationDisruption] = "{}"
	if !order(t, claim).Replaces || order(t, byHand()).Replaces {
		t.Error("who replaces nodes is not told apart")
	}
}

// TestOrder checks every field of what a provider is asked for.
func TestOrder(t *testing.T) {
	t.Parallel()
	got := order(t, byHand())
	in := func(key string, values ...string) requirement.Requirement {
		return requirement.New(key, requirement.In, values...)
	}
	want := cloud.Claim{
		UID: "uid-1", Name: "web-1", Pool: "web",
		Class: cloud.ClassRef{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"},
		Requirements: requirement.NewSet(in(corev1.LabelArchStable, "amd64"), in("cell", "seven"),
			in(corev1.LabelInstanceTypeStable, "general-4", "general-8").WithMinValues(2)),
		Requests:      model.Resources{CPU: 1500, Memory: 1 << 30, Pods: 3},
		Labels:        map[string]string{"team": "red", "cell": "seven", karpenterv1.LabelNodePool: "web", classLabel: "default"},
		Annotations:   map[string]string{"note": "mine"},
		Taints:        []model.Taint{{Key: "dedicated", Value: "web", Effect: model.NoSchedule}},
		StartupTaints: []model.Taint{{Key: "agent", Effect: model.NoExecute}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestRelaxedMinimum: only the maker's word on the claim relaxes a minimum.
func TestRelaxedMinimum(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{"true": true, "false": false, "": false} {
		claim := byHand()
		claim.Annotations[karpenterv1.AnnotationMinValuesRelaxed] = word
		if got := order(t, claim).BestEffortMinimum; got != want {
			t.Errorf("%q: best effort %t, want %t", word, got, want)
		}
	}
}

// TestOrderRefuses: requirements that cannot be read are an error, not an order for anything.
func TestOrderRefuses(t *testing.T) {
	t.Parallel()
	claim := byHand()
	claim.Spec.Requirements[0] = karpenterv1.Requirement{Key: "cores", Operator: corev1.NodeSelectorOpGt, Values: []string{"many"}}
	if _, err := translate.Order(claim, words()); err == nil {
		t.Error("more than many cores were ordered")
	}
}

// TestRoundTrip: what is bought, recorded and recalled is the instance that was bought.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	far := memory.New(memory.Options{Clock: clocktesting.NewFakeClock(start),
		Classes: map[string]memory.Class{"default": {Image: "image-7"}}})
	claim := byHand()
	bought, err := far.Connect().Create(context.Background(), order(t, claim))
	if err != nil {
		t.Fatal(err)
	}
	bought.Annotations = map[string]string{"provider": "knows"}
	translate.Record(claim, order(t, claim), bought)
	conditions := claim.Conditions(start)
	conditions.SetTrue(karpenterv1.ConditionLaunched)
	claim.Status.Conditions = conditions.List()

	got := translate.Recall(claim, memory.LabelReservation)
	if diff := cmp.Diff(bought, got, cmpopts.IgnoreFields(cloud.Instance{}, "Labels", "Annotations")); diff != "" {
		t.Errorf("recalled (-bought +recalled):\n%s", diff)
	}
	for key, value := range bought.Labels {
		if got.Labels[key] != value {
			t.Errorf("label %s is %q, want %q", key, got.Labels[key], value)
		}
	}
	for key, want := range map[string]string{"note": "mine", "provider": "knows"} {
		if got.Annotations[key] != want {
			t.Errorf("annotation %s is %q, want %q", key, got.Annotations[key], want)
		}
	}
	if diff := cmp.Diff(order(t, claim).Requests, order(t, byHand()).Requests); diff != "" {
		t.Errorf("the recorded claim asks for something else:\n%s", diff)
	}
}

// TestThePriceIsRecorded: a claim says what its machine cost, if that is known.
func TestThePriceIsRecorded(t *testing.T) {
	t.Parallel()
	sold := func(unpriced bool) *catalog.Catalog {
		return &catalog.Catalog{Types: []catalog.Type{{Name: "small"}, {Name: "large", Offerings: []catalog.Offering{
			{Zone: "a", CapacityType: catalog.Spot, Price: 30_000}, {Zone: "b", CapacityType: catalog.Spot, Price: 40_500, Unpriced: unpriced},
		}}}}
	}
	for name, tc := range map[string]struct {
		catalog *catalog.Catalog
		zone    string
		want    string
	}{
		"known": {sold(false), "b", "0.0405"}, "no price": {sold(true), "b", ""}, "not sold": {sold(false), "c", ""}, "no catalogue": {nil, "b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			claim := byHand()
			translate.Record(claim, cloud.Claim{Catalog: tc.catalog}, cloud.Instance{Offer: cloud.Offer{InstanceType: "large", Zone: tc.zone, CapacityType: catalog.Spot}})
			if got := claim.Annotations[karpenterv1.AnnotationPrice]; got != tc.want {
				t.Errorf("price %q, want %q", got, tc.want)
			}
		})
	}
}

// TestWhichValueWins: the claim's labels, and the instance's annotations.
func TestWhichValueWins(t *testing.T) {
	t.Parallel()
	claim := byHand()
	translate.Record(claim, cloud.Claim{Labels: map[string]string{"team": "order", "cell": "order", "rack": "order"}}, cloud.Instance{
		ProviderID: "memory:///a/1", ImageID: "image-7",
		Labels:      map[string]string{"team": "blue", "rack": "12"},
		Annotations: map[string]string{"note": "theirs"},
		Capacity:    model.Resources{CPU: 4000, Memory: 16 << 30, Pods: 110, Extended: []model.Amount{{Name: "gpu", Value: 1}}},
		Allocatable: model.Resources{CPU: 3900},
	})
	wantLabels := map[string]string{"team": "red", "cell": "order", "rack": "12", karpenterv1.LabelNodePool: "web"}
	if diff := cmp.Diff(wantLabels, claim.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got := claim.Annotations["note"]; got != "theirs" {
		t.Errorf("annotation %q", got)
	}
	want := map[string]string{"cpu": "4", "memory": "16Gi", "pods": "110", "gpu": "1"}
	got := map[string]string{}
	for name, q := range claim.Status.Capacity {
		got[string(name)] = q.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("capacity (-want +got):\n%s", diff)
	}
	if q := claim.Status.Allocatable[corev1.ResourceCPU]; q.String() != "3900m" {
		t.Errorf("allocatable cpu %s", q.String())
	}
	if claim.Status.ProviderID != "memory:///a/1" || claim.Status.ImageID != "image-7" {
		t.Errorf("status %+v", claim.Status)
	}
}

// TestIs: a claim of the same name is not the same claim.
func TestIs(t *testing.T) {
	t.Parallel()
	ours := cloud.Instance{ProviderID: "p", ClaimUID: "uid-1", ClaimName: "web-1"}
	theirs := cloud.Instance{ProviderID: "p"}
	for name, tc := range map[string]struct {
		got, want bool
	}{
		"bought for it":                       {translate.Is(ours, "uid-1", ""), true},
		"bought for another":                  {translate.Is(ours, "uid-2", ""), false},
		"named by it, after a restored claim": {translate.Is(ours, "uid-2", "p"), true},
		"another autoscaler's, named by it":   {translate.Is(theirs, "uid-1", "p"), true},
		"another autoscaler's, not launched":  {translate.Is(theirs, "uid-1", ""), false},
		"bought for it once more":             {translate.Is(ours, "uid-1", "q"), false},
		"nothing at all":                      {translate.Is(cloud.Instance{}, "", ""), false},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %t, want %t", name, tc.got, tc.want)
		}
	}
}
