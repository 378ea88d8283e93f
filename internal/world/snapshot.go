package world

import (
	"slices"
	"strings"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// Sale is what a pool can buy, or why it cannot.
type Sale struct {
	Catalog *catalog.Catalog
	Err     error
}

// Moment is what a snapshot depends on beside the world: the time, the settings of the
// decision, and what every pool can buy.
type Moment struct {
	Now      time.Time
	Settings snapshot.Settings
	Market   map[string]Sale
}

// Picture is a snapshot, and when it will change although nothing happens.
type Picture struct {
	Snapshot *snapshot.Snapshot
	// Next is when to look again; zero is never.
	Next time.Time
	// Pulse is as of this picture.
	Pulse Pulse
	// Same says that nothing but the time is different from the reader's last picture. Of two
	// pictures that say the same it may be false.
	Same bool
}

// Reader is somebody who looks at the cluster again and again. It is told what changed since
// its last look, which costs little however large the cluster is; the price is that its
// last picture is gone then. It belongs to one goroutine.
type Reader struct {
	world *World
	pods  copied
	last  *snapshot.Snapshot
}

// Reader makes a reader.
func (w *World) Reader() *Reader { return &Reader{world: w} }

// Picture is the cluster as it is now, for good. Nobody changes the snapshot.
func (w *World) Picture(m Moment) Picture { return w.Reader().Picture(m) }

// Picture is the cluster as it is now. It is valid until the reader looks again.
func (r *Reader) Picture(m Moment) Picture {
	picture, pods, announced := r.world.picture(m)
	picture.Same = r.last != nil && alike(r.last, picture.Snapshot) && r.pods.has(pods, announced)
	picture.Snapshot.Pods = r.pods.follow(pods, announced)
	r.last = picture.Snapshot
	return picture
}

// picture is all but the pods, which need not be copied while others wait for the lock.
func (w *World) picture(m Moment) (Picture, pages, []snapshot.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.translator.At(m.Now)
	next := w.settlePlaces(m.Now)
	out := &snapshot.Snapshot{Now: m.Now.UTC(), Settings: m.Settings}
	out.Settings.WellKnown = w.options.Vocabulary.WellKnown()
	w.addPools(out, m.Market)
	w.refresh(m.Now, pricesOf(out, m.Market))
	if len(w.guests.held) > 0 {
		next = sooner(next, m.Now.Add(handOver/10))
	}
	out.Nodes, out.Daemons, out.Templates = w.roster.list, w.daemons.list, w.translator.Templates()
	out.Budgets = w.translator.Budgets()
	nodes := ingest.InService(out.Nodes)
	for i := range out.Pools {
		pool := &out.Pools[i]
		w.translator.Allow(w.pools[pool.Name], nodes[pool.Name], &pool.Consolidation)
	}
	return Picture{Snapshot: out, Next: next, Pulse: w.look()}, w.guests.list, w.announced()
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// refresh translates what changed. A selector that looks at a label which templates left
// out means that all of them are out of date.
func (w *World) refresh(now time.Time, prices map[string]ingest.Prices) {
	w.refreshNodes(prices)
	if w.wasteful() {
		w.restart()
	}
	w.refreshPods(now)
	w.refreshDaemons()
	for w.translator.Stale() {
		w.restart()
		w.refreshPods(now)
		w.refreshDaemons()
	}
}

// pricesOf says what nodes cost, by pool.
func pricesOf(s *snapshot.Snapshot, market map[string]Sale) map[string]ingest.Prices {
	out := make(map[string]ingest.Prices, len(s.Pools))
	for i := range s.Pools {
		out[s.Pools[i].Name] = ingest.Prices{Offers: market[s.Pools[i].Name].Catalog, NodePrice: s.Pools[i].NodePrice}
	}
	return out
}

func (w *World) restart() {
	w.translator.Restart()
	w.guests.dirtyAll()
	w.guests.list = pages{made: w.guests.list.made}
	w.daemons.dirty = true
}

// fewTemplates are not worth counting.
const fewTemplates = 4096

// wasteful reports whether most templates are of pods that are no more.
func (w *World) wasteful() bool {
	templates := len(w.translator.Templates())
	return templates > fewTemplates && templates > 2*(w.guests.list.len()+len(w.daemons.list))
}

func (w *World) addPools(out *snapshot.Snapshot, market map[string]Sale) {
	pools := make([]*karpenterv1.NodePool, 0, len(w.pools))
	for _, p := range w.pools {
		pools = append(pools, p)
	}
	slices.SortFunc(pools, func(a, b *karpenterv1.NodePool) int { return strings.Compare(a.Name, b.Name) })
	stored := map[*catalog.Catalog]int{}
	for _, p := range pools {
		pool := w.translator.Pool(p)
		sale := market[p.Name]
		if sale.Err != nil && pool.Unready == "" {
			pool.Unready = sale.Err.Error()
		}
		if sale.Catalog == nil {
			sale.Catalog = &nothing
			if pool.Unready == "" {
				pool.Unready = "there is no catalogue of instance types for it"
			}
		}
		at, ok := stored[sale.Catalog]
		if !ok {
			at = len(out.Catalogs)
			stored[sale.Catalog] = at
			out.Catalogs = append(out.Catalogs, *sale.Catalog)
		}
		pool.Catalog = at
		out.Pools = append(out.Pools, pool)
	}
}

// nothing is what pools share that have nothing to choose from.
var nothing catalog.Catalog
