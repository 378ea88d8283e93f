package nomination

import (
	"sync"
	"time"

	"tenon/internal/world"
)

const (
	// eachPlace is how long nodes wait for others of the same burst after the last one was ready, for each
	// pod that has its place on a closed node. longestLull bounds that, and longestGathering is how long
	// the first node waits at most.
	eachPlace        = 20 * time.Millisecond
	longestLull      = 2 * time.Second
	longestGathering = 10 * time.Second
	// longestJoining is how long after the first node was ready others join a group that has not opened.
	longestJoining = 15 * time.Second
	// mostPlaces is how many pods a group of nodes is for at most: for more, writing the
	// nominations would take longer than a node may stay closed.
	mostPlaces = 2500
	// longestSettling is how long a group keeps the next one waiting at most once its pods have been nominated.
	longestSettling = 10 * time.Second
	// stale is after how long a group is forgotten because its nodes are gone. Nodes that still exist join
	// a new one.
	stale = longestGathering + longestSettling
	// longestOpening is how long nodes leave it to the first that learns of the nominations to open all of them: if each opened
	// itself as well, every second write would be refused. After that each opens by itself.
	longestOpening = 3 * time.Second
	// leastPause is how often nodes ask whether they may open, and eachNode is added to the pause for every node that asks.
	leastPause = 100 * time.Millisecond
	eachNode   = 2 * time.Millisecond
)

// openings has the nodes of a burst open together. Every node that opens wakes all pending pods, and
// the scheduler takes the nomination away from each pod that it tries while the pod's node is still
// closed. As long as no node opens, pending pods sleep. So the fewer times nodes open, the fewer
// nominations are lost, and the less the scheduler has to do. A node on which no pod has its place yet opens with the
// others, and is not awaited.
//
//	node is ready ──▶ gathering ──▶ opening: pods are nominated ──▶ watches have told of it ──▶ all open
type openings struct {
	mu                 sync.Mutex
	gathering, opening group
}

// group is nodes that open together.
type group struct {
	nodes  map[string]closedNode // by claim
	places int                   // of pods on all of them
	filled int                   // nodes with places
	first  time.Time             // when the first one was ready
	last   time.Time             // when the last one was
	asked  time.Time             // when one of them last asked whether they may open
	leader string                // the claim whose node was ready when the group began to open
	told   time.Time             // when all pods had been nominated
	heard  time.Time             // when watches had told of that
}

// closedNode is a node that is ready, and how many pods have their places on it.
type closedNode struct {
	name   string
	places int
}

// turn is what a node does next.
type turn struct {
	// nominate is the group whose pods are to be nominated now, if this node leads it.
	nominate map[string]string
	// leads says that this node finds out whether watches have told of the nominations.
	leads bool
	// open says that the node may open.
	open bool
	// pause is how long to wait otherwise.
	pause time.Duration
}

// ask enters a node that is ready and for so many pods, and says what it does next.
func (o *openings) ask(claim string, node closedNode, now time.Time, all func() world.Unopened) turn {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.opening.nodes[claim].name == node.name {
		return o.opening.next(claim, now)
	}
	g := &o.gathering
	if len(g.nodes) == 0 || now.Sub(g.last) >= stale {
		*g = group{nodes: map[string]closedNode{}, first: now}
	}
	isNew := g.nodes[claim].name != node.name
	if isNew {
		g.last = now
	}
	g.enter(claim, node)
	if !isNew && now.Sub(g.asked) < leastPause { // another node has just asked for all of them
		return turn{pause: g.pause()}
	}
	g.asked = now
	if all := all(); !o.opening.settled(now, all) || !g.complete(now, all) {
		return turn{pause: g.pause()}
	}
	g.leader = claim
	o.opening, o.gathering = *g, group{}
	return turn{nominate: o.opening.names()}
}

// next says what a node of a group whose pods are being nominated does.
func (g *group) next(claim string, now time.Time) turn {
	leader := g.leader == claim
	switch {
	case g.told.IsZero():
		return turn{pause: g.pause()}
	case g.heard.IsZero():
		silent := now.Sub(g.told) >= longestHearing
		return turn{open: silent, leads: leader && !silent, pause: g.pause()}
	}
	return turn{open: leader || now.Sub(g.heard) >= longestOpening, pause: g.pause()}
}

// enter enters the node of a claim, or how many pods have their places on it now.
func (g *group) enter(claim string, node closedNode) {
	g.remove(claim)
	g.nodes[claim] = node
	g.places += node.places
	g.filled += min(node.places, 1)
}

func (g *group) remove(claim string) {
	was := g.nodes[claim]
	delete(g.nodes, claim)
	g.places -= was.places
	g.filled -= min(was.places, 1)
}

// names returns the nodes by claim.
func (g *group) names() map[string]string {
	out := make(map[string]string, len(g.nodes))
	for claim, node := range g.nodes {
		out[claim] = node.name
	}
	return out
}

// settled reports whether the next group may begin to open: all nodes are open, and their pods have been bound.
func (g *group) settled(now time.Time, all world.Unopened) bool {
	none, late := g.nodes == nil, !g.told.IsZero() && now.Sub(g.told) >= longestSettling
	return none || late || len(g.nodes) == 0 && !all.Unbound
}

// complete reports whether the group waits for no further node, nor for pods that have been announced: the room on its nodes
// that is for them would go to others.
func (g *group) complete(now time.Time, all world.Unopened) bool {
	if g.places >= mostPlaces || now.Sub(g.first) >= longestGathering {
		return true
	}
	lull := min(time.Duration(all.Places)*eachPlace, longestLull)
	return !all.Coming && (g.filled >= all.Nodes || now.Sub(g.last) >= lull)
}

// pause is short when the group is about to open: the nodes are to open at the same time.
func (g *group) pause() time.Duration {
	pause := leastPause + time.Duration(len(g.nodes))*eachNode
	if !g.told.IsZero() {
		pause /= 4
	}
	return pause
}

// group is a copy of the nodes that open together.
func (o *openings) group() map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.opening.names()
}

// nominated notes that all pods of the nodes that open have been nominated.
func (o *openings) nominated(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.opening.told = now
}

// heard notes that watches have told of that, and the group opens; unless further nodes have become ready
// meanwhile: then they join it, and it is returned to be nominated with them.
func (o *openings) heard(now time.Time) map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	g := &o.opening
	if len(o.gathering.nodes) == 0 || g.places+o.gathering.places > mostPlaces || now.Sub(g.first) >= longestJoining {
		g.heard = now
		return nil
	}
	for claim, node := range o.gathering.nodes {
		g.enter(claim, node)
	}
	g.told, o.gathering = time.Time{}, group{}
	return g.names()
}

// leave notes that the node of a claim has opened, or waits no longer.
func (o *openings) leave(claim string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.opening.remove(claim)
	o.gathering.remove(claim)
}
