package check

import (
	"testing"

	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

func asks(key string, op requirement.Operator, values ...string) func(*snapshot.Template) {
	return func(t *snapshot.Template) { t.Selector = t.Selector.With(requirement.New(key, op, values...)) }
}

func needs(cpu int64) func(*snapshot.Template) {
	return func(t *snapshot.Template) { t.Requests.CPU = cpu }
}

func port(number int32) func(*snapshot.Template) {
	return func(t *snapshot.Template) {
		t.HostPorts = append(t.HostPorts, model.HostPort{Port: number, Protocol: "TCP"})
	}
}

func tolerates(key string) func(*snapshot.Template) {
	return func(t *snapshot.Template) {
		t.Tolerations = append(t.Tolerations, model.Toleration{Key: key, Operator: "Exists"})
	}
}

func volume(id string, terms ...requirement.Set) func(*snapshot.Template) {
	return func(t *snapshot.Template) {
		t.Volumes = append(t.Volumes, snapshot.Volume{ID: id, Driver: "ebs", Terms: terms})
	}
}

func inZone(zone string) requirement.Set {
	return requirement.NewSet(requirement.New(requirement.KeyZone, requirement.In, zone))
}

func terms(list ...requirement.Set) func(*snapshot.Template) {
	return func(t *snapshot.Template) { t.Terms = list }
}

// A pod of a priority below the cutoff has no node made in a group with the rules of Cluster Autoscaler; it may use one that is there.
func TestExpendablePods(t *testing.T) {
	below := func(t *snapshot.Template) { t.Priority = -11 }
	rules := &snapshot.Group{ScaleDown: &snapshot.ScaleDown{Drain: snapshot.DrainRules{ExpendableBelow: -10}}}
	cases{
		"a claim of a pool": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", below)}, "small/a/spot")
		}},
		"a claim of such a group": {
			build: func(w *world) {
				w.s.Pools[0].Group = rules
				w.claim("default", []snapshot.PodIndex{w.pod("web", below)}, "small/a/spot")
			},
			want: []Rule{Expendable},
		},
		"a node of such a group": {build: func(w *world) {
			w.s.Pools[0].Group = rules
			w.node("n1", "a")
			w.place("n1", w.pod("web", below))
		}},
	}.run(t)
}

