package world

import (
	"slices"
	"strings"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/core/wait"
	"tenon/internal/ingest"
)

// Sale is what a pool can buy, or why it cannot.
type Sale struct {
	Catalog *catalog.Catalog
	Err     error
}

// Moment holds what a snapshot depends on beside the world: the time, the settings of the decision, what
// every pool can buy, and what is known of each pool's past.
type Moment struct {
	Now      time.Time
	Settings snapshot.Settings
	Market   map[string]Sale
	// Lesson returns what past disruptions have shown about a pool, with or without drifted nodes. Nil
	// means nothing.
	Lesson func(pool *karpenterv1.NodePool, drifted bool) Lesson
	// Waiting holds what the last decision left waiting.
	Waiting snapshot.Waiting
	// Asks reports whether room is to be looked for now for a ProvisioningRequest that has none. Nil means for none.
	Asks func(namespace, name string) bool
}

// Lesson is how past disruptions of a pool constrain the next ones.
type Lesson struct {
	Caution int            // see snapshot.Consolidation
	Pace    *snapshot.Pace // nil for a pool without drifted nodes
}

// Picture is a snapshot, with the time when it will change even if nothing happens.
type Picture struct {
	Snapshot *snapshot.Snapshot
	// Next is when to look again; zero means never.
	Next time.Time
	// Pulse is the world's pulse at the time of this picture.
	Pulse Pulse
	// Unseen says that a node is leaving and no watch has reported that yet.
	Unseen bool
	// Same says that only the time and what waits differ from the reader's last picture. It may be false
	// although the two pictures are equal.
	Same bool
}

// Reader looks at the cluster again and again. Each look applies only what changed since the last one,
// which costs little in a cluster of any size, and overwrites the last picture. A Reader belongs to one
// goroutine.
type Reader struct {
	world *World
	pods  copied
	last  *snapshot.Snapshot
}

// Reader makes a reader.
func (w *World) Reader() *Reader { return &Reader{world: w} }

// Picture returns the cluster as it is now. The snapshot stays valid and does not change.
func (w *World) Picture(m Moment) Picture { return w.Reader().Picture(m) }

// Picture returns the cluster as it is now. It is valid until the reader looks again.
func (r *Reader) Picture(m Moment) Picture {
	picture, pods, announced := r.world.picture(m)
	r.world.learn(picture.Snapshot, m)
	picture.Same = r.last != nil && alike(r.last, picture.Snapshot) && r.pods.has(pods, announced)
	picture.Snapshot.Pods = r.pods.follow(pods, announced)
	r.last = picture.Snapshot
	return picture
}

// picture makes everything except the pods, which need not be copied while others wait for the lock.
func (w *World) picture(m Moment) (Picture, pages, []snapshot.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.translator.At(m.Now)
	next := w.settlePlaces(m.Now)
	out := &snapshot.Snapshot{Now: m.Now.UTC(), Settings: m.Settings}
	out.Settings.WellKnown = w.options.Vocabulary.WellKnown()
	w.addPools(out, m.Market)
	prices := pricesOf(out, m.Market)
	w.groups.addPools(w.translator, out, prices)
	w.refresh(prices)
	out.Buffers = asking(w.buffers, m.Asks)
	out.Gated = w.pods.gatedPods()
	out.Daemons, out.Templates = w.daemons.list, w.translator.Templates()
	var unseen bool
	out.Nodes, unseen = w.disruptions.show(w.withUnderway(), m.Now)
	out.Budgets = w.translator.Budgets()
	nodes := ingest.InService(out.Nodes)
	for i := range out.Pools {
		pool := &out.Pools[i]
		if group, is := snapshot.NodeGroup(pool.Name); is {
			w.translator.AllowGroup(w.groups.all[group].object, nodes[pool.Name], &pool.Consolidation)
			continue
		}
		w.translator.Allow(w.pools[pool.Name], nodes[pool.Name], &pool.Consolidation)
	}
	out.Waiting = m.Waiting
	w.ledger.describe(&out.Waiting)
	out.Waiting.Replacing = w.disruptions.making(func(claim string) bool { return w.nodes.claim(claim) != nil }).UTC()
	out.Waiting.Evicting, out.Waiting.Leaving, out.Waiting.Successions = w.evicting(), w.surplus()+w.ending(), w.successions(out.Now)
	out.Waiting.ScaledDown = w.scaleDowns.lately(out.Now)
	w.pods.held = wait.Successors(out.Now, out.Waiting.Successions)
	return Picture{Snapshot: out, Next: next, Pulse: w.look(), Unseen: unseen}, w.pods.list, w.announced()
}

