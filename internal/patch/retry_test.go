package patch_test

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/patch"
	"tenon/internal/testing/harness"
)

// poolWith is a pool with a change.
func poolWith(uid types.UID, seen string) *karpenterv1.NodePool {
	pool := &karpenterv1.NodePool{}
	pool.Name, pool.UID, pool.Annotations = "default", uid, map[string]string{"seen": seen}
	return pool
}

// TestRetry: after a conflict the write is repeated on the present object, five times at most, and
// never on another object of the same name.
func TestRetry(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "nodepools"}, "default", errors.New("changed"))
	for name, tc := range map[string]struct {
		now       *karpenterv1.NodePool // nil if it was deleted
		conflicts int
		writes    int
		check     func(error) bool
		last      string // what the last write saw
	}{
		"no other writer":     {now: poolWith("1", "new"), writes: 1, check: func(err error) bool { return err == nil }, last: "old"},
		"overtaken once":      {now: poolWith("1", "new"), conflicts: 1, writes: 2, check: func(err error) bool { return err == nil }, last: "new"},
		"overtaken each time": {now: poolWith("1", "new"), conflicts: 9, writes: 5, check: apierrors.IsConflict, last: "new"},
		"gone meanwhile":      {conflicts: 9, writes: 1, check: apierrors.IsNotFound, last: "old"},
		"replaced meanwhile":  {now: poolWith("2", "new"), conflicts: 9, writes: 1, check: apierrors.IsNotFound, last: "old"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var objects []client.Object
			if tc.now != nil {
				objects = append(objects, tc.now)
			}
			r := harness.New(t, memory.Options{}, objects...)
			writes, last := 0, ""
			err := patch.Retry(t.Context(), r.Kit, poolWith("1", "old"), func(pool *karpenterv1.NodePool) error {
				writes++
				last = pool.Annotations["seen"]
				if writes <= tc.conflicts {
					return conflict
				}
				return nil
			})
			if !tc.check(err) || writes != tc.writes || last != tc.last {
				t.Errorf("%d writes, the last on %q, error %v; want %d on %q", writes, last, err, tc.writes, tc.last)
			}
		})
	}
}

// TestCurrent: the write gets the object as the API server has it, and is not called for a missing
// object.
func TestCurrent(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, poolWith("1", "new"))
	for name, want := range map[string]string{"default": "new", "gone": ""} {
		saw := ""
		err := patch.Current(t.Context(), r.Kit, name, func(pool *karpenterv1.NodePool) error {
			saw = pool.Annotations["seen"]
			return nil
		})
		if err != nil || saw != want {
			t.Errorf("pool %s: the write saw %q, error %v; want %q", name, saw, err, want)
		}
	}
}
