package judge

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"tenon/core/plan"
	"tenon/core/snapshot"
)

const (
	zone = corev1.LabelTopologyZone
	host = corev1.LabelHostname
)

// TestJudgeKnowsEveryRule has, for each rule, a plan that the scheduler accepts and one
// that it refuses: a judge that accepts everything proves nothing.
func TestJudgeKnowsEveryRule(t *testing.T) {
	t.Parallel()
	dedicated := corev1.Taint{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}
	both := func(pod, plugin string) []string {
		return []string{"finished default/" + pod + " " + plugin, "arrival default/" + pod + " " + plugin}
	}
	cases := map[string]struct {
		build func(st *fixture)
		want  []string
	}{
		"room enough": {build: func(st *fixture) {
			st.claim("default-1", "small/a")
			st.pod("web0", "default-1", cpu("1"))
			st.pod("web1", "default-1", cpu("1"))
		}},
		"not room enough": {
			build: func(st *fixture) {
				st.claim("default-1", "small/a")
				st.pod("web0", "default-1", cpu("2100m"))
			},
			want: both("web0", "NodeResourcesFit"),
		},
		"room that a daemon takes": {
			build: func(st *fixture) {
				st.daemon("agent")
				st.claim("default-1", "small/a")
				st.pod("web0", "default-1", cpu("2"))
			},
			want: both("web0", "NodeResourcesFit"),
		},
		"room that a running pod takes": {
			build: func(st *fixture) {
				st.node("n1", "a")
				st.running("old0", "n1", cpu("2"))
				st.pod("web0", "n1")
			},
			want: both("web0", "NodeResourcesFit"),
		},
		"an alternative that is too small": {
			build: func(st *fixture) {
				st.claim("default-1", "large/a", "small/a")
				st.pod("web0", "default-1", cpu("4"))
			},
			want: []string{"alternative default/web0 NodeResourcesFit"},
		},
		"the right zone": {build: func(st *fixture) {
			st.claim("default-1", "small/a")
			st.pod("web0", "default-1", inZone("a"))
		}},
		"the wrong zone": {
			build: func(st *fixture) {
				st.claim("default-1", "small/b")
				st.pod("web0", "default-1", inZone("a"))
			},
			want: both("web0", "NodeAffinity"),
		},
		"a taint, tolerated": {build: func(st *fixture) {
			st.pool("tainted", dedicated)
			st.claim("tainted-1", "small/a")
			st.pod("web0", "tainted-1", func(p *corev1.Pod) {
				p.Spec.Tolerations = []corev1.Toleration{{Key: dedicated.Key, Operator: corev1.TolerationOpExists}}
			})
		}},
		"a taint": {
			build: func(st *fixture) {
				st.pool("tainted", dedicated)
				st.claim("tainted-1", "small/a")
				st.pod("web0", "tainted-1")
			},
			want: both("web0", "TaintToleration"),
		},
		"a cordoned node": {
			build: func(st *fixture) {
				st.node("n1", "a").Spec.Unschedulable = true
				st.pod("web0", "n1")
			},
			want: both("web0", "NodeUnschedulable"),
		},
		"ports on different nodes": {build: func(st *fixture) {
			st.claim("default-1", "small/a")
			st.claim("default-2", "small/a")
			st.pod("web0", "default-1", port)
			st.pod("web1", "default-2", port)
		}},
		"a port taken twice": {
			build: func(st *fixture) {
				st.claim("default-1", "small/a")
				st.pod("web0", "default-1", port)
				st.pod("web1", "default-1", port)
			},
			want: []string{"finished default/web0 NodePorts", "finished default/web1 NodePorts", "arrival default/web1 NodePorts"},
		},
		"spread evenly": {build: func(st *fixture) {
			st.claim("default-1", "small/a")
			st.claim("default-2", "small/b")
			st.pod("web0", "default-1", spread(zone, "web"))
			st.pod("web1", "default-2", spread(zone, "web"))
		}},
		"spread unevenly": {
			build: func(st *fixture) {
				st.node("n1", "b")
				st.claim("default-1", "small/a")
				st.pod("web0", "default-1", spread(zone, "web"))
				st.pod("web1", "default-1", spread(zone, "web"))
			},
			want: []string{"finished default/web0 PodTopologySpread", "finished default/web1 PodTopologySpread", "arrival default/web1 PodTopologySpread"},
		},
		"partners": {build: func(st *fixture) {
			st.claim("default-1", "small/a")
			st.pod("web0", "default-1", affinity(host, "db"))
			st.pod("db0", "default-1")
		}},
		"no partners": {
			build: func(st *fixture) {
				st.claim("default-1", "small/a")
				st.claim("default-2", "small/a")
				st.pod("web0", "default-1", affinity(host, "db"))
				st.pod("db0", "default-2")
			},
			want: both("web0", "InterPodAffinity"),
		},
		"partners for each other, and no pod can be first": {
			build: func(st *fixture) {
				st.claim("default-1", "small/a")
				st.pod("db0", "default-1", affinity(host, "web"))
				st.pod("web0", "default-1", affinity(host, "db"))
			},
			want: []string{"arrival default/db0 InterPodAffinity", "arrival default/web0 InterPodAffinity"},
		},
		"its own partner, unless another of its kind is quicker": {
			build: func(st *fixture) {
				st.claim("default-1", "small/a")
				st.claim("default-2", "small/a")
				st.pod("web0", "default-1", affinity(host, "web"))
				st.pod("web1", "default-1", affinity(host, "web"))
				st.pod("web2", "default-2")
			},
			want: []string{"arrival default/web0 InterPodAffinity", "arrival default/web1 InterPodAffinity"},
		},
		"apart": {build: func(st *fixture) {
			st.claim("default-1", "small/a")
			st.claim("default-2", "small/a")
			st.pod("web0", "default-1", antiAffinity(host, "web"))
			st.pod("web1", "default-2", antiAffinity(host, "web"))
		}},
		"not apart": {
			build: func(st *fixture) {
				st.node("n1", "a")
				st.running("old0", "n1", antiAffinity(zone, "web"))
				st.claim("default-1", "small/a")
				st.pod("web0", "default-1")
			},
			want: both("web0", "InterPodAffinity"),
		},
		"a terminating neighbour": {build: func(st *fixture) {
			st.node("n1", "a")
			st.running("old0", "n1", antiAffinity(zone, "web"), func(p *corev1.Pod) {
				now := p.CreationTimestamp
				p.DeletionTimestamp, p.Finalizers = &now, []string{"example.com/wait"}
			})
			st.claim("default-1", "small/a")
			st.pod("web0", "default-1")
		}},
		"where its volume is": {build: func(st *fixture) {
			st.claim("default-1", "small/a")
			st.pod("db0", "default-1", st.disk("data", "a"))
		}},
		"where its volume is not": {
			build: func(st *fixture) {
				st.claim("default-1", "small/b")
				st.pod("db0", "default-1", st.disk("data", "a"))
			},
			want: both("db0", "VolumeBinding"),
		},
		"where its volume can be made": {build: func(st *fixture) {
			st.claim("default-1", "small/a")
			st.pod("db0", "default-1", st.toBeMade("data", "a"))
		}},
		"where its volume cannot be made": {
			build: func(st *fixture) {
				st.claim("default-1", "small/b")
				st.pod("db0", "default-1", st.toBeMade("data", "a"))
			},
			want: both("db0", "VolumeBinding"),
		},
		"as many volumes as can be attached": {build: func(st *fixture) {
			st.node("n1", "a")
			st.attachable("n1", 2)
			st.running("old0", "n1", st.disk("one", "a"))
			st.pod("db0", "n1", st.disk("two", "a"))
		}},
		"more volumes than can be attached": {
			build: func(st *fixture) {
				st.node("n1", "a")
				st.attachable("n1", 1)
				st.running("old0", "n1", st.disk("one", "a"))
				st.pod("db0", "n1", st.disk("two", "a"))
			},
			want: both("db0", "NodeVolumeLimits"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newFixture()
			tc.build(st)
			if diff := cmp.Diff(tc.want, judged(t, st)); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlansThatMeanNothing(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]plan.Plan{
		"no such pod":   {Claims: []plan.Claim{{Name: "default-1", Pool: "default", Offer: plan.Offer{InstanceType: "small", Zone: "a", CapacityType: "spot"}, Pods: []snapshot.PodIndex{7}}}},
		"no such offer": {Claims: []plan.Claim{{Name: "default-1", Pool: "default", Offer: plan.Offer{InstanceType: "huge"}}}},
		"no such pool":  {Claims: []plan.Claim{{Name: "x-1", Pool: "x"}}},
	} {
		st := newFixture()
		if _, err := Judge(context.Background(), st.c.Listing(), st.c.Snapshot(), &p); err == nil {
			t.Errorf("%s: judged", name)
		}
	}
}

func TestRefusalText(t *testing.T) {
	t.Parallel()
	r := Refusal{When: Alternative, Pod: "default/web", Node: "default-1", Offer: "small/a/spot", Reason: "NodeResourcesFit: Insufficient cpu"}
	if got, want := r.String(), "alternative: default/web on default-1 as small/a/spot: NodeResourcesFit: Insufficient cpu"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSampleTakesFirstAndLast(t *testing.T) {
	t.Parallel()
	var offers []plan.Offer
	for i := range 10 {
		offers = append(offers, plan.Offer{InstanceType: strings.Repeat("x", i)})
	}
	got := sample(offers)
	if len(got) != alternativesAsked || got[0] != offers[0] || got[len(got)-1] != offers[9] {
		t.Errorf("sample is %v", got)
	}
	if few := sample(offers[:2]); len(few) != 2 {
		t.Errorf("sample of two is %v", few)
	}
}
