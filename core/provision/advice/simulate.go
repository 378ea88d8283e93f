package advice

import (
	"maps"
	"slices"
	"strconv"

	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/provision/search"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Simulated pods are all alike. Each of them adds some effort: once a single pod has a place, nothing is
// left to improve.
const (
	podEffort        = 20_000
	simulationEffort = 1_000_000
)

// mostTogether is how many pods at most are simulated together.
const mostTogether = 2000

// simulate decides anew, for one pod, in a small world where the change has been made. If
// the pod gets a node, it notes in the remedy which one and at what price.
func (k *Adviser) simulate(p *proposal) bool {
	o := k.outcomeFor(p, 1)
	if !o.placed || len(o.kinds) != 1 {
		return false
	}
	p.remedy.InstanceType, p.remedy.Price = o.kinds[0], o.price
	return true
}

// simulateLimits finds out how far limits would have to be raised: for all pods of a wish,
// since an answer for the first of a thousand would not help.
func (k *Adviser) simulateLimits(p *proposal, pods int) {
	if pods > mostTogether {
		pods = 1
	}
	o := k.outcomeFor(p, pods)
	if !o.placed {
		pods = 1 // rules between the pods: one of them had a place
		o = k.outcomeFor(p, pods)
	}
	nodes, left := len(o.kinds), k.pools.Left[p.pool]
	for i, limit := range slices.Concat(k.d.Snapshot.Pools[p.pool].Limits, k.d.Snapshot.Settings.Limits) {
		want := o.taken.Get(limit.Name)
		if limit.Name == model.Nodes {
			want = int64(nodes)
		}
		over := want - left[i].Value
		if over <= 0 {
			continue
		}
		shift := reason.Shift{Name: limit.Name, From: limit.Value, To: limit.Value + over}
		if k.d.Snapshot.OfCluster(left, i) {
			p.remedy.Totals = append(p.remedy.Totals, shift)
		} else {
			p.remedy.Amounts = append(p.remedy.Amounts, shift)
		}
	}
	p.remedy.Pods, p.remedy.Nodes, p.remedy.Price = pods, nodes, o.price
}

// outcomeFor decides for some pods of the template. Simulations among other pods are not remembered:
// those are many, and hardly ever all where they were.
func (k *Adviser) outcomeFor(p *proposal, pods int) simulated {
	sandbox := k.sandbox(p, pods)
	k.Visits -= simulationVisits
	for i := range sandbox.Templates {
		k.Visits -= valueVisits * values(&sandbox.Templates[i])
	}
	run := func() simulated { return run(sandbox, min(podEffort*int64(pods), simulationEffort)) }
	if k.dependsOnPods(p.template) {
		return run()
	}
	return k.Known.recall(sandbox, run)
}

// values is how many values the rules between pods of a template name.
func values(t *snapshot.Template) int {
	n := 0
	for _, terms := range [][]snapshot.AffinityTerm{t.Affinity, t.AntiAffinity} {
		for i := range terms {
			for _, e := range terms[i].Selector.Expressions {
				n += 1 + len(e.Values)
			}
		}
	}
	return n
}

func run(sandbox *snapshot.Snapshot, effort int64) simulated {
	d := search.New(snapshot.Sort(sandbox, nil), effort, nil)
	if len(d.Wishes) == 0 {
		return simulated{}
	}
	best := d.Best()
	if best.Unplaced() > 0 {
		return simulated{}
	}
	out := simulated{placed: true, price: best.Result.Price}
	for _, n := range best.Result.New {
		m := &d.Space.Machines[n.Machine]
		out.kinds, out.taken = append(out.kinds, m.Type.Name), out.taken.Add(m.Capacity)
	}
	return out
}

// sandbox is the small world: one pool, the types that may do, the pods and the daemons.
func (k *Adviser) sandbox(p *proposal, pods int) *snapshot.Snapshot {
	var types []catalog.Type
	seen := map[*catalog.Type]bool{}
	for _, t := range p.types {
		if !seen[t] {
			seen[t] = true
			types = append(types, *t)
		}
	}
	s := &snapshot.Snapshot{
		Now: k.d.Snapshot.Now, Settings: k.d.Snapshot.Settings,
		Catalogs:  []catalog.Catalog{{Types: types}},
		Pools:     []snapshot.Pool{p.in},
		Templates: []snapshot.Template{*p.template},
	}
	for n := range pods {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: p.template.Namespace, Name: "simulation-" + strconv.Itoa(n), Pending: true})
	}
	s.Settings.ReservedCapacity = false // the plan may have used reservations up
	s.Settings.Limits = nil             // they are among those of the pool
	s.Pools[0].Catalog = 0
	s.Pools[0].Limits = slices.Clone(k.pools.Left[p.pool])
	if p.unlimited {
		s.Pools[0].Limits = nil
	}
	for _, d := range k.d.Snapshot.Daemons {
		s.Templates = append(s.Templates, k.d.Snapshot.Templates[d.Template])
		s.Daemons = append(s.Daemons, snapshot.Daemon{Namespace: d.Namespace, Name: d.Name, Template: snapshot.TemplateIndex(len(s.Templates) - 1)})
	}
	if k.dependsOnPods(p.template) {
		k.addPlannedCluster(s, p)
	}
	return s
}

