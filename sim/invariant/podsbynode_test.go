package invariant

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/sim/store"
)

// After every event, the index of pods and claims is what a list of all of them gives.
func TestIndexesMatchTheObjects(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	s, err := store.New(clock, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &Watch{Store: s, Cloud: memory.New(memory.Options{Clock: clock}), Now: clock.Now, Report: func(Violation) {}}
	w.Begin()
	dice, ctx := rand.New(rand.NewPCG(1, 1)), context.Background()
	housed, run := 0, 0
	for range 2000 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("pod-", dice.IntN(12))}}
		claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("claim-", dice.IntN(6))}}
		// A refused event changes nothing, which is as good.
		switch dice.IntN(7) {
		case 0:
			_ = s.Create(ctx, pod)
		case 1:
			_ = s.SubResource("binding").Create(ctx, pod, &corev1.Binding{Target: corev1.ObjectReference{Name: fmt.Sprint("node-", dice.IntN(3))}})
		case 2:
			_ = s.Delete(ctx, pod, client.GracePeriodSeconds(int64(dice.IntN(2))))
		case 3:
			claim.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
			claim.Spec.Requirements = []karpenterv1.Requirement{{Key: corev1.LabelArchStable, Operator: "In", Values: []string{"amd64"}}}
			_ = s.Create(ctx, claim)
		case 4:
			_ = s.Delete(ctx, claim)
		default:
			if s.Get(ctx, client.ObjectKeyFromObject(claim), claim) == nil {
				claim.Status.ProviderID = fmt.Sprint("machine-", dice.IntN(4)) // some share one
				claim.Status.NodeName = fmt.Sprint(dice.IntN(4))
				_ = s.Status().Update(ctx, claim)
			}
		}
		if dice.IntN(3) == 0 {
			w.claimFor(&corev1.Node{Spec: corev1.NodeSpec{ProviderID: "machine-1"}})
		}
		if want := podsByNodeOf(s); !reflect.DeepEqual(w.podsOn, want) {
			t.Fatalf("tenants are %v, and should be %v", w.podsOn, want)
		}
		if want := machinesOf(s); w.machines != nil && !reflect.DeepEqual(w.machines, want) {
			t.Fatalf("machines are %v, and should be %v", w.machines, want)
		}
		housed, run = max(housed, len(w.podsOn)), max(run, len(w.machines))
	}
	if housed < 4 || run < 3 {
		t.Errorf("%d nodes and %d machines are too few to show anything", housed, run)
	}
}
