package randomcluster

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

func TestSameSeedSameCluster(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		a, b := World(seed, 12), World(seed, 12)
		if !bytes.Equal(a.YAML(), b.YAML()) {
			t.Errorf("seed %d gives two clusters", seed)
		}
		if diff := cmp.Diff(a.Snapshot(), b.Snapshot()); diff != "" {
			t.Errorf("seed %d gives two snapshots:\n%s", seed, diff)
		}
		if bytes.Equal(a.YAML(), World(seed+1, 12).YAML()) {
			t.Errorf("seeds %d and %d give the same cluster", seed, seed+1)
		}
	}
}

func TestReadTakesBackWhatYAMLWrites(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		c := World(seed, 12)
		got, err := Read(c.YAML())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(string(c.YAML()), string(got.YAML())); diff != "" {
			t.Errorf("seed %d (-written +read):\n%s", seed, diff)
		}
		if diff := cmp.Diff(c.Snapshot(), got.Snapshot()); diff != "" {
			t.Errorf("seed %d: snapshots differ (-written +read):\n%s", seed, diff)
		}
	}
}

func TestReadRefusesWhatYAMLDoesNotWrite(t *testing.T) {
	t.Parallel()
	good := string(World(1, 3).YAML())
	for name, text := range map[string]string{
		"nothing":            "",
		"not YAML":           "{",
		"another kind first": "apiVersion: v1\nkind: Pod\n",
		"an unknown kind":    good + divider + "kind: Secret\n",
		"no kind":            good + divider + "[",
		"an unknown field":   good + divider + "kind: Pod\nspeck: {}\n",
	} {
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

// TestWorldsHaveEverything guards against a generator that quietly stops making what the tests need.
func TestWorldsHaveEverything(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	note := func(name string, is bool) { seen[name] = seen[name] || is }
	pending, refused := 0, 0
	for seed := range uint64(150) {
		c := World(seed, 14)
		s := c.Snapshot()
		notePools(note, s)
		noteNodes(note, s)
		for i := range s.Pods {
			if s.Pods[i].Pending {
				pending++
			}
			if len(s.Pods[i].Refused) > 0 {
				refused++
			}
			notePod(note, &s.Pods[i])
		}
		for i := range s.Templates {
			noteTemplate(note, &s.Templates[i])
		}
		note("daemons", len(s.Daemons) > 0)
		for _, o := range c.Objects {
			if claim, ok := o.(*karpenterv1.NodeClaim); ok {
				note("claims being deleted", claim.DeletionTimestamp != nil)
			}
			if pod, ok := o.(*corev1.Pod); ok {
				note("sidecars", slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.RestartPolicy != nil }))
			}
		}
		for _, t := range c.Types {
			for _, o := range t.Offerings {
				note("shortages", !o.Available)
				note("reservations", o.ReservationID != "")
			}
		}
	}
	for name, is := range seen {
		if !is {
			t.Errorf("no world has %s", name)
		}
	}
	if pending < 150*14 || refused*20 > pending {
		t.Errorf("%d pods want a place, %d of them are refused outright", pending, refused)
	}
}

func notePools(note func(string, bool), s *snapshot.Snapshot) {
	for _, p := range s.Pools {
		note("weights", p.Weight > 0)
		note("taints", len(p.Taints) > 0)
		note("startup taints", len(p.StartupTaints) > 0)
		note("limits", len(p.Limits) > 0)
		note("static pools", p.Replicas != nil && p.Held.Code == reason.None && s.Settings.StaticCapacity)
		note("pools that are not ready", !p.MayLaunch())
		for r := range p.Requirements.All() {
			note("minimums", r.MinValues() > 0)
		}
	}
}

func noteNodes(note func(string, bool), s *snapshot.Snapshot) {
	for _, n := range s.Nodes {
		note("nodes that leave", n.Leaving)
		note("nodes that start", !n.Initialized)
		note("nodes without a pool", n.Pool == "")
		note("cordoned nodes", n.Unschedulable)
		note("volume limits", len(n.VolumeLimits) > 0)
	}
}

func notePod(note func(string, bool), p *snapshot.Pod) {
	note("pods that move", p.Movable)
	note("pods that run", p.Node != "")
	note("pods that terminate", p.Terminating)
}

func noteTemplate(note func(string, bool), t *snapshot.Template) {
	note("node selectors", !t.Selector.IsZero())
	note("several node terms", len(t.Terms) > 1)
	note("node preferences", len(t.Preferred) > 0)
	note("tolerations", len(t.Tolerations) > 0)
	note("affinity", len(t.Affinity) > 0)
	note("several affinity terms", len(t.Affinity) > 1)
	note("anti-affinity", len(t.AntiAffinity) > 0)
	note("preferred affinity", len(t.PreferredAffinity) > 0)
	note("preferred anti-affinity", len(t.PreferredAntiAffinity) > 0)
	note("host ports", len(t.HostPorts) > 0)
	note("volumes", len(t.Volumes) > 0)
	note("priorities", t.Priority > 0)
	note("extended resources", len(t.Requests.Extended) > 0)
	for _, s := range t.Spreads {
		note("soft spreads", s.Soft)
		note("hard spreads", !s.Soft)
		note("minDomains", s.MinDomains > 1)
		note("spreads that ignore affinity", s.IgnoreNodeAffinity)
		note("spreads that honour taints", s.HonorTaints)
	}
}

func TestShrinkKeepsOnlyWhatFails(t *testing.T) {
	t.Parallel()
	fails := func(c *Cluster) bool { // a pod with a host port, and a pool with a taint
		port, taint := false, false
		for _, o := range c.Objects {
			switch o := o.(type) {
			case *corev1.Pod:
				port = port || len(o.Spec.Containers[0].Ports) > 0
			case *karpenterv1.NodePool:
				taint = taint || len(o.Spec.Template.Spec.Taints) > 0
			}
		}
		return port && taint
	}
	tried := 0
	for seed := range uint64(60) {
		c := World(seed, 14)
		if !fails(c) {
			continue
		}
		tried++
		whole := c.YAML()
		small := Shrink(c, fails)
		if !fails(small) || len(small.Objects) != 2 || len(small.Types) != 0 || small.Seed != seed {
			t.Errorf("seed %d shrinks to %d objects and %d types:\n%s", seed, len(small.Objects), len(small.Types), small.YAML())
		}
		if !bytes.Equal(whole, c.YAML()) {
			t.Errorf("seed %d: shrinking changed the cluster", seed)
		}
	}
	if tried == 0 {
		t.Error("no world fails, so nothing was shrunken")
	}
}

func TestShrinkSimplifiesPods(t *testing.T) {
	t.Parallel()
	pod := func(c *Cluster) *corev1.Pod {
		for _, o := range c.Objects {
			if p, ok := o.(*corev1.Pod); ok {
				return p
			}
		}
		return nil
	}
	fails := func(c *Cluster) bool { return pod(c) != nil }
	for seed := range uint64(20) {
		p := pod(Shrink(World(seed, 14), fails))
		left := len(p.Spec.Tolerations) + len(p.Spec.TopologySpreadConstraints) + len(p.Spec.InitContainers) + len(p.Spec.Volumes) + len(p.Spec.NodeSelector)
		a := p.Spec.Affinity
		if n := a.NodeAffinity; n != nil && (n.RequiredDuringSchedulingIgnoredDuringExecution != nil || len(n.PreferredDuringSchedulingIgnoredDuringExecution) > 0) {
			left++
		}
		if left > 0 {
			t.Errorf("seed %d: the pod keeps rules that are not needed: %+v", seed, p.Spec)
		}
	}
}
