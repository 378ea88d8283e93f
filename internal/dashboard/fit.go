package dashboard

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// fits says which instance types a pool may buy, by the newest recorded snapshot.
type fits struct {
	Decision int64 `json:"decision"`
	// Types are what may not be bought and why, by the name of the type; a type that may be bought has an empty text, and one
	// that the pool's class does not sell is absent.
	Types map[string]string `json:"types"`
	// Problem says why there is no answer.
	Problem string `json:"problem,omitempty"`
}

// poolFit serves which types a pool may buy.
func (d *Dashboard) poolFit(w http.ResponseWriter, r *http.Request) {
	out := fits{Types: map[string]string{}}
	if d.options.Journal == nil {
		out.Problem = "No journal is read, whose newest snapshot says what pools ask for."
		answer(w, out)
		return
	}
	e, s, err := d.recorded(r)
	if err != nil {
		out.Problem = err.Error()
		answer(w, out)
		return
	}
	name := r.PathValue("name")
	at := slices.IndexFunc(s.Pools, func(p snapshot.Pool) bool { return p.Name == name })
	if at < 0 {
		out.Problem = fmt.Sprintf("The snapshot of decision %d has no pool %s.", e.ID, name)
		answer(w, out)
		return
	}
	out.Decision = e.ID
	pool := &s.Pools[at]
	for i := range s.Catalogs[pool.Catalog].Types {
		t := &s.Catalogs[pool.Catalog].Types[i]
		out.Types[t.Name] = excluded(pool, t)
	}
	answer(w, out)
}

// excluded says why a pool may not buy a type; empty if it may.
func excluded(pool *snapshot.Pool, t *catalog.Type) string {
	for asks := range pool.Requirements.All() {
		has := t.Requirements.Get(asks.Key())
		if t.Requirements.Has(asks.Key()) && !asks.Intersects(has) {
			return fmt.Sprintf("the pool asks for %s, and it is %s", asks, strings.Join(has.Values(), ", "))
		}
	}
	for _, limit := range pool.Limits {
		if size := t.Capacity.Get(limit.Name); size > limit.Value {
			return "one node would be more than the pool's limit of " + limit.Name
		}
	}
	offered, priced := false, false
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if !admits(pool.Requirements, requirement.KeyZone, o.Zone) || !admits(pool.Requirements, requirement.KeyCapacityType, o.CapacityType) {
			continue
		}
		offered = true
		priced = priced || !o.Unpriced
		if o.Available && !o.Unpriced {
			return ""
		}
	}
	switch {
	case !offered:
		return "it is not sold in a zone and as a capacity type that the pool asks for"
	case !priced:
		return "it has no price there"
	}
	return "it is out of stock wherever the pool may buy it"
}

func admits(asked requirement.Set, key, value string) bool {
	return !asked.Has(key) || asked.Get(key).Has(value)
}
