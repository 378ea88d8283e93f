package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
)

// New nodes follow the edited pool; existing nodes keep their settings, and stay.
func TestPoolEdited(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "editable.yaml", "inflate.yaml")
	s.Scale("inflate", 1)
	first := s.Running("inflate", 1)[0]
	pool := s.pool("editable")
	s.AwaitCondition(pool, "Ready", metav1.ConditionTrue)
	before := pool.Annotations[karpenterv1.AnnotationNodePoolHash]
	s.Patch(pool, `{"spec":{"template":{"metadata":{"labels":{"edition":"second"}}}}}`)
	s.Eventually("the pool has another hash", func(ctx context.Context) (bool, string) {
		err := s.Lab.Client.Get(ctx, client.ObjectKeyFromObject(pool), pool)
		return err == nil && pool.Annotations[karpenterv1.AnnotationNodePoolHash] != before, fmt.Sprint("it is ", before)
	})
	s.Scale("inflate", 2)
	for _, pod := range s.Running("inflate", 2) {
		want := "second"
		if pod.Name == first.Name {
			want = "first"
		}
		if got := s.nodeOf(pod).Labels["edition"]; got != want {
			t.Errorf("%s is on a node of edition %q, want %q", pod.Name, got, want)
		}
	}
}

// When a pool in use is deleted, its nodes are drained and go; its pods wait and say why. When the pool is
// made again, they run.
func TestPoolDeletedWhileInUse(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "editable.yaml", "inflate.yaml")
	s.Scale("inflate", 2)
	pods := s.Running("inflate", 2)
	node := s.nodeOf(pods[0])
	pool := s.pool("editable")
	s.Delete(pool)
	s.Lab.AwaitGone(t, pool)
	s.Lab.AwaitGone(t, node)
	waiting := s.pending("inflate", 2)
	s.AwaitEvent(&waiting[0], "FailedScheduling", "Failed to schedule pod")
	if n := len(s.machines()); n > 1 {
		t.Errorf("%d machines run after their pool went", n)
	}
	s.apply("editable.yaml")
	s.Running("inflate", 2)
}

// A bad pool is refused when it is made, and the message says which field is wrong and what is allowed.
func TestBadPoolIsRefused(t *testing.T) {
	s := tell(t)
	for name, c := range map[string]struct {
		change func(spec map[string]any)
		says   []string
	}{
		"an operator that does not exist": {
			requirement(map[string]any{"key": "kubernetes.io/arch", "operator": "Near", "values": []any{"amd64"}}),
			[]string{"requirements[0].operator", `"Near"`, `"In", "NotIn"`},
		},
		"a comparison with a text": {
			requirement(map[string]any{"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": []any{"many"}}),
			[]string{"requirements", "must have a single positive integer value"},
		},
		"a requirement on the pool's own label": {
			requirement(map[string]any{"key": "karpenter.sh/nodepool", "operator": "In", "values": []any{"x"}}),
			[]string{"requirements", "karpenter.sh/nodepool", "restricted"},
		},
		"a weight above the maximum": {
			func(spec map[string]any) { spec["weight"] = int64(200) },
			[]string{"spec.weight", "less than or equal to 100"},
		},
		"a budget of more than 100 per cent": {
			func(spec map[string]any) {
				spec["disruption"] = map[string]any{"budgets": []any{map[string]any{"nodes": "200%"}}}
			},
			[]string{"spec.disruption.budgets[0].nodes", "200%"},
		},
		"a schedule without a duration": {
			func(spec map[string]any) {
				spec["disruption"] = map[string]any{"budgets": []any{map[string]any{"nodes": "1", "schedule": "@daily"}}}
			},
			[]string{"spec.disruption.budgets", "'schedule' must be set with 'duration'"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pool := s.read("pool.yaml")[0]
			spec, _, _ := unstructured.NestedMap(pool.Object, "spec")
			c.change(spec)
			pool.Object["spec"] = spec
			err := s.Lab.Client.Create(t.Context(), pool)
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the message does not contain %q: %v", part, err)
				}
			}
		})
	}
}

func requirement(r map[string]any) func(map[string]any) {
	return func(spec map[string]any) {
		template := spec["template"].(map[string]any)["spec"].(map[string]any)
		template["requirements"] = []any{r}
	}
}

// A pool without its node class is not ready, and pool and pods say so. Once the class exists, the pods
// run.
func TestPoolWithoutItsNodeClass(t *testing.T) {
	s := tell(t)
	s.apply("pool.yaml", "inflate.yaml")
	s.Scale("inflate", 1)
	pool := s.pool("default")
	s.AwaitCondition(pool, karpenterv1.ConditionNodeClassReady, metav1.ConditionFalse, "NodeClassNotFound")
	s.AwaitCondition(pool, "Ready", metav1.ConditionFalse)
	// Among many other pools the message only counts it ("2 by not being ready"); alone it is named.
	s.AwaitEvent(&s.pending("inflate", 1)[0], "FailedScheduling", "Failed to schedule pod", "ready")
	s.apply("class.yaml")
	s.Running("inflate", 1)
}