func TestTaints(t *testing.T) {
	gpu := []model.Taint{{Key: "gpu", Effect: model.NoSchedule}}
	soft := []model.Taint{{Key: "gpu", Effect: model.PreferNoSchedule}}
	cases{
		"tolerated on a claim": {build: func(w *world) {
			w.s.Pools[0].Taints = gpu
			w.claim("default", []snapshot.PodIndex{w.pod("web", tolerates("gpu"))}, "small/a/spot")
		}},
		"not tolerated on a claim": {
			build: func(w *world) {
				w.s.Pools[0].Taints = gpu
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{Taint},
		},
		"one that only prefers": {build: func(w *world) {
			w.s.Pools[0].Taints = soft
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
		}},
		"a startup taint": {build: func(w *world) {
			w.s.Pools[0].StartupTaints = gpu
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
		}},
		"not tolerated on a node": {
			build: func(w *world) {
				w.node("n1", "a").Taints = gpu
				w.place("n1", w.pod("web"))
			},
			want: []Rule{Taint},
		},
		"a cordoned node": {
			build: func(w *world) {
				w.node("n1", "a").Unschedulable = true
				w.place("n1", w.pod("web"))
			},
			want: []Rule{Taint},
		},
		"a cordoned node, tolerated": {build: func(w *world) {
			w.node("n1", "a").Unschedulable = true
			w.place("n1", w.pod("web", tolerates("node.kubernetes.io/unschedulable")))
		}},
	}.run(t)
}

func TestLabels(t *testing.T) {
	cases{
		"the zone of the offer": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", asks(requirement.KeyZone, requirement.In, "a"))}, "small/a/spot")
		}},
		"an alternative in the wrong zone": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", asks(requirement.KeyZone, requirement.In, "a"))}, "small/a/spot", "small/b/spot")
			},
			want: []Rule{Label},
		},
		"an offer that is not listed but that the claim admits": {
			build: func(w *world) {
				c := w.claim("default", []snapshot.PodIndex{w.pod("web", asks(requirement.KeyZone, requirement.In, "a"))}, "small/a/spot")
				c.Requirements = c.Requirements.Replaced(requirement.New(requirement.KeyZone, requirement.In, "a", "b"))
			},
			want: []Rule{Label},
		},
		"an admitted offer that is sold out": {build: func(w *world) {
			w.offering("small", "b", "spot").Available = false
			c := w.claim("default", []snapshot.PodIndex{w.pod("web", asks(requirement.KeyZone, requirement.In, "a"))}, "small/a/spot")
			c.Requirements = c.Requirements.Replaced(requirement.New(requirement.KeyZone, requirement.In, "a", "b"))
		}},
		"one of several terms": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", terms(inZone("c"), inZone("b")))}, "small/b/spot")
		}},
		"different terms under different offers": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", terms(inZone("a"), inZone("b")))}, "small/a/spot", "small/b/spot")
		}},
		"none of several terms": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", terms(inZone("c"), inZone("b")))}, "small/a/spot")
			},
			want: []Rule{Label},
		},
		"a custom label that the pool leaves open and the claim settles": {build: func(w *world) {
			w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(requirement.New("team", requirement.In, "red", "blue"))
			c := w.claim("default", []snapshot.PodIndex{w.pod("web", asks("team", requirement.In, "red"))}, "small/a/spot")
			c.Labels = map[string]string{"team": "red"}
		}},
		"a custom label settled through the requirements": {build: func(w *world) {
			w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(requirement.New("team", requirement.Exists))
			c := w.claim("default", []snapshot.PodIndex{w.pod("web", asks("team", requirement.In, "red"))}, "small/a/spot")
			c.Requirements = c.Requirements.With(requirement.New("team", requirement.In, "red"))
		}},
		"pods that disagree about a custom label": {
			build: func(w *world) {
				w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(requirement.New("team", requirement.In, "red", "blue"))
				red, blue := w.pod("red", asks("team", requirement.In, "red")), w.pod("blue", asks("team", requirement.In, "blue"))
				w.claim("default", []snapshot.PodIndex{red, blue}, "small/a/spot").Labels = map[string]string{"team": "red"}
			},
			want: []Rule{Label},
		},
		"a custom label that is not defined": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", asks("team", requirement.Exists))}, "small/a/spot")
			},
			want: []Rule{Label},
		},
		"a custom label that the pool's nodes have, with any value": {build: func(w *world) {
			w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(requirement.New("team", requirement.Exists))
			w.claim("default", []snapshot.PodIndex{w.pod("web", asks("team", requirement.Exists))}, "small/a/spot")
		}},
		"a value of it that is not certain": {
			build: func(w *world) {
				w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(requirement.New("team", requirement.Exists))
				web := w.pod("web", asks("team", requirement.NotIn, "red"))
				w.claim("default", []snapshot.PodIndex{web}, "small/a/spot")
			},
			want: []Rule{Label},
		},
		"a value of it that the claim rules out": {build: func(w *world) {
			w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(requirement.New("team", requirement.Exists))
			c := w.claim("default", []snapshot.PodIndex{w.pod("web", asks("team", requirement.NotIn, "red"))}, "small/a/spot")
			c.Requirements = c.Requirements.With(requirement.New("team", requirement.NotIn, "red", "blue"))
		}},
		"a number that is not certain": {
			build: func(w *world) {
				w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(requirement.New("team", requirement.Exists))
				w.claim("default", []snapshot.PodIndex{w.pod("web", asks("team", requirement.Gt, "3"))}, "small/a/spot")
			},
			want: []Rule{Label},
		},
		"absence of a custom label that the pool's nodes have": {
			build: func(w *world) {
				w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(requirement.New("team", requirement.Exists))
				w.claim("default", []snapshot.PodIndex{w.pod("web", asks("team", requirement.DoesNotExist))}, "small/a/spot").Requirements = requirement.Set{}
			},
			want: []Rule{Label},
		},
		"absence of a custom label": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", asks("team", requirement.NotIn, "red"))}, "small/a/spot")
		}},
		"an operating system that the type leaves open": {
			build: func(w *world) {
				small := w.kind("small")
				small.Requirements = small.Requirements.Replaced(requirement.New(requirement.KeyOS, requirement.In, "linux", "windows"))
				linux := w.pod("web", asks(requirement.KeyOS, requirement.In, "linux"))
				w.claim("default", []snapshot.PodIndex{linux}, "small/a/spot")
			},
			want: []Rule{Label},
		},
		"an operating system that any choice satisfies": {build: func(w *world) {
			small := w.kind("small")
			small.Requirements = small.Requirements.Replaced(requirement.New(requirement.KeyOS, requirement.In, "linux", "windows"))
			w.claim("default", []snapshot.PodIndex{w.pod("web", asks(requirement.KeyOS, requirement.Exists))}, "small/a/spot")
		}},
		"a host that a new node can never be": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", asks(requirement.KeyHostname, requirement.In, "default-1"))}, "small/a/spot")
			},
			want: []Rule{Label},
		},
		"the host itself": {build: func(w *world) {
			w.node("n1", "a")
			w.place("n1", w.pod("web", asks(requirement.KeyHostname, requirement.In, "n1")))
		}},
		"a label that an existing node does not have": {
			build: func(w *world) {
				w.node("n1", "a")
				w.place("n1", w.pod("web", asks(requirement.KeyOS, requirement.In, "linux")))
			},
			want: []Rule{Label},
		},
	}.run(t)
}

