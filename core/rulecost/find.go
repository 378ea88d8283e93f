package rulecost

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/core/wait"
)

// found is a rule with how to leave it out: the templates or the pool that have it.
type found struct {
	Rule
	templates []snapshot.TemplateIndex
	pool      snapshot.PoolIndex
}

// ruleGroup is the rules of one kind about one thing. They are examined together first: most kinds cost
// nothing, however many workloads have them.
type ruleGroup struct {
	members []found
	size    int64 // of the pods that it is about, for the order in which families are looked at
}

// finder gathers the rules that may cost something.
type finder struct {
	s       *snapshot.Snapshot
	pods    []int // without a place, by template
	first   []string
	groups  []ruleGroup
	at      map[string]int            // groups by what they are about
	members map[string]map[string]int // of each, by whose they are
}

func newFinder(s *snapshot.Snapshot) *finder {
	s = wait.Without(s, wait.Pods(s))
	f := &finder{s: s, pods: make([]int, len(s.Templates)), first: make([]string, len(s.Templates)), at: map[string]int{}, members: map[string]map[string]int{}}
	leaving := map[string]bool{}
	for i := range s.Nodes {
		if s.Nodes[i].Leaving {
			leaving[s.Nodes[i].Name] = true
		}
	}
	for i := range s.Pods {
		pod := &s.Pods[i]
		if len(pod.Refused) > 0 || !pod.Pending && !(pod.Movable && leaving[pod.Node]) {
			continue
		}
		f.pods[pod.Template]++
		if name := f.first[pod.Template]; name == "" || pod.Name < name {
			f.first[pod.Template] = pod.Name
		}
	}
	return f
}

// find lists the families, those about the largest pods first.
func (f *finder) find() []ruleGroup {
	for t := range f.s.Templates {
		if f.pods[t] > 0 {
			f.ofTemplate(snapshot.TemplateIndex(t))
		}
	}
	f.ofPools()
	for i := range f.groups {
		members := f.groups[i].members
		slices.SortStableFunc(members, func(a, b found) int {
			return cmp.Or(cmp.Compare(b.Pods, a.Pods), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Workload, b.Workload), strings.Compare(a.Pool, b.Pool))
		})
	}
	slices.SortStableFunc(f.groups, func(a, b ruleGroup) int {
		x, y := &a.members[0], &b.members[0]
		return cmp.Or(cmp.Compare(b.size, a.size), strings.Compare(string(x.Kind), string(y.Kind)), strings.Compare(x.Key, y.Key), order.Bools(x.Soft, y.Soft))
	})
	return f.groups
}

// ofTemplate notes the rules of a template whose pods have no place.
func (f *finder) ofTemplate(at snapshot.TemplateIndex) {
	t := &f.s.Templates[at]
	preferences := f.s.Settings.Preferences != snapshot.Ignore
	for _, s := range t.Spreads {
		if !s.Soft || preferences {
			f.noteOf(at, Rule{Kind: Spread, Key: s.Key, Soft: s.Soft})
		}
	}
	for _, a := range t.AntiAffinity {
		f.noteOf(at, Rule{Kind: AntiAffinity, Key: a.Key})
	}
	for _, a := range t.Affinity {
		f.noteOf(at, Rule{Kind: Affinity, Key: a.Key})
	}
	if preferences {
		for _, a := range t.PreferredAntiAffinity {
			f.noteOf(at, Rule{Kind: AntiAffinity, Key: a.Term.Key, Soft: true})
		}
		for _, a := range t.PreferredAffinity {
			f.noteOf(at, Rule{Kind: Affinity, Key: a.Term.Key, Soft: true})
		}
		if len(t.Preferred) > 0 {
			f.noteOf(at, Rule{Kind: NodePreference, Soft: true})
		}
	}
	for _, about := range []struct {
		kind Kind
		key  string
	}{{Zone, requirement.KeyZone}, {CapacityType, requirement.KeyCapacityType}} {
		if t.Selector.Has(about.key) || slices.ContainsFunc(t.Terms, func(r requirement.Set) bool { return r.Has(about.key) }) {
			f.noteOf(at, Rule{Kind: about.kind})
		}
	}
}

// noteOf notes a rule of a template under its workload.
func (f *finder) noteOf(at snapshot.TemplateIndex, r Rule) {
	t := &f.s.Templates[at]
	r.Namespace, r.Workload, r.Workloads = t.Namespace, cmp.Or(t.Owner, "Pod/"+f.first[at]), 1
	f.note(found{Rule: r, templates: []snapshot.TemplateIndex{at}, pool: -1}, r.Namespace+"/"+r.Workload, f.pods[at], t.Requests)
}

// note enters a rule about so many pods of a size.
func (f *finder) note(r found, whose string, pods int, each model.Resources) {
	key := fmt.Sprint(r.Kind, r.Soft, r.pool >= 0, r.Key)
	i, known := f.at[key]
	if !known {
		i = len(f.groups)
		f.at[key], f.members[key] = i, map[string]int{}
		f.groups = append(f.groups, ruleGroup{})
	}
	family := &f.groups[i]
	m, known := f.members[key][whose]
	if !known {
		m = len(family.members)
		f.members[key][whose] = m
		family.members = append(family.members, r)
	}
	member := &family.members[m]
	if known {
		if slices.Contains(member.templates, r.templates[0]) {
			return // a template may say a thing twice
		}
		member.templates = append(member.templates, r.templates...)
	}
	member.Pods += pods
	family.size += int64(pods) * max(each.CPU, each.Memory>>22, 1) // 4 GiB count as a core does
}

// ofPools notes the rules of pools that may launch.
func (f *finder) ofPools() {
	all, size := 0, model.Resources{}
	for t, n := range f.pods {
		all += n
		size = size.Add(f.s.Templates[t].Requests.Times(int64(n)))
	}
	if all == 0 {
		return
	}
	size.CPU, size.Memory = size.CPU/int64(all), size.Memory/int64(all)
	lightest, several := f.lightest()
	for p := range snapshot.PoolIndex(len(f.s.Pools)) {
		pool := &f.s.Pools[p]
		if !pool.MayLaunch() {
			continue
		}
		note := func(kind Kind, key string) {
			f.note(found{Rule: Rule{Kind: kind, Key: key, Pool: pool.Name, Workloads: 1}, pool: p}, pool.Name, all, size)
		}
		if several && pool.Weight > lightest {
			note(Weight, "")
		}
		for _, l := range pool.Limits {
			note(Limit, l.Name)
		}
		if pool.Requirements.Has(requirement.KeyZone) {
			note(Zone, "")
		}
		if pool.Requirements.Has(requirement.KeyCapacityType) {
			note(CapacityType, "")
		}
	}
}

// lightest is the least weight of pools that may launch, and whether there are several.
func (f *finder) lightest() (weight int32, several bool) {
	first := true
	for i := range f.s.Pools {
		p := &f.s.Pools[i]
		if !p.MayLaunch() {
			continue
		}
		several = several || !first && p.Weight != weight
		if first || p.Weight < weight {
			weight, first = p.Weight, false
		}
	}
	return weight, several
}