// dependsOnPods tells pods for which it matters what other pods are where: by their own rules
// or by the anti-affinity of others.
func (k *Adviser) dependsOnPods(t *snapshot.Template) bool {
	if len(t.Spreads)+len(t.Affinity)+len(t.AntiAffinity) > 0 {
		return true
	}
	for i := range k.d.Snapshot.Templates {
		if concerns(k.d.Snapshot.Templates[i].AntiAffinity, t) {
			return true
		}
	}
	return false
}

func concerns(terms []snapshot.AffinityTerm, t *snapshot.Template) bool {
	return slices.ContainsFunc(terms, func(a snapshot.AffinityTerm) bool {
		return slices.Contains(a.Namespaces, t.Namespace) && a.Selector.Matches(t.Labels)
	})
}

// matters reports whether a rule between the two templates may count pods of other.
func matters(t, other *snapshot.Template) bool {
	if len(other.AntiAffinity) > 0 || concerns(t.Affinity, other) || concerns(t.AntiAffinity, other) {
		return true
	}
	return slices.ContainsFunc(t.Spreads, func(s snapshot.Spread) bool {
		return t.Namespace == other.Namespace && s.Selector.Matches(other.Labels)
	})
}

// cluster is the cluster as it will be once the plan is carried out: nodes, and how many
// pods of each template they have. Nodes are full: a simulation is about new ones.
type cluster struct {
	nodes []snapshot.Node
	pods  []podGroup
}

type podGroup struct {
	node     string
	template snapshot.TemplateIndex
	count    int
}

// addPlannedCluster adds the nodes, and of the pods those that a rule may count. Pods of the same
// template have changed too: people change a workload, not one of its pods.
func (k *Adviser) addPlannedCluster(s *snapshot.Snapshot, p *proposal) {
	if k.planned == nil {
		k.planned = k.plannedCluster()
	}
	k.Visits -= strangerVisits * (len(k.planned.nodes) + len(k.planned.pods))
	s.Nodes = k.planned.nodes
	at := map[snapshot.TemplateIndex]snapshot.TemplateIndex{}
	for _, podGroup := range k.planned.pods {
		index, known := at[podGroup.template]
		if !known {
			index = -1
			if other := &k.d.Snapshot.Templates[podGroup.template]; other == p.of {
				index = 0
			} else if matters(p.template, other) {
				index = snapshot.TemplateIndex(len(s.Templates))
				s.Templates = append(s.Templates, *other)
			}
			at[podGroup.template] = index
		}
		for n := 0; index >= 0 && n < podGroup.count; n++ {
			s.Pods = append(s.Pods, snapshot.Pod{
				Namespace: s.Templates[index].Namespace, Name: "pod-" + strconv.Itoa(len(s.Pods)), Template: index, Node: podGroup.node,
			})
		}
	}
}

func (k *Adviser) plannedCluster() *cluster {
	out := &cluster{}
	d := k.d
	for i := range d.Snapshot.Nodes {
		if n := &d.Snapshot.Nodes[i]; !n.Leaving {
			out.nodes = append(out.nodes, full(n.Name, n.Labels, n.Taints))
		}
	}
	for h := range d.Space.Hosts {
		name := d.Snapshot.Nodes[d.Space.Hosts[h].Node].Name
		for _, p := range d.Space.Hosts[h].Bound {
			if pod := &d.Snapshot.Pods[p]; !pod.Terminating {
				out.pods = append(out.pods, podGroup{name, pod.Template, 1})
			}
		}
	}
	k.addPlanned(out)
	return out
}

// full is a node without room.
func full(name string, labels map[string]string, taints []model.Taint) snapshot.Node {
	return snapshot.Node{Name: name, Labels: labels, Taints: taints, Initialized: true}
}

// addPlanned adds what the plan puts onto nodes, old and new.
func (k *Adviser) addPlanned(out *cluster) {
	for _, n := range k.a.Result.Hosts {
		name := k.d.Snapshot.Nodes[k.d.Space.Hosts[n.Host].Node].Name
		for _, l := range n.Loads {
			out.pods = append(out.pods, podGroup{name, k.a.Set.Shapes[k.a.Portions[l.Lot].Shape].Template, l.Count})
		}
	}
	for i, n := range k.a.Result.New {
		m := &k.d.Space.Machines[n.Machine]
		name := "planned-" + strconv.Itoa(i)
		asked := k.d.Snapshot.Pools[m.Pool].Requirements
		for _, l := range n.Loads {
			asked = asked.Intersect(l.Places.Require)
			out.pods = append(out.pods, podGroup{name, k.a.Set.Shapes[k.a.Portions[l.Lot].Shape].Template, l.Count})
		}
		labels := maps.Clone(k.labels(m, n.Slot, asked))
		labels[feasible.HostnameKey] = name
		out.nodes = append(out.nodes, full(name, labels, k.d.Snapshot.Pools[m.Pool].Taints))
	}
}
