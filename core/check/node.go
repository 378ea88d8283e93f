package check

import (
	"slices"
	"strconv"

	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// checkEachPod asks what depends on one pod and its node alone.
func (e *state) checkEachPod(n *node, f *finding) {
	for _, pod := range n.placed {
		t := e.template(pod)
		key := e.s.Pods[pod].Key()
		if taint, kept := untolerated(n.taints, t.Tolerations); kept {
			f.note(Violation{Rule: Taint, Pod: key, Node: n.name, Where: taint.String()})
		}
		if n.exists == nil && n.pool.Spurns(t.Priority) {
			f.note(Violation{Rule: Expendable, Pod: key, Node: n.name})
		}
		for i := range n.choices {
			v := &n.choices[i]
			if failing, ok := v.satisfies(t.Selector); !ok {
				f.note(Violation{Rule: Label, Pod: key, Node: n.name, Offer: v.text(), Where: failing})
			} else if !v.matchesNodeRules(t) {
				f.note(Violation{Rule: Label, Pod: key, Node: n.name, Offer: v.text(), Detail: "no required node affinity term holds"})
			}
			for _, volume := range t.Volumes {
				if !v.reaches(volume) {
					f.note(Violation{Rule: Volume, Pod: key, Node: n.name, Offer: v.text(), Where: volume.ID})
				}
			}
		}
	}
}

// text names the offer, empty for existing nodes.
func (v *choice) text() string {
	switch {
	case v.kind == nil:
		return ""
	case !v.listed:
		return offerText(v.offer) + " (admitted, not listed)"
	}
	return offerText(v.offer)
}

// reaches reports whether a volume is, or may be made, where the node is.
func (v *choice) reaches(volume snapshot.Volume) bool {
	return len(volume.Terms) == 0 || slices.ContainsFunc(volume.Terms, func(term requirement.Set) bool {
		_, ok := v.satisfies(term)
		return ok
	})
}

// checkRoom adds up everything that will be on the node. On an existing node, as for the scheduler, an
// overdrawn resource keeps away only the pods that request it. On a new node everything must have room, the
// daemons too: a launch refuses a machine that is too small for its daemons.
func (e *state) checkRoom(n *node, f *finding) {
	var wanted, used model.Resources
	for _, pod := range n.placed {
		wanted = wanted.Add(e.template(pod).Requests)
	}
	for _, pod := range n.stay {
		used = used.Add(e.template(pod).Requests)
	}
	for i := range n.choices {
		v := &n.choices[i]
		total := wanted.Add(used).Add(e.daemonsToCome(n, v))
		asked := wanted
		if n.exists == nil && !n.claim.Replica { // of which the claim asks for nothing
			asked = total
		}
		for _, a := range asked.Amounts() {
			if have, room := total.Get(a.Name), v.allocatable.Get(a.Name); have > room {
				f.note(Violation{Rule: Room, Node: n.name, Offer: v.text(), Where: a.Name, Have: have, Want: room})
			}
		}
	}
}

// daemonsToCome is what daemons will use that do not run yet: on a new node all of them, on an existing
// node those that belong there and are missing.
func (e *state) daemonsToCome(n *node, v *choice) model.Resources {
	var sum, running model.Resources
	daemons := v.daemons
	if n.exists != nil {
		daemons = e.daemonsOn(n.taints, v)
	}
	for _, t := range daemons {
		sum = sum.Add(t.Requests)
	}
	for _, pod := range n.stay {
		if t := e.template(pod); t.Daemon {
			running = running.Add(t.Requests)
		}
	}
	return sum.Sub(running).Floor()
}

// checkVolumeLimits counts attachments by driver. Pods that share a claim share its
// attachment. What is attached to a new node is not limited: its limits are not known.
func (e *state) checkVolumeLimits(n *node, f *finding) {
	if n.exists == nil {
		return
	}
	for _, limit := range n.exists.VolumeLimits {
		before, after := map[string]bool{}, map[string]bool{}
		count := func(pods []snapshot.PodIndex, into ...map[string]bool) {
			for _, pod := range pods {
				for _, volume := range e.template(pod).Volumes {
					for _, set := range into {
						if volume.Driver == limit.Name {
							set[volume.ID] = true
						}
					}
				}
			}
		}
		count(n.stay, before, after)
		count(n.placed, after)
		if most := max(limit.Value, int64(len(before))); int64(len(after)) > most {
			f.note(Violation{Rule: VolumeLimit, Node: n.name, Where: limit.Name, Have: int64(len(after)), Want: limit.Value})
		}
	}
}

// checkHostPorts compares every port that a placed pod takes with every other on the
// node, those of the daemons of a new node included.
func (e *state) checkHostPorts(n *node, f *finding) {
	for i, pod := range n.placed {
		for _, port := range e.template(pod).HostPorts {
			for j, other := range append(slices.Clone(n.placed), n.stay...) {
				if i != j && slices.ContainsFunc(e.template(other).HostPorts, port.Conflicts) {
					f.note(Violation{Rule: HostPort, Pod: e.s.Pods[pod].Key(), Node: n.name, Where: portText(port), Detail: "taken by " + e.s.Pods[other].Key()})
				}
			}
			for k := range n.choices {
				for _, t := range n.choices[k].daemons {
					if slices.ContainsFunc(t.HostPorts, port.Conflicts) {
						f.note(Violation{Rule: HostPort, Pod: e.s.Pods[pod].Key(), Node: n.name, Offer: n.choices[k].text(), Where: portText(port), Detail: "taken by " + t.Owner})
					}
				}
			}
		}
	}
}

func portText(p model.HostPort) string {
	return p.IP + ":" + strconv.Itoa(int(p.Port)) + "/" + p.Protocol
}
