package check

import (
	"testing"

	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

func app(name string) model.Selector {
	return model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{name}}}}
}

func term(key, name string) snapshot.AffinityTerm {
	return snapshot.AffinityTerm{Key: key, Selector: app(name), Namespaces: []string{"default"}}
}

func near(key, name string) func(*snapshot.Template) {
	return func(t *snapshot.Template) { t.Affinity = append(t.Affinity, term(key, name)) }
}

func apart(key, name string) func(*snapshot.Template) {
	return func(t *snapshot.Template) { t.AntiAffinity = append(t.AntiAffinity, term(key, name)) }
}

func spread(key, name string, skew int32, changes ...func(*snapshot.Spread)) func(*snapshot.Template) {
	return func(t *snapshot.Template) {
		s := snapshot.Spread{Key: key, MaxSkew: skew, Selector: app(name)}
		for _, change := range changes {
			change(&s)
		}
		t.Spreads = append(t.Spreads, s)
	}
}

const (
	zone = requirement.KeyZone
	host = requirement.KeyHostname
)

func TestSpread(t *testing.T) {
	web := func(w *world, changes ...func(*snapshot.Template)) snapshot.PodIndex {
		return w.pod("web", append([]func(*snapshot.Template){spread(zone, "web", 1)}, changes...)...)
	}
	cases{
		"even": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{web(w), web(w)}, "small/a/spot")
			w.claim("default", []snapshot.PodIndex{web(w)}, "small/b/spot")
		}},
		"uneven": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{web(w), web(w), web(w)}, "small/a/spot")
				w.claim("default", []snapshot.PodIndex{web(w)}, "small/b/spot")
			},
			want: []Rule{Spread},
		},
		"even unless the cloud chooses otherwise": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{web(w), web(w)}, "small/a/spot", "small/b/spot")
				w.claim("default", []snapshot.PodIndex{web(w), web(w)}, "small/b/spot")
			},
			want: []Rule{Spread},
		},
		"a zone with an empty node counts": {
			build: func(w *world) {
				w.node("n1", "b")
				w.claim("default", []snapshot.PodIndex{web(w), web(w)}, "small/a/spot")
			},
			want: []Rule{Spread},
		},
		"a zone that the pod may not use does not count": {build: func(w *world) {
			w.node("n1", "b")
			inA := asks(zone, requirement.In, "a")
			w.claim("default", []snapshot.PodIndex{web(w, inA), web(w, inA)}, "small/a/spot")
		}},
		"unless its policy says so": {
			build: func(w *world) {
				w.node("n1", "b")
				pod := func() snapshot.PodIndex {
					return w.pod("web", asks(zone, requirement.In, "a"), spread(zone, "web", 1, func(s *snapshot.Spread) { s.IgnoreNodeAffinity = true }))
				}
				w.claim("default", []snapshot.PodIndex{pod(), pod()}, "small/a/spot")
			},
			want: []Rule{Spread},
		},
		"a zone behind a taint counts": {
			build: func(w *world) {
				w.node("n1", "b").Taints = []model.Taint{{Key: "gpu", Effect: model.NoSchedule}}
				w.claim("default", []snapshot.PodIndex{web(w), web(w)}, "small/a/spot")
			},
			want: []Rule{Spread},
		},
		"unless its policy says not": {build: func(w *world) {
			w.node("n1", "b").Taints = []model.Taint{{Key: "gpu", Effect: model.NoSchedule}}
			pod := func() snapshot.PodIndex {
				return w.pod("web", spread(zone, "web", 1, func(s *snapshot.Spread) { s.HonorTaints = true }))
			}
			w.claim("default", []snapshot.PodIndex{pod(), pod()}, "small/a/spot")
		}},
		"fewer domains than it needs": {
			build: func(w *world) {
				pod := func() snapshot.PodIndex {
					return w.pod("web", spread(zone, "web", 1, func(s *snapshot.Spread) { s.MinDomains = 3 }))
				}
				w.claim("default", []snapshot.PodIndex{pod(), pod()}, "small/a/spot")
				w.claim("default", []snapshot.PodIndex{pod(), pod()}, "small/b/spot")
			},
			want: []Rule{Spread},
		},
		"fewer domains, but few pods": {build: func(w *world) {
			pod := func() snapshot.PodIndex {
				return w.pod("web", spread(zone, "web", 1, func(s *snapshot.Spread) { s.MinDomains = 3 }))
			}
			w.claim("default", []snapshot.PodIndex{pod()}, "small/a/spot")
			w.claim("default", []snapshot.PodIndex{pod()}, "small/b/spot")
		}},
		"one on each host": {build: func(w *world) {
			pod := func() snapshot.PodIndex { return w.pod("web", spread(host, "web", 1)) }
			w.claim("default", []snapshot.PodIndex{pod()}, "small/a/spot")
			w.claim("default", []snapshot.PodIndex{pod()}, "small/a/spot")
		}},
		"two on one host beside an empty one": {
			build: func(w *world) {
				pod := func() snapshot.PodIndex { return w.pod("web", spread(host, "web", 1)) }
				w.node("n1", "a")
				w.claim("default", []snapshot.PodIndex{pod(), pod()}, "small/a/spot")
			},
			want: []Rule{Spread},
		},
		"pods that are there count": {
			build: func(w *world) {
				w.node("n1", "a")
				w.node("n2", "b")
				w.bound("n1", "web")
				w.place("n1", web(w))
			},
			want: []Rule{Spread},
		},
		"pods that are going do not": {build: func(w *world) {
			w.node("n1", "a")
			w.node("n2", "b")
			w.s.Pods[w.bound("n1", "web")].Terminating = true
			w.place("n1", web(w))
		}},
		"pods of other namespaces do not": {build: func(w *world) {
			w.node("n1", "a")
			w.node("n2", "b")
			w.bound("n1", "web", func(t *snapshot.Template) { t.Namespace = "other" })
			w.place("n1", web(w))
		}},
		"pods on leaving nodes do not, nor does the zone": {build: func(w *world) {
			w.node("n1", "b").Leaving = true
			w.bound("n1", "web")
			w.claim("default", []snapshot.PodIndex{web(w), web(w)}, "small/a/spot")
		}},
		"a preference is no rule": {build: func(w *world) {
			w.node("n1", "b")
			pod := func() snapshot.PodIndex {
				return w.pod("web", spread(zone, "web", 1, func(s *snapshot.Spread) { s.Soft = true }))
			}
			w.claim("default", []snapshot.PodIndex{pod(), pod()}, "small/a/spot")
		}},
		"a node without the label": {
			build: func(w *world) {
				w.node("n1", "a")
				w.place("n1", w.pod("web", spread("rack", "web", 1)))
			},
			want: []Rule{Spread},
		},
		"an empty selector counts no pod": {build: func(w *world) {
			w.node("n1", "b")
			pod := func() snapshot.PodIndex {
				return w.pod("web", spread(zone, "web", 1, func(s *snapshot.Spread) { s.Selector = model.Selector{All: true} }))
			}
			w.claim("default", []snapshot.PodIndex{pod(), pod()}, "small/a/spot")
		}},
	}.run(t)
}

