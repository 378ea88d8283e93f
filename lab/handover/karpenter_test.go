package handover

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
	"tenon/lab/memorycloud"
)

// TestNodesOfKarpenterStay hands over a fleet as Karpenter leaves it: with hashes of an earlier version,
// without any annotation of ours, with one node marked in the middle of a consolidation, and with another that has drifted, in the
// middle of a roll-out that its budget holds. Tenon takes over and replaces no node, updates the hashes of claims but for that of the
// drifted one, removes the mark, and leaves no finalizer of its own, so that Karpenter could continue. When the budget
// allows it, Tenon continues the roll-out. A deleted claim takes its machine with it.
func TestNodesOfKarpenterStay(t *testing.T) {
	lab := labtest.Start(t)
	forgetLeader(t, lab)
	cloud := raise(t, lab)
	incumbent := start(t, lab, cloud, "incumbent")
	awaitLeader(t, lab, "", incumbent)
	namespace := lab.Namespace(t)
	workload := inflate(namespace)
	const few = 3 * each
	workload.Spec.Replicas = ptr.To(int32(few))
	for _, object := range []client.Object{class(), pool(t), workload} {
		if err := lab.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	lab.AwaitPods(t, namespace, "app=inflate", few, labtest.PodReady)
	settled(t, lab, cloud)
	holder := leaderOf(t, lab)
	incumbent.stop()
	if err := incumbent.wait(t); err != nil {
		t.Fatal(err)
	}

	marked, drifted := leaveAsKarpenter(t, lab)
	before, bought := machines(cloud), cloud.Cloud.Bought()
	next := start(t, lab, cloud, "next")
	awaitLeader(t, lab, holder, next)
	lab.Eventually(t, "claims are stamped anew, and the mark is taken back", func(ctx context.Context) (bool, string) {
		node := &v1.Node{}
		if err := lab.Client.Get(ctx, client.ObjectKey{Name: marked}, node); err != nil {
			return false, err.Error()
		}
		isMark := func(t v1.Taint) bool { return t.Key == "karpenter.sh/disrupted" }
		stale := strings.Join(staleClaims(ctx, t, lab, drifted), " ")
		return stale == "" && !slices.ContainsFunc(node.Spec.Taints, isMark), fmt.Sprintf("stale: %s, taints: %v", stale, node.Spec.Taints)
	})
	settled(t, lab, cloud)
	if after := machines(cloud); !slices.Equal(before, after) || cloud.Cloud.Bought() != bought {
		t.Errorf("machines before %v, after %v; %d were bought, then %d", before, after, bought, cloud.Cloud.Bought())
	}
	rollOn(t, lab, drifted)
	lab.AwaitPods(t, namespace, "app=inflate", few, labtest.PodReady)
	endOne(t, lab, cloud)
}

// rollOn opens the budget, and waits until the drifted claim is gone.
func rollOn(t *testing.T, lab *labtest.Lab, drifted string) {
	t.Helper()
	open := pool(t)
	text := []byte(`{"spec":{"disruption":{"budgets":[{"nodes":"1"}]}}}`)
	if err := lab.Client.Patch(t.Context(), open, client.RawPatch(types.MergePatchType, text)); err != nil {
		t.Fatal(err)
	}
	lab.AwaitGone(t, &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: drifted}})
}

// formerHash is the hash of the claim that drifted before the handover. Its pool has another one, or
// Tenon would rightly find that the claim has not drifted.
const formerHash = "0"

