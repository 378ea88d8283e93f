package topology

// kube-scheduler places pods one after the other. A pod with required affinity goes where
// a pod that it needs is already. Where there is none in the whole cluster, a pod that
// matches its own terms may be the first. So pods that need each other can run only if one
// of them may be first, and the others follow it into its domain.

// Want is what one kind of pods brings and needs, over groups of one numbering.
type Want[G numbered] struct {
	Counts []G // groups that count it, sorted
	Needs  []Need[G]
}

// HostWant and DomainWant are the rules' wants on hosts and on other keys.
func (r *Rules) HostWant() Want[HostGroup] { return Want[HostGroup]{r.HostCounts, r.HostNeeds} }

// DomainWant is HostWant for keys other than hostname.
func (r *Rules) DomainWant() Want[DomainGroup] { return Want[DomainGroup]{r.Counts, r.Needs} }

// Anyone is passed to Arriving when no kind of pods is kept back.
const Anyone = -1

// Arriving reports which kinds of pods can arrive, given the groups that have pods
// already. A kind that is kept back does not arrive, and neither do those that would be in
// its partners: only what can be there without it.
func Arriving[G numbered](wants []Want[G], running func(group G) bool, keptBack int) []bool {
	out := make([]bool, len(wants))
	present := map[G]bool{}
	waitsFor := func(n Need[G]) bool { return keptBack != Anyone && has(wants[keptBack].Counts, n.Group) }
	met := func(n Need[G]) bool {
		return present[n.Group] || running(n.Group) || n.Self && !waitsFor(n)
	}
	for again := true; again; {
		again = false
		for i, w := range wants {
			if out[i] || i == keptBack || !every(w.Needs, met) {
				continue
			}
			out[i], again = true, true
			for _, g := range w.Counts {
				present[g] = true
			}
		}
	}
	return out
}

// Preceded reports whether some other kind of pods that the group counts can arrive before
// kind i and without it. Then i cannot be the group's first pod.
func Preceded[G numbered](wants []Want[G], running func(group G) bool, i int, group G) bool {
	var others []int
	for j, w := range wants {
		if j != i && has(w.Counts, group) {
			others = append(others, j)
		}
	}
	if len(others) == 0 {
		return false
	}
	arriving := Arriving(wants, running, i)
	for _, j := range others {
		if arriving[j] {
			return true
		}
	}
	return false
}

func every[G numbered](needs []Need[G], met func(Need[G]) bool) bool {
	for _, n := range needs {
		if !met(n) {
			return false
		}
	}
	return true
}