func TestAntiAffinity(t *testing.T) {
	cases{
		"on different hosts": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", apart(host, "web"))}, "small/a/spot")
			w.claim("default", []snapshot.PodIndex{w.pod("web", apart(host, "web"))}, "small/a/spot")
		}},
		"on one host": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", apart(host, "web")), w.pod("web")}, "small/a/spot")
			},
			want: []Rule{AntiAffinity},
		},
		"in one zone": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", apart(zone, "web"))}, "small/a/spot")
				w.claim("default", []snapshot.PodIndex{w.pod("web", apart(zone, "web"))}, "small/a/spot")
			},
			want: []Rule{AntiAffinity},
		},
		"in zones that may turn out to be the same": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", apart(zone, "web"))}, "small/a/spot")
				w.claim("default", []snapshot.PodIndex{w.pod("web", apart(zone, "web"))}, "small/b/spot", "small/a/on-demand")
			},
			want: []Rule{AntiAffinity},
		},
		"a running pod keeps others away": {
			build: func(w *world) {
				w.node("n1", "a")
				w.bound("n1", "old", apart(zone, "web"))
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{AntiAffinity},
		},
		"running pods that violate each other are not the plan's fault": {build: func(w *world) {
			w.node("n1", "a")
			w.bound("n1", "web", apart(host, "web"))
			w.bound("n1", "web", apart(host, "web"))
			w.claim("default", []snapshot.PodIndex{w.pod("api")}, "small/a/spot")
		}},
		"a pod that may not be evicted keeps others away while it lasts": {
			build: func(w *world) {
				w.node("n1", "a").Leaving = true
				w.bound("n1", "old", apart(zone, "web"))
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{AntiAffinity},
		},
		"a pod that moves does not": {build: func(w *world) {
			w.node("n1", "a").Leaving = true
			old := w.bound("n1", "old", apart(zone, "web"))
			w.s.Pods[old].Movable = true
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			w.claim("default", []snapshot.PodIndex{old}, "small/b/spot")
		}},
		"other namespaces do not matter": {build: func(w *world) {
			other := w.pod("web", func(t *snapshot.Template) { t.Namespace = "other" })
			w.claim("default", []snapshot.PodIndex{w.pod("web", apart(host, "web")), other}, "small/a/spot")
		}},
		"a node without the label has no domain": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", apart("rack", "web")), w.pod("web", apart("rack", "web"))}, "small/a/spot")
		}},
	}.run(t)
}

