package class_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/class"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
)

var (
	typed   = cloud.ClassKind{Group: "karpenter.k8s.aws", Version: "v1", Kind: "EC2NodeClass"}
	unknown = cloud.ClassKind{Group: "example.dev", Version: "v1", Kind: "ExampleNodeClass"}
)

func reader(t *testing.T, objects ...client.Object) class.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, awsv1.AddToScheme, karpenterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...)
	for _, x := range lookup.Indexes() {
		b = b.WithIndex(x.Kind, x.Field, x.Values)
	}
	return class.Reader{Client: b.Build(), Kinds: []cloud.ClassKind{typed, unknown}}
}

func example(name string, status map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": name, "generation": int64(7)}}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: unknown.Group, Version: unknown.Version, Kind: unknown.Kind})
	if status != nil {
		o.Object["status"] = status
	}
	return o
}

// TestFind reads classes of a kind that is compiled in, and of an unknown one.
func TestFind(t *testing.T) {
	t.Parallel()
	aws := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", Generation: 3}}
	aws.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "NoSubnets", Message: "none found"}}
	leaving := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "leaving", Finalizers: []string{"x/y"}, DeletionTimestamp: &metav1.Time{Time: metav1.Now().Time}}}
	ready := example("ready", map[string]any{"conditions": []any{
		map[string]any{"type": "Other", "status": "False"}, map[string]any{"type": "Ready", "status": "True", "reason": "Ready"}}})
	odd := example("odd", map[string]any{"conditions": "none"})
	r := reader(t, aws, leaving, ready, odd)
	cases := map[string]struct {
		ref  cloud.ClassRef
		want class.Class
	}{
		"typed, not ready":           {typed.Ref("default"), class.Class{Found: true, Generation: 3, Ready: metav1.Condition{Type: "Ready", Status: "False", Reason: "NoSubnets", Message: "none found"}}},
		"being deleted":              {typed.Ref("leaving"), class.Class{Found: true, Deleting: true}},
		"of an unknown type":         {unknown.Ref("ready"), class.Class{Found: true, Generation: 7, Ready: metav1.Condition{Type: "Ready", Status: "True", Reason: "Ready"}}},
		"with an odd status":         {unknown.Ref("odd"), class.Class{Found: true, Generation: 7}},
		"missing":                    {typed.Ref("other"), class.Class{}},
		"of another provider's kind": {cloud.ClassRef{Group: "other.dev", Kind: "OtherNodeClass", Name: "default"}, class.Class{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := r.Find(context.Background(), tc.ref)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("class (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWatches: a change of a class wakes its own pools and claims.
func TestWatches(t *testing.T) {
	t.Parallel()
	ref := &karpenterv1.NodeClassReference{Group: typed.Group, Kind: typed.Kind, Name: "default"}
	web := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	web.Spec.Template.Spec.NodeClassRef = ref
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}, Spec: karpenterv1.NodeClaimSpec{NodeClassRef: ref}}
	r := reader(t, web, claim, &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
	kit := reconcile.Kit{Client: r.Client}
	default1 := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	for _, tc := range []struct {
		watches []reconcile.Watch
		want    string
	}{{r.Watches(class.Pools(kit)), "web"}, {r.Watches(class.Claims(kit)), "web-1"}} {
		if len(tc.watches) != 2 {
			t.Fatalf("%d watches, want one for each kind", len(tc.watches))
		}
		if _, is := tc.watches[0].Kind.(*awsv1.EC2NodeClass); !is {
			t.Errorf("a known type is watched as %T", tc.watches[0].Kind)
		}
		if diff := cmp.Diff([]reconcile.Key{{Name: tc.want}}, tc.watches[0].KeysOf(context.Background(), default1)); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
	}
}
