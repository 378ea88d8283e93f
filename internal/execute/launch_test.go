package execute_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/internal/assembly"
	"tenon/internal/execute"
	"tenon/internal/testing/harness"
	"tenon/internal/world"
)

// setup is an executor with one pool, whose limit is four processors.
type setup struct {
	*harness.Harness
	world    *world.World
	executor *execute.Executor
	pool     *karpenterv1.NodePool
}

func newSetup(t *testing.T, parallel int) *setup {
	t.Helper()
	pool := harness.Pool("web")
	pool.Spec.Limits = karpenterv1.Limits{corev1.ResourceCPU: resource.MustParse("4")}
	r := harness.New(t, memory.Options{}, pool.DeepCopy())
	w := assembly.World(r.Kit)
	w.Put(pool)
	return &setup{Harness: r, world: w, executor: execute.New(r.Kit, w, parallel), pool: pool}
}

// order is an order for a claim of the pool that takes two processors.
func (s *setup) order(name string) execute.Order {
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{karpenterv1.LabelNodePool: "web"}}}
	return execute.Order{Claim: claim, Pool: s.pool, Reason: "provisioned",
		Capacity: model.NewResources(model.Amount{Name: model.CPU, Value: 2000})}
}

func (s *setup) made() int {
	var list karpenterv1.NodeClaimList
	s.Must(s.API.List(context.Background(), &list))
	return len(list.Items)
}

// A claim is created if it meets the preconditions of the plan, and is dropped otherwise.
func TestLaunchPreconditions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*setup)
		want   reason.Cause
	}{
		"all is as it was decided": {change: func(*setup) {}},
		"the pool is gone":         {change: func(s *setup) { s.world.Remove(s.pool) }, want: reason.Cause{Code: reason.PoolGone, Where: "web"}},
		"the pool is another one": {
			change: func(s *setup) { s.changePool(func(p *karpenterv1.NodePool) { p.UID = "uid-other" }) },
			want:   reason.Cause{Code: reason.PoolGone, Where: "web"},
		},
		"the pool is being deleted": {
			change: func(s *setup) {
				s.changePool(func(p *karpenterv1.NodePool) { p.DeletionTimestamp = &metav1.Time{Time: s.Clock.Now()} })
			},
			want: reason.Cause{Code: reason.PoolGone, Where: "web"},
		},
		"the pool has changed": {
			change: func(s *setup) { s.changePool(func(p *karpenterv1.NodePool) { p.Generation++ }) },
			want:   reason.Cause{Code: reason.PoolChanged, Where: "web"},
		},
		"others have taken what the limit left": {
			change: func(s *setup) { s.executor.Launch(context.Background(), []execute.Order{s.order("a"), s.order("b")}) },
			want:   reason.Cause{Code: reason.LimitTaken, Where: "cpu"},
		},
		"its name is taken": {
			change: func(s *setup) { s.executor.Launch(context.Background(), []execute.Order{s.order("new")}) },
			want:   reason.Cause{Code: reason.NameTaken, Where: "new"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, 1)
			tc.change(s)
			before := s.made()
			got := s.executor.Launch(context.Background(), []execute.Order{s.order("new")})[0]
			if got.Err != nil || got.Dropped.Code != tc.want.Code || got.Dropped.Where != tc.want.Where {
				t.Errorf("dropped for %q, error %v, want %q", got.Dropped.Text(), got.Err, tc.want.Text())
			}
			if want := tc.want.Code == reason.None; (got.Claim != nil) != want || s.made()-before != map[bool]int{true: 1}[want] {
				t.Errorf("claim %v, %d more claims than before", got.Claim, s.made()-before)
			}
		})
	}
}

func (s *setup) changePool(change func(*karpenterv1.NodePool)) {
	changed := s.pool.DeepCopy()
	change(changed)
	s.world.Put(changed)
}

// Concurrent orders never exceed the limit together, and their outcomes are in their order.
func TestLaunchKeepsLimits(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, 8} {
		s := newSetup(t, parallel)
		var orders []execute.Order
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			orders = append(orders, s.order(name))
		}
		dropped := 0
		for i, o := range s.executor.Launch(context.Background(), orders) {
			if o.Order.Claim.Name != orders[i].Claim.Name {
				t.Errorf("answer %d is about claim %s", i, o.Order.Claim.Name)
			}
			if o.Dropped.Code == reason.LimitTaken {
				dropped++
			}
		}
		if s.made() != 2 || dropped != 3 {
			t.Errorf("%d at a time: %d claims made, %d dropped", parallel, s.made(), dropped)
		}
	}
}

// A claim is created once for every answer of the API server; a claim that was certainly not created
// leaves the ledger.
func TestLaunchOnce(t *testing.T) {
	t.Parallel()
	resourceOf := schema.GroupResource{Group: karpenterv1.GroupVersion.Group, Resource: "nodeclaims"}
	cases := map[string]struct {
		// answer is the answer to an attempt; made says that the object exists all the same.
		answer       func(attempt int) (err error, made bool)
		made, failed bool
		// expected says that the ledger counts the claim afterwards.
		expected bool
		attempts int
	}{
		"the answer is lost": {
			answer: func(int) (error, bool) { return harness.ErrBroken, true }, made: true, expected: true, attempts: 1,
		},
		"the first request is lost": {
			answer: func(attempt int) (error, bool) {
				if attempt > 1 {
					return nil, false
				}
				return harness.ErrBroken, false
			}, made: true, expected: true, attempts: 2,
		},
		"every request is lost": {
			answer: func(int) (error, bool) { return harness.ErrBroken, false }, failed: true, expected: true, attempts: 3,
		},
		"it is forbidden": {
			answer: func(int) (error, bool) { return apierrors.NewForbidden(resourceOf, "new", nil), false }, failed: true, attempts: 1,
		},
		"another claim has the name": {
			answer: func(int) (error, bool) { return apierrors.NewAlreadyExists(resourceOf, "new"), false }, failed: true, attempts: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, 1)
			attempts := 0
			s.Fail(func(c harness.Call) error {
				if c.String() != "create NodeClaim" {
					return nil
				}
				attempts++
				err, made := tc.answer(attempts)
				if made {
					s.Must(s.API.Create(context.Background(), s.order(c.Name).Claim))
				}
				return err
			})
			got := s.executor.Launch(context.Background(), []execute.Order{s.order("new")})[0]
			if (got.Claim != nil) != tc.made || (got.Err != nil) != tc.failed || got.Dropped.Code != reason.None {
				t.Errorf("claim %v, error %v, dropped for %q", got.Claim, got.Err, got.Dropped.Text())
			}
			if s.world.Expects("new") != tc.expected {
				t.Errorf("the ledger counts the claim: %t", !tc.expected)
			}
			if attempts != tc.attempts {
				t.Errorf("%d attempts, want %d", attempts, tc.attempts)
			}
		})
	}
}
