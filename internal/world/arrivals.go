package world

import (
	"time"

	"tenon/core/order"
	"tenon/core/snapshot"
)

// arrivals is what a command was to bring to the nodes that take its pods.
type arrivals struct {
	begun   time.Time
	places  []expected
	evicted time.Time // when the last of its pods was seen to be gone; zero before
}

// expected is how many pods of each template come to a node, or to the node of a claim.
type expected struct {
	on     string
	shapes map[snapshot.TemplateIndex]int
}

// Astray are claims whose nodes did not get the pods that a command planned for them.
type Astray struct {
	Begun  time.Time
	Claims []string
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

// Astray returns, for each command whose pods were evicted a moment ago, the claims whose nodes did not get what
// was planned for them. It returns each command only once.
func (d *Disruptions) Astray() []Astray {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Astray
	for _, id := range order.Keys(d.arrivals) {
		a := d.arrivals[id]
		if !d.world.arrived(id, a) {
			continue
		}
		delete(d.arrivals, id)
		if claims := d.world.astray(a); len(claims) > 0 {
			out = append(out, Astray{a.begun, claims})
		}
	}
	return out
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

// astray returns the claims whose nodes lack pods that were planned for them. Pods of one template stand for
// each other.
func (w *World) astray(a *arrivals) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
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
		for shape, n := range p.shapes {
			if came[shape] < n {
				out = append(out, claim)
				break
			}
		}
	}
	return out
}
