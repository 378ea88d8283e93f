package reason

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// MaxText is how long the text of a verdict is at most, in bytes: that of an event.
const MaxText = 1024

// Text is the verdict in words, at most MaxText bytes however many pools there are: the
// remedy, the pools that came closest in full, and the others counted by what stood in
// the way.
func (v *Verdict) Text() string {
	var lines []string
	last := v.RemedyText()
	room := MaxText - len(last) - reserve
	if v.General.Code != None {
		lines = append(lines, shortened(v.GeneralText(), room/2))
		room -= len(lines[0]) + 2
	}
	pools := v.Promising()
	shown := 0
	for ; shown < len(pools); shown++ {
		text := "pool " + pools[shown].Pool + ": " + pools[shown].Text()
		if shown == 0 {
			text = shortened(text, room-2) // one at least
		}
		if len(text)+2 > room {
			break
		}
		lines = append(lines, text)
		room -= len(text) + 2
	}
	if rest := Summary(pools[shown:], shown); rest != "" {
		lines = append(lines, rest)
	}
	if last != "" {
		lines = append(lines, last)
	}
	return shortened(strings.Join(lines, ". "), MaxText)
}

// GeneralText is why no pool was asked; empty if one was.
func (v *Verdict) GeneralText() string {
	if v.General.Code == None {
		return ""
	}
	return append(Obstacles{v.General}, v.Further...).Text()
}

// reserve is kept for the sentence that counts the pools which are not told in full.
const reserve = 260

// RemedyText says what to do, or that no single change will do; empty if none was looked for.
func (v *Verdict) RemedyText() string {
	switch {
	case v.Remedy != nil:
		return "smallest change: " + v.Remedy.Text()
	case v.OutOfStock():
		return "nothing has to be changed: it is bought as soon as what is out of stock can be had"
	case v.Sought && v.awaited() != "":
		return "smallest change: make pool " + v.awaited() + " ready"
	case v.Sought:
		return "no single change would place it"
	}
	return ""
}

// OutOfStock reports whether some pool would take the pod, had the cloud what it sells.
func (v *Verdict) OutOfStock() bool {
	return slices.ContainsFunc(v.Pools, func(p PoolVerdict) bool { return p.Missing > 0 })
}

// AwaitsPool reports whether the pod seems to be meant for a pool that is not ready: changes that lead it to
// another pool are no remedy.
func (v *Verdict) AwaitsPool() bool { return v.awaited() != "" }

// awaited is the first pool that would let the pod in once its user has mended it; empty if there is none.
func (v *Verdict) awaited() string {
	for i := range v.Pools {
		if p := &v.Pools[i]; p.Suits && (p.Unready.Code == NotReady || p.Unready.Code == PoolInvalid) {
			return p.Pool
		}
	}
	return ""
}

// Promising lists the pools that came closest first: the one that the remedy is about,
// then those with the longest way through the funnel. A pool that is not ready and would
// let the pod in has passed two rules as far as is known: it comes before all that
// have not.
func (v *Verdict) Promising() []*PoolVerdict {
	out := make([]*PoolVerdict, len(v.Pools))
	for i := range v.Pools {
		out[i] = &v.Pools[i]
	}
	remedied := func(p *PoolVerdict) int {
		if v.Remedy != nil && v.Remedy.Pool == p.Pool {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b *PoolVerdict) int {
		return cmp.Or(cmp.Compare(remedied(a), remedied(b)), cmp.Compare(b.way(), a.way()))
	})
	return out
}

// way is how many rules were checked for the pod, including the last one, which it failed.
func (v *PoolVerdict) way() int {
	if v.Suits {
		return 3
	}
	return len(v.Funnel)
}

// blames are the rules in a few words, for counting pools.
var blames = map[Code]string{
	PoolNotReady:        "not being ready",
	PoolLimitsAwaited:   "limits that pods wait for",
	PodExpendable:       "the pod's priority",
	TaintNotTolerated:   "a taint",
	LabelsIncompatible:  "labels",
	VolumeElsewhere:     "volumes",
	TypeIncompatible:    "instance types",
	NoOffering:          "zone or capacity type",
	OfferingUnavailable: "availability",
	InsufficientRoom:    "size",
	HostPortTaken:       "host ports",
	MinimumNotMet:       "minValues",
	LimitReached:        "limits",
	ClusterLimitReached: "limits of the cluster",
	Spread:              "topology spread",
	Affinity:            "pod affinity",
	AntiAffinity:        "pod anti-affinity",
	ReservationTaken:    "reservations",
	PriceCeiling:        "price",
	None:                "other pods",
}

// Summary counts pools by what stood in the way, the most frequent first.
func Summary(pools []*PoolVerdict, shown int) string {
	if len(pools) == 0 {
		return ""
	}
	counts := map[string]int{}
	var words []string
	for _, p := range pools {
		word := cmp.Or(blames[p.Reason.Code], string(p.Reason.Code))
		if counts[word] == 0 {
			words = append(words, word)
		}
		counts[word]++
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	parts := make([]string, len(words))
	for i, word := range words {
		parts[i] = fmt.Sprintf("%d by %s", counts[word], word)
	}
	more, noun := "more ", "pools"
	if shown == 0 {
		more = ""
	}
	if len(pools) == 1 {
		noun = "pool"
	}
	return shortened(fmt.Sprintf("%d %s%s ruled out: %s", len(pools), more, noun, strings.Join(parts, ", ")), reserve)
}
