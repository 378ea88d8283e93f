package world

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"tenon/core/model"
	"tenon/core/snapshot"
	"tenon/internal/command"
)

// Disruptions is the part of the ledger about nodes that go: the commands under way, and what of them is
// not on the objects. If it is lost, the commands are found on the claims, and nodes count as closed from
// then on.
//
//	Begin ──▶ being written ──Begun──▶ under way ──End──▶ over
//	                                       ▲
//	Restore ──────────────────────────────────┘
type Disruptions struct {
	world *World

	// mu comes after the world's own lock: what holds it calls nothing of the world but its clock.
	mu       sync.Mutex
	all      map[string]*Underway // by the command's ID
	past     map[string]time.Time // when commands were over: claims that are being deleted, and caches, still show them
	arrivals map[string]*arrivals // of commands whose pods are not all evicted and bound again
	ended    int
	wake     func()
}

// Underway is a command with what the ledger knows beside its record.
type Underway struct {
	Record command.Record
	// Places says where its pods go, and Pods holds all pods that the decision knew; nil for commands
	// that were found on claims.
	Places []Place
	Pods   map[types.UID]bool
	// Evict is the order in which pods are to be evicted.
	Evict []types.UID
	// Guide are the nodes that kube-scheduler is to avoid while the pods move; none if they are not guided.
	Guide []string
	// Beginning commands are still being written.
	Beginning bool
	// Since is when we learned of it.
	Since time.Time
	// Closed is the time since which none of its nodes takes pods, as far as we know; zero if some still do.
	Closed time.Time
}

// Place says where pods of leaving nodes will be: on a claim to be made, or on a node.
type Place struct {
	On   string
	Pods []PodRef
}

func newDisruptions(w *World) *Disruptions {
	return &Disruptions{world: w, all: map[string]*Underway{}, past: map[string]time.Time{}, arrivals: map[string]*arrivals{}}
}

// Disruptions returns the commands under way.
func (w *World) Disruptions() *Disruptions { return w.disruptions }

// Subscribe registers wake, which is called when a command has been begun. wake must return at once.
func (d *Disruptions) Subscribe(wake func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wake = wake
}

// Begin enters a command before anything of it is written. From now on its nodes are leaving, and the
// places of their pods are taken.
func (d *Disruptions) Begin(u Underway) {
	u.Beginning, u.Since = true, d.world.clock.Now()
	arrivals := d.world.expect(u.Record.Begun, u.Places)
	d.mu.Lock()
	d.all[u.Record.ID], d.arrivals[u.Record.ID] = &u, arrivals
	d.mu.Unlock()
	for _, p := range u.Places {
		d.world.Arrange(p.On, u.Record.ID, p.Pods)
	}
	d.world.orderEvictions(u.Evict)
	d.world.guide(u.Record.ID, u.Guide, u.Places, u.Evict)
}

// Begun notes that everything about a command has been written, and since when its nodes take no pods; zero if some still do. Unless it waits
// for replacements, its pods are about to move.
func (d *Disruptions) Begun(id string, closed time.Time) {
	d.mu.Lock()
	wake, moves := d.wake, false
	if u := d.all[id]; u != nil {
		u.Beginning, u.Closed = false, closed
		moves = !closed.IsZero() && len(u.Record.Replacements) == 0
	}
	d.mu.Unlock()
	if moves {
		d.world.startGuidance(id)
	}
	if wake != nil {
		wake()
	}
}

// Restore enters a command that was found on a claim, unless it is known or has ended.
func (d *Disruptions) Restore(r command.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, over := d.past[r.ID]; !over && d.all[r.ID] == nil {
		d.all[r.ID] = &Underway{Record: r, Since: d.world.clock.Now()}
	}
}

// longestMaking is how long the replacements of a command that is being written may take to be made.
const longestMaking = 10 * time.Second