func TestVolumes(t *testing.T) {
	limited := func(w *world, limit int64) {
		w.node("n1", "a").VolumeLimits = []model.Amount{{Name: "ebs", Value: limit}}
	}
	cases{
		"where the volume is": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("db", volume("data", inZone("a")))}, "small/a/spot")
		}},
		"where it may be made": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("db", volume("data", inZone("b"), inZone("a")))}, "small/a/spot", "small/b/spot")
		}},
		"elsewhere": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("db", volume("data", inZone("b")))}, "small/a/spot")
			},
			want: []Rule{Volume},
		},
		"two volumes in different zones": {
			build: func(w *world) {
				w.node("n1", "a")
				w.place("n1", w.pod("db", volume("data", inZone("a")), volume("log", inZone("b"))))
			},
			want: []Rule{Volume},
		},
		"as many as the node can attach": {build: func(w *world) {
			limited(w, 2)
			w.bound("n1", "old", volume("one"))
			w.place("n1", w.pod("db", volume("two")))
		}},
		"more than the node can attach": {
			build: func(w *world) {
				limited(w, 2)
				w.bound("n1", "old", volume("one"))
				w.place("n1", w.pod("db", volume("two"), volume("three")))
			},
			want: []Rule{VolumeLimit},
		},
		"one volume for several pods": {build: func(w *world) {
			limited(w, 1)
			w.bound("n1", "old", volume("one"))
			w.place("n1", w.pod("db", volume("one")), w.pod("db", volume("one")))
		}},
		"a driver that is over its limit already and not asked": {build: func(w *world) {
			limited(w, 1)
			w.bound("n1", "old", volume("one"), volume("two"))
			w.place("n1", w.pod("web"))
		}},
	}.run(t)
}

