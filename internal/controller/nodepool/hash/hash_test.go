package hash_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/nodepool/hash"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

const (
	hashKey    = karpenterv1.AnnotationNodePoolHash
	versionKey = karpenterv1.AnnotationNodePoolHashVersion
)

func stamped(hash, version string) map[string]string {
	out := map[string]string{"note": "kept"}
	if version != "" {
		out[hashKey], out[versionKey] = hash, version
	}
	return out
}

func pool(annotations map[string]string) *karpenterv1.NodePool {
	p := harness.Pool("web")
	p.Annotations = annotations
	p.Spec.Template.Labels = map[string]string{"team": "red"}
	return p
}

// TestTakingOver: pools and claims as releases of Karpenter leave them. In the end the
// pool has our stamp, and a claim differs from it exactly if it had drifted before.
func TestTakingOver(t *testing.T) {
	t.Parallel()
	now := pool(nil).Hash()
	cases := map[string]struct {
		pool, claim map[string]string
		drifted     bool
		want        map[string]string // of the claim
	}{
		"1.0, hashes of version v2":                         {stamped("1", "v2"), stamped("1", "v2"), false, stamped(now, "v3")},
		"1.0, the claim had drifted":                        {stamped("1", "v2"), stamped("0", "v2"), true, stamped("0", "v3")},
		"0.3x, hashes of version v1":                        {stamped("1", "v1"), stamped("1", "v1"), false, stamped(now, "v3")},
		"before versions were written":                      {stamped("", ""), stamped("", ""), false, stamped(now, "v3")},
		"an upgrade that was interrupted after the claims":  {stamped("1", "v2"), stamped(now, "v3"), false, stamped(now, "v3")},
		"a claim older than the pool's stamp":               {stamped("1", "v2"), stamped("7", "v1"), false, stamped(now, "v3")},
		"1.1 and later, the same version and hash":          {stamped(now, "v3"), stamped(now, "v3"), false, stamped(now, "v3")},
		"1.1 and later, the template changed, not yet seen": {stamped("old", "v3"), stamped("old", "v3"), false, stamped("old", "v3")},
		"a release after us":                                {stamped("9", "v4"), stamped("9", "v4"), false, stamped(now, "v3")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{}, pool(tc.pool))
			r.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
				c.Annotations = tc.claim
				if tc.drifted {
					c.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionDrifted, Status: metav1.ConditionTrue}}
				}
			})
			c := hash.New(r.Kit)
			r.Run(c, "web")
			var got karpenterv1.NodePool
			r.Get("web", &got)
			expect(t, "pool", got.Annotations, stamped(now, "v3"))
			expect(t, "claim", r.Claim("web-1").Annotations, tc.want)
			r.Calls()
			r.Run(c, "web")
			for _, call := range r.Calls() {
				if call.IsWrite() {
					t.Errorf("a second run writes: %s", call)
				}
			}
		})
	}
}

func expect(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for _, key := range []string{hashKey, versionKey, "note"} {
		if key == "note" && got[key] == "" && want[key] != "" && what == "pool" {
			continue
		}
		if got[key] != want[key] {
			t.Errorf("%s: %s is %q, want %q", what, key, got[key], want[key])
		}
	}
}

// TestCrashBetween: claims are stamped before the pool, so that a crash repeats the work
// instead of letting claims drift.
func TestCrashBetween(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, pool(stamped("1", "v2")))
	r.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { c.Annotations = stamped("1", "v2") })
	r.Named("web-2", "web", func(c *karpenterv1.NodeClaim) { c.Annotations = stamped("1", "v2") })
	r.Fail(func(c harness.Call) error {
		if c.IsWrite() && c.Name == "web-2" {
			return harness.ErrBroken
		}
		return nil
	})
	c := hash.New(r.Kit)
	if _, err := c.Reconcile(t.Context(), key("web")); err == nil {
		t.Fatal("the failure is not reported")
	}
	var got karpenterv1.NodePool
	r.Get("web", &got)
	if got.Annotations[versionKey] != "v2" {
		t.Fatal("the pool is stamped although a claim is not")
	}
	r.Fail(nil)
	r.Run(c, "web")
	for _, name := range []string{"web-1", "web-2"} {
		expect(t, name, r.Claim(name).Annotations, stamped(pool(nil).Hash(), "v3"))
	}
}

// TestTemplateChange: the pool's hash follows, the claims' do not: they have drifted.
func TestTemplateChange(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, pool(stamped("old", "v3")))
	r.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { c.Annotations = stamped("old", "v3") })
	r.Run(hash.New(r.Kit), "web")
	var got karpenterv1.NodePool
	r.Get("web", &got)
	expect(t, "pool", got.Annotations, stamped(pool(nil).Hash(), "v3"))
	expect(t, "claim", r.Claim("web-1").Annotations, stamped("old", "v3"))
}

// TestNotOurs: pools of another provider's classes are left alone, and so is one that is gone.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	other := pool(nil)
	other.Spec.Template.Spec.NodeClassRef.Group = "other.dev"
	r := harness.New(t, memory.Options{}, other)
	c := hash.New(r.Kit)
	r.Run(c, "web")
	r.Run(c, "gone")
	for _, call := range r.Calls() {
		if call.IsWrite() {
			t.Errorf("writes: %s", call)
		}
	}
}

// TestWakes: a status that changes is no reason to hash again.
func TestWakes(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	watch := hash.New(r.Kit).Watches[0]
	old := pool(stamped("1", "v3"))
	counted, edited, wiped := old.DeepCopy(), old.DeepCopy(), old.DeepCopy()
	counted.Status.Nodes = new(int64)
	edited.Generation++
	wiped.Annotations = nil
	if watch.Wakes(old, counted) || watch.Wakes(old, nil) {
		t.Error("woken for nothing")
	}
	if !watch.Wakes(nil, old) || !watch.Wakes(old, edited) || !watch.Wakes(old, wiped) {
		t.Error("not woken for a change")
	}
}

func key(name string) reconcile.Key { return reconcile.Key{Name: name} }