func TestAffinity(t *testing.T) {
	cases{
		"together": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", near(host, "api")), w.pod("api")}, "small/a/spot")
		}},
		"on another host": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", near(host, "api"))}, "small/a/spot")
				w.claim("default", []snapshot.PodIndex{w.pod("api")}, "small/a/spot")
			},
			want: []Rule{Affinity, AffinityOrder},
		},
		"in the zone of a running pod": {build: func(w *world) {
			w.node("n1", "a")
			w.bound("n1", "api")
			w.claim("default", []snapshot.PodIndex{w.pod("web", near(zone, "api"))}, "small/a/spot")
		}},
		"in its zone unless the cloud chooses otherwise": {
			build: func(w *world) {
				w.node("n1", "a")
				w.bound("n1", "api")
				w.claim("default", []snapshot.PodIndex{w.pod("web", near(zone, "api"))}, "small/a/spot", "small/b/spot")
			},
			want: []Rule{Affinity, AffinityOrder},
		},
		"with partners wherever the cloud chooses": {build: func(w *world) {
			w.node("n1", "a")
			w.node("n2", "b")
			w.bound("n1", "api")
			w.bound("n2", "api")
			w.claim("default", []snapshot.PodIndex{w.pod("web", near(zone, "api"))}, "small/a/spot", "small/b/spot")
		}},
		"near a pod that is leaving": {
			build: func(w *world) {
				w.node("n1", "a").Leaving = true
				w.bound("n1", "api")
				w.claim("default", []snapshot.PodIndex{w.pod("web", near(zone, "api"))}, "small/a/spot")
			},
			want: []Rule{Affinity, AffinityOrder},
		},
		"its own partner, alone": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", near(zone, "web"))}, "small/a/spot")
		}},
		"its own partner, in one zone": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", near(zone, "web"))}, "small/a/spot")
			w.claim("default", []snapshot.PodIndex{w.pod("web", near(zone, "web"))}, "small/a/spot")
		}},
		"its own partner, in two zones": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", near(zone, "web")), w.pod("web", near(zone, "web"))}, "small/a/spot")
				w.claim("default", []snapshot.PodIndex{w.pod("web", near(zone, "web")), w.pod("web", near(zone, "web"))}, "small/b/spot")
			},
			want: []Rule{AffinityOrder},
		},
		"its own partner, while others of its kind are elsewhere": {
			build: func(w *world) {
				w.node("n1", "b")
				w.bound("n1", "web")
				w.claim("default", []snapshot.PodIndex{w.pod("web", near(zone, "web"))}, "small/a/spot")
			},
			want: []Rule{Affinity, AffinityOrder},
		},
		"two that wait for each other": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", near(host, "api")), w.pod("api", near(host, "web"))}, "small/a/spot")
			},
			want: []Rule{AffinityOrder},
		},
		"two terms that one neighbour satisfies": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", near(host, "api"), near(zone, "api")), w.pod("api")}, "small/a/spot")
		}},
		"two terms that need two neighbours: kube-scheduler takes neither": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", near(host, "api"), near(host, "db")), w.pod("api"), w.pod("db")}, "small/a/spot")
			},
			want: []Rule{Affinity, AffinityOrder},
		},
		"a node without the label": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", near("rack", "web"))}, "small/a/spot")
			},
			want: []Rule{Affinity, AffinityOrder},
		},
	}.run(t)
}
