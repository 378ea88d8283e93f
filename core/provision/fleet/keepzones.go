package fleet

import (
	"tenon/core/snapshot"
)

// place is where an answer puts a pod.
type place struct {
	zone string
	pod  *snapshot.PodIndex
}

// KeepZones exchanges the places of pods of one template, so that as many as possible stay in their zones: where pods must
// be spread over zones, the scheduler puts the successor of an evicted pod into the zone that it left.
func (f *Fleet) KeepZones(q Question, a Answer) {
	zoneOf := map[string]string{}
	for _, n := range q.Nodes {
		zoneOf[f.Snapshot.Nodes[n].Name] = f.Snapshot.Nodes[n].Zone
	}
	places, templates := map[snapshot.TemplateIndex][]place{}, []snapshot.TemplateIndex(nil)
	add := func(zone string, pods []snapshot.PodIndex) {
		for i := range pods {
			t := f.Snapshot.Pods[pods[i]].Template
			if len(places[t]) == 0 {
				templates = append(templates, t)
			}
			places[t] = append(places[t], place{zone, &pods[i]})
		}
	}
	for _, l := range a.Existing {
		add(f.Snapshot.Nodes[l.Node].Zone, l.Pods)
	}
	for i := range a.Claims {
		add(a.Claims[i].Offer.Zone, a.Claims[i].Pods)
	}
	for _, t := range templates {
		keepZones(places[t], func(p snapshot.PodIndex) string { return zoneOf[f.Snapshot.Pods[p].Node] })
	}
}

// keepZones hands the pods of some places out anew: first those that can stay in their zone, in order.
func keepZones(places []place, zoneOf func(snapshot.PodIndex) string) {
	var pods []snapshot.PodIndex
	for _, at := range places {
		pods = append(pods, *at.pod)
	}
	taken, done := make([]bool, len(pods)), make([]bool, len(places))
	for i, at := range places {
		for j, p := range pods {
			if !taken[j] && zoneOf(p) == at.zone {
				*at.pod, taken[j], done[i] = p, true, true
				break
			}
		}
	}
	next := 0
	for i, at := range places {
		if done[i] {
			continue
		}
		for taken[next] {
			next++
		}
		*at.pod, taken[next] = pods[next], true
	}
}
