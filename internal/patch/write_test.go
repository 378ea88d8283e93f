package patch_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/patch"
	"tenon/internal/testing/harness"
)

// TestDelete: an object is deleted even if it has changed since it was read, and a missing one is no
// error.
func TestDelete(t *testing.T) {
	t.Parallel()
	for name, there := range map[string]bool{"changed": true, "gone": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var objects []client.Object
			if there {
				objects = append(objects, poolWith("1", "new"))
			}
			r := harness.New(t, memory.Options{}, objects...)
			if err := patch.Delete(t.Context(), r.Kit, poolWith("1", "old")); err != nil {
				t.Fatal(err)
			}
			if err := r.API.Get(t.Context(), types.NamespacedName{Name: "default"}, &karpenterv1.NodePool{}); !apierrors.IsNotFound(err) {
				t.Errorf("the pool is still there: %v", err)
			}
		})
	}
}

// TestConfigMap: it is created or changed with one read and one write, and an interfering writer is an
// error.
func TestConfigMap(t *testing.T) {
	t.Parallel()
	key := types.NamespacedName{Namespace: "kube-system", Name: "known"}
	stored := func(value string) *corev1.ConfigMap {
		m := &corev1.ConfigMap{Data: map[string]string{"kept": "yes", "value": value}}
		m.Namespace, m.Name = key.Namespace, key.Name
		return m
	}
	for name, tc := range map[string]struct {
		now  *corev1.ConfigMap
		fail func(harness.Call) error
		kept string
		want func(error) bool
	}{
		"new":       {want: func(err error) bool { return err == nil }},
		"there":     {now: stored("old"), kept: "yes", want: func(err error) bool { return err == nil }},
		"overtaken": {now: stored("old"), fail: failing("update", harness.Conflict), want: apierrors.IsConflict},
		"unknown":   {now: stored("old"), fail: failing("get", func(harness.Call) error { return harness.ErrBroken }), want: func(err error) bool { return err != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var objects []client.Object
			if tc.now != nil {
				objects = append(objects, tc.now)
			}
			r := harness.New(t, memory.Options{}, objects...)
			r.Fail(tc.fail)
			err := patch.ConfigMap(t.Context(), r.Kit, key, func(m *corev1.ConfigMap) error {
				if m.Data == nil {
					m.Data = map[string]string{}
				}
				m.Data["value"] = "new"
				return nil
			})
			if !tc.want(err) {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				return
			}
			if calls := len(r.Calls()); calls != 2 {
				t.Errorf("%d calls, want 2", calls)
			}
			got := &corev1.ConfigMap{}
			r.Must(r.API.Get(t.Context(), key, got))
			if got.Data["value"] != "new" || got.Data["kept"] != tc.kept {
				t.Errorf("stored: %v", got.Data)
			}
		})
	}
}

// failing makes the calls of one verb fail.
func failing(verb string, err func(harness.Call) error) func(harness.Call) error {
	return func(c harness.Call) error {
		if c.Verb == verb {
			return err(c)
		}
		return nil
	}
}