// making returns until when replacements may be made that do not exist yet; zero if all exist.
func (d *Disruptions) making(exists func(claim string) bool) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	var until time.Time
	for _, u := range d.all { // the latest, in any order
		if u.Beginning && slices.ContainsFunc(u.Record.Replacements, func(m command.Member) bool { return !exists(m.Claim) }) {
			until = later(until, u.Since.Add(longestMaking))
		}
	}
	return until
}

// Closed notes since when the nodes of a command take no pods; zero if some still do.
func (d *Disruptions) Closed(id string, since time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if u := d.all[id]; u != nil {
		u.Closed = since
	}
}

// PastFor is how long a command that has ended is remembered.
const PastFor = 10 * time.Minute

// End forgets a command that has ended: its pods keep their places until they are evicted.
func (d *Disruptions) End(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.world.clock.Now()
	delete(d.all, id)
	d.ended++
	maps.DeleteFunc(d.past, func(_ string, at time.Time) bool { return now.Sub(at) > PastFor })
	d.past[id] = now
}

// Abandon forgets a command that was taken back, with the places of its pods.
func (d *Disruptions) Abandon(id string) {
	for _, p := range d.Find(id).Places {
		d.world.CancelPlaces(p.Pods)
	}
	d.mu.Lock()
	delete(d.arrivals, id)
	d.mu.Unlock()
	d.End(id)
}

// Find returns what is known of a command; the zero value if it is not under way.
func (d *Disruptions) Find(id string) Underway {
	d.mu.Lock()
	defer d.mu.Unlock()
	if u := d.all[id]; u != nil {
		return *u
	}
	return Underway{}
}

// Ended returns how many commands have ended since the start.
func (d *Disruptions) Ended() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// List returns all commands under way, the oldest first.
func (d *Disruptions) List() []Underway {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Underway, 0, len(d.all))
	for _, u := range d.all {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b Underway) int {
		return cmp.Or(a.Record.Begun.Compare(b.Record.Begun), cmp.Compare(a.Record.ID, b.Record.ID))
	})
	return out
}

// Involve reports whether a claim is part of a command, in any role.
func (d *Disruptions) Involve(claim string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, u := range d.all {
		if u.Record.Takes(claim) || u.Record.Brings(claim) {
			return true
		}
	}
	return false
}

// Machines returns how many machines the commands are about.
func (d *Disruptions) Machines() int {
	n := 0
	for _, u := range d.List() {
		n += len(u.Record.Claims)
	}
	return n
}

// unseenFor is how long watches may lack our own writes before evaluations continue without them: a cache
// that has stopped must not stop evaluations.
const unseenFor = time.Minute

// show marks the nodes that commands take as leaving. Most of these nodes say so themselves, but the
// watches may not show a recent write yet. If show marks a node, it returns a new list; fresh reports
// whether a command younger than a minute marked one.
func (d *Disruptions) show(nodes []snapshot.Node, now time.Time) (shown []snapshot.Node, fresh bool) {
	taken := d.taken()
	if len(taken) == 0 {
		return nodes, false
	}
	shown = nodes
	for i := range nodes {
		u, is := taken[command.MemberOf(nodes[i].Claim, nodes[i].Name)]
		if !is || nodes[i].Leaving {
			continue
		}
		if &shown[0] == &nodes[0] {
			shown = slices.Clone(nodes)
		}
		n := &shown[i]
		n.Leaving, n.Life.Underway, n.Life.Awaits = true, string(u.Record.Reason), true
		fresh = fresh || now.Sub(u.Since) < unseenFor
	}
	return shown, fresh
}

// taken returns the commands by the claims that they take.
func (d *Disruptions) taken() map[string]*Underway {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]*Underway{}
	for _, u := range d.all {
		for _, m := range u.Record.Claims {
			u := *u
			out[m.Claim] = &u
		}
	}
	return out
}

// Price returns what the machine of a member costs now, if that is known, and otherwise what the command
// expected.
func (w *World) Price(m command.Member) model.Money {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.nodes.list {
		if n := &w.nodes.list[i]; command.MemberOf(n.Claim, n.Name) == m.Claim && n.InstanceType != "" && n.Price > 0 {
			return n.Price
		}
	}
	return m.Price
}