// learn adds what is known of each pool's past. It calls other code for that, and so holds no lock.
func (w *World) learn(s *snapshot.Snapshot, m Moment) {
	if m.Lesson == nil {
		return
	}
	drifted := map[string]bool{}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Life.Drifted != "" {
			drifted[n.Pool] = true
		}
	}
	for i := range s.Pools {
		if pool, found := w.Pool(s.Pools[i].Name); found {
			lesson := m.Lesson(pool, drifted[pool.Name])
			c := &s.Pools[i].Consolidation
			c.Caution, c.Pace = lesson.Caution, lesson.Pace
		}
	}
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// refresh translates what changed. A selector may look at a label that the templates left out; then all
// of them are out of date.
func (w *World) refresh(prices map[string]ingest.Prices) {
	w.refreshNodes(prices)
	if w.wasteful() {
		w.restart()
	}
	w.refreshPods()
	w.refreshDaemons()
	w.buffers = w.translator.Buffers()
	for w.translator.Stale() {
		w.restart()
		w.refreshPods()
		w.refreshDaemons()
		w.buffers = w.translator.Buffers()
	}
}

// pricesOf returns the prices of nodes, by pool.
func pricesOf(s *snapshot.Snapshot, market map[string]Sale) map[string]ingest.Prices {
	out := make(map[string]ingest.Prices, len(s.Pools))
	for i := range s.Pools {
		out[s.Pools[i].Name] = ingest.Prices{Offers: market[s.Pools[i].Name].Catalog, NodePrice: s.Pools[i].NodePrice}
	}
	return out
}

func (w *World) restart() {
	w.translator.Restart()
	w.pods.dirtyAll()
	w.pods.list = pages{made: w.pods.list.made}
	w.daemons.dirty = true
}

// fewTemplates are not worth counting.
const fewTemplates = 4096

// wasteful reports whether most templates belong to pods that no longer exist.
func (w *World) wasteful() bool {
	templates := len(w.translator.Templates())
	return templates > fewTemplates && templates > 2*(w.pods.list.len()+len(w.daemons.list))
}

func (w *World) addPools(out *snapshot.Snapshot, market map[string]Sale) {
	pools := make([]*karpenterv1.NodePool, 0, len(w.pools))
	for _, p := range w.pools {
		pools = append(pools, p)
	}
	slices.SortFunc(pools, func(a, b *karpenterv1.NodePool) int { return strings.Compare(a.Name, b.Name) })
	stored := map[*catalog.Catalog]snapshot.CatalogIndex{}
	for _, p := range pools {
		pool := w.translator.Pool(p)
		sale := market[p.Name]
		if sale.Err != nil && pool.MayLaunch() {
			pool.Unready = reason.Unready{Code: reason.CatalogFailed, Message: sale.Err.Error()}
		}
		if sale.Catalog == nil {
			sale.Catalog = &nothing
			if pool.MayLaunch() {
				pool.Unready.Code = reason.CatalogMissing
			}
		}
		at, ok := stored[sale.Catalog]
		if !ok {
			at = out.AddCatalog(sale.Catalog)
			stored[sale.Catalog] = at
		}
		pool.Catalog = at
		out.Pools = append(out.Pools, pool)
	}
}

// nothing is the catalogue of all pools that can buy nothing.
var nothing catalog.Catalog
