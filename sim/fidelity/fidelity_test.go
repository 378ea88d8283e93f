package fidelity_test

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"tenon/sim/cluster"
	"tenon/sim/fidelity"
	"tenon/sim/store"
)

var rewrite = flag.Bool("rewrite", false, "write down what the store answers; lab/fidelity says whether it is true")

// Every case is answered as it is written down; lab/fidelity asks a real server the same.
func TestTheStoreAnswersLikeARealServer(t *testing.T) {
	t.Parallel()
	for _, c := range fidelity.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got := c.Run(t.Context(), server(t))
			if *rewrite {
				if err := os.WriteFile(c.File(), []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := c.Want()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

// server is a store with the controllers that the cases wait for.
func server(t *testing.T) fidelity.Server {
	clock := clocktesting.NewFakeClock(time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC))
	api, err := store.New(clock, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "case-namespace"}}); err != nil {
		t.Fatal(err)
	}
	return fidelity.Server{Client: api, Namespace: "case-namespace", Prefix: "case-", Idle: func() {
		clock.Step(time.Second)
		api.Collect()
		for _, budget := range store.All[*policyv1.PodDisruptionBudget](api) {
			if _, err := cluster.UpdateBudget(context.Background(), api, store.KeyOf(budget), clock.Now()); err != nil {
				t.Error(err)
			}
		}
	}}
}
