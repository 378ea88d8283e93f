package world

import (
	"maps"
	"time"

	"tenon/core/order"
	"tenon/core/snapshot"
	"tenon/core/wait"
)

// arrivals is what a command was to bring to the nodes that take its pods.
type arrivals struct {
	begun   time.Time
	places  []expected
	evicted time.Time // when the last of its pods was seen to be gone; zero before
}

// Transit counts the pods on their way.
func (w *World) Transit() wait.Transit {
	w.mu.Lock()
	defer w.mu.Unlock()
	return wait.Transit{
		Placed: len(w.ledger.places), Lost: len(w.ledger.lost), Moving: w.ledger.moving(), Leaving: w.surplus() + w.ending(), All: len(w.pods.all),
		Landed: w.ledger.progress, Now: w.clock.Now(), ScaledDown: w.scaleDowns.lately(w.clock.Now()),
	}
}

// scaleDowns are the Deployments that were scaled down a moment ago.
type scaleDowns map[key]scaleDown

// scaleDown is when a Deployment was last scaled down, and by how many pods.
type scaleDown struct {
	at   time.Time
	pods int
}

// note takes down that a Deployment wants another number of pods.
func (s scaleDowns) note(deployment key, before, after int, now time.Time) {
	if after < before {
		s[deployment] = scaleDown{now, before - after}
	} else if after > before {
		delete(s, deployment)
	}
}

// lately is what Deployments have stopped wanting within wait.ScalingDown.
func (s scaleDowns) lately(now time.Time) snapshot.ScaledDown {
	var out snapshot.ScaledDown
	maps.DeleteFunc(s, func(_ key, d scaleDown) bool { return now.Sub(d.at) >= wait.ScalingDown })
	for _, d := range s {
		out.Deployments++
		out.Pods += d.pods
	}
	return out
}

// expected is how many pods of each template come to a node, or to the node of a claim.
type expected struct {
	on     string
	shapes map[snapshot.TemplateIndex]int
}

// Arrived is what became of the moves of a command.
type Arrived struct {
	Begun time.Time
	// Astray are claims whose nodes did not get the pods that the command planned for them.
	Astray []string
	// Landed counts the pods that came where they were planned, Strayed those that did not.
	Landed, Strayed int
}

// landing is how long the successors of evicted pods may take to be bound: the scheduler tries those
// that it could not place again after ten seconds at the most.
const landing = 10 * time.Second

// expect notes what comes to the places, while the pods that will be evicted are still there.
func (w *World) expect(begun time.Time, places []Place) *arrivals {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := &arrivals{begun: begun}
	for _, p := range places {
		shapes := map[snapshot.TemplateIndex]int{}
		for _, ref := range p.Pods {
			if pod := w.pods.all[key{Namespace: ref.Namespace, Name: ref.Name}]; pod != nil && pod.UID == ref.UID {
				shapes[w.shapeOf(pod)]++
			}
		}
		out.places = append(out.places, expected{p.On, shapes})
	}
	return out
}

// Arrived returns what became of the moves of each command whose pods were evicted a moment ago. It returns
// each command only once.
func (d *Disruptions) Arrived() []Arrived {
	d.mu.Lock()
	awaited := maps.Clone(d.arrivals)
	d.mu.Unlock()
	var out []Arrived
	for _, id := range order.Keys(awaited) {
		if d.world.arrived(id, awaited[id]) && d.forgetArrivals(id) {
			out = append(out, d.world.compare(awaited[id]))
		}
	}
	return out
}

// forgetArrivals reports whether the moves of a command were still awaited.
func (d *Disruptions) forgetArrivals(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, awaited := d.arrivals[id]
	delete(d.arrivals, id)
	return awaited
}

// arrived reports whether all pods of a command were evicted, and their successors had time to be bound.
func (w *World) arrived(id string, a *arrivals) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, pod := range w.ledger.arranged {
		if pod.by == id {
			return false
		}
	}
	now := w.clock.Now()
	if a.evicted.IsZero() {
		a.evicted = now
	}
	return now.Sub(a.evicted) >= landing
}

// compare compares the pods that came with those that were planned. Pods of one template stand for each other.
// A node that has gone since, and a claim that never had one, are not judged.
func (w *World) compare(a *arrivals) Arrived {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := Arrived{Begun: a.begun}
	for _, p := range a.places {
		claim, node := p.on, p.on
		if name, found := w.nodes.nodeOf(claim); found {
			node = name
		} else if claim = w.nodes.memberOf(node); claim == "" {
			continue
		}
		came := map[snapshot.TemplateIndex]int{}
		for k := range w.pods.on[node] {
			if pod := w.pods.all[k]; !pod.CreationTimestamp.Time.Before(a.begun.Truncate(time.Second)) {
				came[w.shapeOf(pod)]++
			}
		}
		strayed := 0
		for shape, planned := range p.shapes {
			landed := min(came[shape], planned)
			out.Landed += landed
			strayed += planned - landed
		}
		if strayed > 0 {
			out.Strayed += strayed
			out.Astray = append(out.Astray, claim)
		}
	}
	return out
}