func TestRoom(t *testing.T) {
	cases{
		"just enough": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", needs(1000)), w.pod("web", needs(900))}, "small/a/spot")
		}},
		"a little more": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", needs(1000)), w.pod("web", needs(901))}, "small/a/spot")
			},
			want: []Rule{Room},
		},
		"an alternative that is too small": {
			build: func(w *world) {
				w.offering("small", "a", "on-demand").Price = 3 * usd
				w.claim("default", []snapshot.PodIndex{w.pod("web", needs(3000))}, "large/a/spot", "small/a/on-demand")
			},
			want: []Rule{Room},
		},
		"an admitted type that is too small for what the claim requests": {build: func(w *world) {
			web := w.pod("web", needs(3000))
			c := w.claim("default", []snapshot.PodIndex{web}, "large/a/spot")
			c.Requirements = c.Requirements.Replaced(requirement.New(requirement.KeyInstanceType, requirement.In, "large", "small"))
		}},
		"a daemon takes the rest": {
			build: func(w *world) {
				w.daemon("agent", needs(200))
				c := w.claim("default", []snapshot.PodIndex{w.pod("web", needs(1800))}, "small/a/spot")
				c.Requests = c.Requests.Add(model.Resources{CPU: 200, Memory: gib, Pods: 1})
			},
			want: []Rule{Room},
		},
		"daemons without room, on a node for pods that ask for something else": {
			build: func(w *world) {
				w.daemon("agent", needs(2500))
				c := w.claim("default", []snapshot.PodIndex{w.pod("web", needs(0))}, "small/a/spot")
				c.Requests = c.Requests.Add(model.Resources{CPU: 2500, Memory: gib, Pods: 1})
			},
			want: []Rule{Room},
		},
		"daemons without room on an alternative": {
			build: func(w *world) {
				w.offering("small", "a", "on-demand").Price = 3 * usd
				w.daemon("agent", needs(2500))
				c := w.claim("default", []snapshot.PodIndex{w.pod("web", needs(0))}, "large/a/spot", "small/a/on-demand")
				c.Requests = c.Requests.Add(model.Resources{CPU: 2500, Memory: gib, Pods: 1})
			},
			want: []Rule{Room},
		},
		"daemons without room on a node that is there": {build: func(w *world) {
			w.node("n1", "a")
			w.daemon("agent", needs(2500))
			w.place("n1", w.pod("web", needs(0)))
		}},
		"a daemon that runs elsewhere": {build: func(w *world) {
			w.daemon("agent", needs(200), asks(requirement.KeyZone, requirement.In, "b"))
			w.claim("default", []snapshot.PodIndex{w.pod("web", needs(1800))}, "small/a/spot")
		}},
		"a daemon that would run on an alternative": {
			build: func(w *world) {
				w.daemon("agent", needs(200), asks(requirement.KeyZone, requirement.In, "b"))
				w.claim("default", []snapshot.PodIndex{w.pod("web", needs(1800))}, "small/a/spot", "small/b/spot")
			},
			want: []Rule{Room},
		},
		"a daemon that selects nodes in service": {
			build: func(w *world) {
				w.daemon("agent", needs(200), asks("karpenter.sh/initialized", requirement.In, "true"))
				c := w.claim("default", []snapshot.PodIndex{w.pod("web", needs(1800))}, "small/a/spot")
				c.Requests = c.Requests.Add(model.Resources{CPU: 200, Memory: gib, Pods: 1})
			},
			want: []Rule{Room},
		},
		"beside running pods": {
			build: func(w *world) {
				w.node("n1", "a")
				w.bound("n1", "old", needs(1500))
				w.place("n1", w.pod("web"))
			},
			want: []Rule{Room},
		},
		"beside a pod that is terminating": {
			build: func(w *world) {
				w.node("n1", "a")
				w.s.Pods[w.bound("n1", "old", needs(1500))].Terminating = true
				w.place("n1", w.pod("web"))
			},
			want: []Rule{Room},
		},
		"beside a daemon that is still to come": {
			build: func(w *world) {
				w.node("n1", "a")
				w.daemon("agent", needs(200))
				w.place("n1", w.pod("web", needs(1800)))
			},
			want: []Rule{Room},
		},
		"beside a daemon that runs already": {build: func(w *world) {
			w.node("n1", "a")
			w.daemon("agent", needs(200))
			w.bound("n1", "agent", needs(200), func(t *snapshot.Template) { t.Daemon = true })
			w.place("n1", w.pod("web", needs(1700)))
		}},
		"a resource that is overdrawn and not asked for": {build: func(w *world) {
			w.node("n1", "a")
			w.bound("n1", "old", needs(5000))
			w.place("n1", w.pod("web", needs(0)))
		}},
		"more pods than the node runs": {
			build: func(w *world) {
				var pods []snapshot.PodIndex
				for range 11 {
					pods = append(pods, w.pod("web", needs(1), func(t *snapshot.Template) { t.Requests.Memory = 1 }))
				}
				w.claim("default", pods, "small/a/spot")
			},
			want: []Rule{Room},
		},
		"an extended resource that the node does not have": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", func(t *snapshot.Template) {
					t.Requests = t.Requests.Add(model.NewResources(model.Amount{Name: "nvidia.com/gpu", Value: 1}))
				})}, "small/a/spot")
			},
			want: []Rule{Room},
		},
	}.run(t)
}

func TestHostPorts(t *testing.T) {
	cases{
		"different ports": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web", port(80)), w.pod("api", port(81))}, "small/a/spot")
		}},
		"the same port twice on a claim": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web", port(80)), w.pod("api", port(80))}, "small/a/spot")
			},
			want: []Rule{HostPort},
		},
		"a port of a running pod": {
			build: func(w *world) {
				w.node("n1", "a")
				w.bound("n1", "old", port(80))
				w.place("n1", w.pod("web", port(80)))
			},
			want: []Rule{HostPort},
		},
		"a port of a daemon": {
			build: func(w *world) {
				w.daemon("proxy", needs(0), port(80), func(t *snapshot.Template) { t.Requests = model.Resources{} })
				w.claim("default", []snapshot.PodIndex{w.pod("web", port(80))}, "small/a/spot")
			},
			want: []Rule{HostPort},
		},
		"the same port on different addresses": {build: func(w *world) {
			on := func(ip string) func(*snapshot.Template) {
				return func(t *snapshot.Template) {
					t.HostPorts = []model.HostPort{{IP: ip, Port: 80, Protocol: "TCP"}}
				}
			}
			w.claim("default", []snapshot.PodIndex{w.pod("web", on("10.0.0.1")), w.pod("api", on("10.0.0.2"))}, "small/a/spot")
		}},
	}.run(t)
}