// leaveAsKarpenter takes from all objects what only Tenon writes, stamps them as a former release of Karpenter did, and
// marks one node as its consolidation does and another one's claim as drifted. It returns that node and that claim.
func leaveAsKarpenter(t *testing.T, lab *labtest.Lab) (marked, drifted string) {
	t.Helper()
	claims, nodes := &karpenterv1.NodeClaimList{}, &v1.NodeList{}
	for _, list := range []client.ObjectList{claims, nodes} {
		if err := lab.Client.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	old := map[string]any{karpenterv1.AnnotationNodePoolHash: "1", karpenterv1.AnnotationNodePoolHashVersion: "v2"}
	former(t, lab, pool(t), nil, old)
	for i := range claims.Items {
		stamp := maps.Clone(old)
		if i == 1 {
			stamp[karpenterv1.AnnotationNodePoolHash] = formerHash
		}
		former(t, lab, &claims.Items[i], claims.Items[i].Annotations, stamp)
	}
	for i := range nodes.Items {
		former(t, lab, &nodes.Items[i], nodes.Items[i].Annotations, nil)
	}
	rolled := claims.Items[1].DeepCopy()
	conditions := rolled.Conditions(time.Now())
	conditions.SetTrueBecause(karpenterv1.ConditionDrifted, "NodePoolDrifted", "")
	rolled.Status.Conditions = conditions.List()
	if err := lab.Client.Status().Patch(t.Context(), rolled, client.MergeFrom(&claims.Items[1])); err != nil {
		t.Fatal(err)
	}
	name := claims.Items[0].Status.NodeName
	node := &v1.Node{}
	if err := lab.Client.Get(t.Context(), client.ObjectKey{Name: name}, node); err != nil {
		t.Fatal(err)
	}
	changed := node.DeepCopy()
	changed.Spec.Taints = append(changed.Spec.Taints, v1.Taint{Key: "karpenter.sh/disrupted", Effect: v1.TaintEffectNoSchedule})
	if err := lab.Client.Patch(t.Context(), changed, client.MergeFrom(node)); err != nil {
		t.Fatal(err)
	}
	return name, rolled.Name
}

// former changes the annotations of an object: it removes ours, and sets the given ones.
func former(t *testing.T, lab *labtest.Lab, object client.Object, has map[string]string, set map[string]any) {
	t.Helper()
	annotations := map[string]any{}
	for key := range has {
		if strings.HasPrefix(key, "tenon.sh/") {
			annotations[key] = nil
		}
	}
	for key, value := range set {
		annotations[key] = value
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, text)); err != nil {
		t.Fatal(err)
	}
}

// staleClaims returns the claims with another hash than they should have, which is that of their pool or, if they drifted, what they
// had, or with a finalizer that Karpenter would not remove.
func staleClaims(ctx context.Context, t *testing.T, lab *labtest.Lab, drifted string) (stale []string) {
	t.Helper()
	claims := &karpenterv1.NodeClaimList{}
	if err := lab.Client.List(ctx, claims); err != nil {
		t.Fatal(err)
	}
	for _, c := range claims.Items {
		want := pool(t).Hash()
		if c.Name == drifted {
			want = formerHash
		}
		stamped := c.Annotations[karpenterv1.AnnotationNodePoolHash] == want && c.Annotations[karpenterv1.AnnotationNodePoolHashVersion] == karpenterv1.NodePoolHashVersion
		if !stamped || !slices.Equal(c.Finalizers, []string{"karpenter.sh/termination"}) {
			stale = append(stale, fmt.Sprintf("%s %v %v", c.Name, c.Annotations, c.Finalizers))
		}
	}
	return stale
}

func machines(cloud *memorycloud.Stage) (ids []string) {
	for _, i := range cloud.Cloud.Instances() {
		ids = append(ids, i.ProviderID)
	}
	slices.Sort(ids)
	return ids
}

// endOne deletes a claim, and waits until its machine is gone.
func endOne(t *testing.T, lab *labtest.Lab, cloud *memorycloud.Stage) {
	t.Helper()
	claims := &karpenterv1.NodeClaimList{}
	if err := lab.Client.List(t.Context(), claims); err != nil {
		t.Fatal(err)
	}
	gone := claims.Items[0]
	if err := lab.Client.Delete(t.Context(), &gone); err != nil {
		t.Fatal(err)
	}
	lab.Eventually(t, "the machine of the claim is gone", func(context.Context) (bool, string) {
		return !slices.Contains(machines(cloud), gone.Status.ProviderID), "it runs"
	})
}
