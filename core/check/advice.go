package check

import (
	"slices"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// checkWeights: "a pool of higher weight is asked first". A claim of a lower pool needs one pod that no
// higher pool could have taken; other pods may fill it up. The check ignores pods with preferences or rules
// between pods.
func checkWeights(e *state, f *finding) {
	for _, n := range e.nodes {
		if n.claim == nil || len(n.placed) == 0 {
			continue
		}
		better, all := "", true
		for _, pod := range n.placed {
			pool, ok := e.heavierPool(n.pool.Weight, pod)
			if !ok {
				all = false
				break
			}
			better = pool
		}
		if all {
			f.note(Violation{Rule: Weight, Pod: e.s.Pods[n.placed[0]].Key(), Node: n.name, Where: n.pool.Name, Detail: "pool " + better + " has a higher weight and room"})
		}
	}
}

func (e *state) heavierPool(weight int32, pod snapshot.PodIndex) (string, bool) {
	if e.hasPodRules(pod) || e.hasPreferences(pod) {
		return "", false
	}
	for i := range e.s.Pools {
		if pool := &e.s.Pools[i]; pool.Weight > weight && e.couldBuy(pool, pod) {
			return pool.Name, true
		}
	}
	return "", false
}

// checkOverlooked finds unplaced pods that no rule between pods concerns and that would
// have a place, by themselves, on some node or on one more of some pool.
func checkOverlooked(e *state, f *finding) {
	for _, u := range e.p.Unplaced {
		if u.Pod < 0 || int(u.Pod) >= len(e.s.Pods) || len(e.s.Pods[u.Pod].Refused) > 0 || e.hasPodRules(u.Pod) {
			continue
		}
		overlooked := Violation{Rule: Overlooked, Pod: e.s.Pods[u.Pod].Key()}
		for _, n := range e.nodes {
			if e.couldJoin(n, u.Pod) && !(e.keepsOff(n.taints, u.Pod) && e.pricesMatter()) {
				overlooked.Node = n.name
				f.note(overlooked)
				break
			}
		}
		for i := range e.s.Pools {
			if overlooked.Node == "" && !e.pricesMatter() && e.couldBuy(&e.s.Pools[i], u.Pod) {
				overlooked.Where = e.s.Pools[i].Name
				f.note(overlooked)
				break
			}
		}
	}
}

// pricesMatter reports whether pods may wait for a better price. Such pods keep their preferences and their
// pool, because they had a place without giving any of them up.
func (e *state) pricesMatter() bool {
	return slices.ContainsFunc(e.s.Pools, func(p snapshot.Pool) bool { return p.PriceCeiling > 0 })
}

// hasPodRules reports whether a rule between pods may concern the pod.
func (e *state) hasPodRules(pod snapshot.PodIndex) bool {
	t := e.template(pod)
	if len(hardSpreads(t))+len(t.Affinity)+len(t.AntiAffinity) > 0 {
		return true
	}
	for i := range e.s.Templates {
		other := &e.s.Templates[i]
		for j := range other.AntiAffinity {
			if e.selects(&other.AntiAffinity[j], pod) {
				return true
			}
		}
		for j := range other.Affinity {
			if e.selects(&other.Affinity[j], pod) {
				return true
			}
		}
		for _, s := range other.Spreads {
			if other.Namespace == t.Namespace && s.Selector.Matches(t.Labels) {
				return true
			}
		}
	}
	return false
}

func (e *state) hasPreferences(pod snapshot.PodIndex) bool {
	t := e.template(pod)
	return len(t.Preferred)+len(t.PreferredAffinity)+len(t.PreferredAntiAffinity)+len(t.Spreads) > 0
}

// couldJoin tries the pod on a node of the final state with the same checks that judge plans. Nodes of
// claims must hold it under every offer.
func (e *state) couldJoin(n *node, pod snapshot.PodIndex) bool {
	withPod := *n
	withPod.placed = append(slices.Clone(n.placed), pod)
	return e.isSound(&withPod)
}

func (e *state) isSound(n *node) bool {
	f := &finding{}
	e.checkEachPod(n, f)
	e.checkRoom(n, f)
	e.checkVolumeLimits(n, f)
	e.checkHostPorts(n, f)
	return len(f.list) == 0
}

// couldBuy reports whether one more node of the pool could be bought for the pod alone.
func (e *state) couldBuy(pool *snapshot.Pool, pod snapshot.PodIndex) bool {
	if !pool.MayLaunch() || pool.Replicas != nil || pool.Spurns(e.template(pod).Priority) || e.keepsOff(pool.Taints, pod) {
		return false
	}
	var fitting []choice
	types := e.s.Catalogs[pool.Catalog].Types
	for i := range types {
		for j := range types[i].Offerings {
			offering := &types[i].Offerings[j]
			if !e.available(offering) || offering.ReservationCapacity > 0 || !e.withinLimits(pool, types[i].FullCapacity(offering)) {
				continue
			}
			o := offerOf(&types[i], offering, pool)
			n := &node{name: "probe", claim: &plan.Claim{}, pool: pool, taints: pool.Taints, placed: []snapshot.PodIndex{pod}}
			made, conflict := e.choice(n, o, &types[i], offering)
			if conflict != "" {
				continue
			}
			made.listed = true
			n.choices = []choice{made}
			if e.isSound(n) {
				fitting = append(fitting, made)
			}
		}
	}
	return e.variedFor(pool, pod, fitting)
}

// variedFor asks for the pool's minimums among the offers of one of the pod's node selector terms: a claim
// cannot say "these types here, or those types there".
func (e *state) variedFor(pool *snapshot.Pool, pod snapshot.PodIndex, fitting []choice) bool {
	terms := e.template(pod).Terms
	if len(terms) == 0 {
		return len(fitting) > 0 && e.varied(pool, fitting)
	}
	return slices.ContainsFunc(terms, func(term requirement.Set) bool {
		var meeting []choice
		for i := range fitting {
			if _, ok := fitting[i].satisfies(term); ok {
				meeting = append(meeting, fitting[i])
			}
		}
		return len(meeting) > 0 && e.varied(pool, meeting)
	})
}

// keepsOff counts taints that only prefer, as a first attempt at placing a pod does.
func (e *state) keepsOff(taints []model.Taint, pod snapshot.PodIndex) bool {
	for _, taint := range taints {
		if !slices.ContainsFunc(e.template(pod).Tolerations, func(t model.Toleration) bool { return t.Tolerates(taint) }) {
			return true
		}
	}
	return false
}

func (e *state) withinLimits(pool *snapshot.Pool, capacity model.Resources) bool {
	for _, limit := range pool.Limits {
		if e.usage(pool, limit.Name)+amountOf(capacity, limit.Name) > limit.Value {
			return false
		}
	}
	for _, limit := range e.s.Settings.Limits {
		if e.total(limit.Name)+amountOf(capacity, limit.Name) > limit.Value {
			return false
		}
	}
	return true
}

func (e *state) varied(pool *snapshot.Pool, fitting []choice) bool {
	n := &node{choices: fitting}
	for r := range pool.Requirements.All() {
		if e.variety(n, r.Key()) < r.MinValues() {
			return false
		}
	}
	return true
}
