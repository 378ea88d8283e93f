package fleet

import (
	"math/bits"
	"slices"

	"tenon/core/feasible"
	"tenon/core/snapshot"
)

// fullScore is the best score; how few pods of its kind a site has counts twice for a pod, as in
// the default profile of kube-scheduler.
const (
	fullScore    = 1000
	weightSpread = 2
)

// best is the site with the highest score, of equal ones the first: emptier ones, those
// that the pod makes evenly used, and those with fewer pods of its kind.
func (f *Forecast) best(template snapshot.TemplateIndex, need []int64, fit []siteIndex) siteIndex {
	crowds := f.crowds(template, fit)
	best, most := noSite, int64(-1)
	for i, n := range fit {
		at := &f.sites[n]
		if score := emptiness(need, at) + balance(need, at) + weightSpread*crowds[i]; score > most {
			best, most = n, score
		}
	}
	return best
}

// emptiness is the share of CPU and memory that is left with the pod.
func emptiness(need []int64, at *site) int64 {
	sum := int64(0)
	for d := range 2 {
		sum += (at.room[d] - need[d]) * fullScore / max(at.size[d], 1)
	}
	return sum / 2
}

// balance is higher where the pod brings the used shares of CPU and memory nearer to each other.
func balance(need []int64, at *site) int64 {
	return fullScore/2 + (fullScore/2+evenness(at, need)-evenness(at, []int64{0, 0}))/2
}

func evenness(at *site, need []int64) int64 {
	var used [2]int64
	for d := range used {
		used[d] = min((at.size[d]-at.room[d]+need[d])*fullScore/max(at.size[d], 1), fullScore)
	}
	return fullScore - max(used[0]-used[1], used[1]-used[0])/2
}

// kinds numbers the workloads of the templates. The pods of one workload may be of several templates, as
// those of a StatefulSet are whose volumes differ.
func (f *Fleet) kinds() []kindIndex {
	out, workloads := make([]kindIndex, len(f.Snapshot.Templates)), map[[2]string]kindIndex{}
	for i := range out {
		t := &f.Snapshot.Templates[i]
		out[i] = kindIndex(i)
		if t.Owner == "" {
			continue
		}
		workload := [2]string{t.Namespace, t.Owner}
		if first, known := workloads[workload]; known {
			out[i] = first
		} else {
			workloads[workload] = out[i]
		}
	}
	return out
}

// spreadSoftly is over what kube-scheduler prefers to spread the pods of a template: what its own constraints
// that need not hold name, or by default both nodes and zones.
func (f *Forecast) spreadSoftly(template snapshot.TemplateIndex) (nodes, zones bool) {
	own := f.fleet.Snapshot.Templates[template].Spreads
	for _, s := range own {
		nodes = nodes || s.Soft && s.Key == feasible.HostnameKey
		zones = zones || s.Soft && s.Key == feasible.ZoneKey
	}
	return nodes || len(own) == 0, zones || len(own) == 0
}

// crowds scores sites by how few pods of a template's workload their nodes and zones have.
func (f *Forecast) crowds(template snapshot.TemplateIndex, fit []siteIndex) []int64 {
	const unseen = -1
	kind, inZone, zones := f.kinds[template], slices.Repeat([]int64{unseen}, len(f.zones)), 0
	for _, n := range fit {
		if zone := f.sites[n].zone; inZone[zone] == unseen {
			inZone[zone] = f.inZones[kindIn{zone, kind}]
			zones++
		}
	}
	out := make([]int64, len(fit))
	var perHost, perZone int64
	overNodes, overZones := f.spreadSoftly(template)
	if overNodes {
		perHost = logarithm(len(fit) + 2)
	}
	if overZones {
		perZone = logarithm(zones + 2)
	}
	least, most := int64(1<<62), int64(0)
	for i, n := range fit {
		at := &f.sites[n]
		out[i] = at.kinds[kind]*perHost + inZone[at.zone]*perZone
		least, most = min(least, out[i]), max(most, out[i])
	}
	for i := range out {
		if most == 0 {
			out[i] = fullScore
		} else {
			out[i] = fullScore * (most + least - out[i]) / most
		}
	}
	return out
}

// logarithm is a thousand times the natural logarithm, straight between powers of two: integers
// are the same on every machine.
func logarithm(n int) int64 {
	const ofTwo int64 = 693
	whole := int64(bits.Len(uint(n)) - 1)
	rest := int64(n) - 1<<whole
	return whole*ofTwo + (rest*ofTwo)>>whole
}
