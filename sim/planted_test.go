package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/reconcile"
	"tenon/internal/translate"
	"tenon/sim"
)

// Products with one mistake each. Each is a complete product, whose omissions break other rules, too.
func planted() map[string]struct {
	build sim.Build
	rule  string
} {
	return map[string]struct {
		build sim.Build
		rule  string
	}{
		"machines are bought before there is a claim": {buyBlindly, "intent comes before effect"},
		"machines without a claim are never ended":    {buyBlindly, "no instance without a claim"},
		"nothing is done for pods":                    {doNothing, "at rest every pod runs"},
		"limits are not looked at":                    {buyTooMuch, "pool limits are never exceeded"},
		"nodes are never registered":                  {buyTooMuch, "at rest no taint is left"},
		"a controller wakes itself all the time":      {hurry, "time goes on"},
		"pods are deleted against budgets":            {deletePods, "no budget is broken"},
		"pods are evicted against what they ask for":  {deletePods, "do-not-disrupt pods keep their grace"},
	}
}

// Each planted mistake breaks its rule within a few seeds.
func TestPlantedMistakesAreFound(t *testing.T) {
	t.Parallel()
	alone(t)
	for name, p := range planted() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(10) {
				report, _ := run(t, sim.Options{Seed: seed, Product: p.build, Pods: 10}, 90*time.Minute)
				if strings.Contains(strings.Join(report.Violations, "\n"), p.rule) {
					return
				}
			}
			t.Errorf("no seed breaks the rule %q", p.rule)
		})
	}
}

// single is a product of one controller that acts every minute.
func single(do func(ctx context.Context)) sim.Product {
	return sim.Product{Controllers: []reconcile.Controller{{
		Name: "planted", Workers: reconcile.One,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
			do(ctx)
			return reconcile.In(time.Minute), nil
		},
	}}}
}

// hurry does nothing, again and again.
func hurry(reconcile.Kit, func() string) sim.Product {
	return sim.Product{Controllers: []reconcile.Controller{{
		Name: "planted", Workers: reconcile.One,
		Reconcile: func(context.Context, reconcile.Key) (reconcile.Result, error) {
			return reconcile.In(time.Millisecond), nil
		},
	}}}
}

func doNothing(reconcile.Kit, func() string) sim.Product { return sim.Product{} }

// buyBlindly buys for claims that do not exist.
func buyBlindly(kit reconcile.Kit, suffix func() string) sim.Product {
	bought := false
	return single(func(ctx context.Context) {
		if !bought {
			bought = true
			_, _ = kit.Cloud.Create(ctx, cloud.Claim{UID: suffix(), Name: "blind", Pool: "default",
				Class: cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}})
		}
	})
}

// buyTooMuch makes a claim each minute, for ever.
func buyTooMuch(kit reconcile.Kit, suffix func() string) sim.Product {
	return single(func(ctx context.Context) {
		claim := &karpenterv1.NodeClaim{}
		claim.Name = "more-" + suffix()
		claim.Labels = map[string]string{karpenterv1.LabelNodePool: "default"}
		claim.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
		claim.Spec.Requirements = []karpenterv1.Requirement{{Key: corev1.LabelArchStable, Operator: "In", Values: []string{"amd64"}}}
		if kit.Client.Create(ctx, claim) != nil {
			return
		}
		if order, err := translate.Order(claim, kit.Cloud.Describe().Vocabulary()); err == nil {
			_, _ = kit.Cloud.Create(ctx, order)
		}
	})
}

// deletePods is the whole product with a user in it who deletes pods.
func deletePods(kit reconcile.Kit, suffix func() string) sim.Product {
	product := sim.Whole(kit, suffix)
	edits := single(func(ctx context.Context) {
		var pods corev1.PodList
		_ = kit.Client.List(ctx, &pods, client.InNamespace("default"))
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName != "" {
				_ = kit.Client.Delete(ctx, &pods.Items[i])
			}
		}
	})
	product.Controllers = append(product.Controllers, edits.Controllers...)
	return product
}
