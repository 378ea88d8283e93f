package world

import (
	"slices"
	"sort"

	"tenon/core/snapshot"
)

// pages holds pods in the order of their names, in pieces. A piece never changes: a change of one pod
// makes one new piece, and the owner of a copy of the list can tell from the numbers which pieces are out
// of date.
type pages struct {
	list []page
	made uint64 // pieces so far
}

// page is a piece; it is never empty.
type page struct {
	number uint64
	pods   []snapshot.Pod
}

// pageSize is how many pods each piece gets when a piece has grown too large and is divided. Two
// neighbours together always have more than that.
const pageSize = 128

// len counts the pods.
func (p pages) len() int {
	n := 0
	for _, each := range p.list {
		n += len(each.pods)
	}
	return n
}

// find returns a pod by its name, or nil.
func (p pages) find(k key) *snapshot.Pod {
	at := sort.Search(len(p.list), func(i int) bool { return comparePod(p.list[i].pods[0], k) > 0 }) - 1
	if at < 0 {
		return nil
	}
	pods := p.list[at].pods
	if i, found := slices.BinarySearchFunc(pods, k, comparePod); found {
		return &pods[i]
	}
	return nil
}

// with returns the list without the keys and with the fresh pods. All fresh pods are among the keys, and
// both are sorted.
func (p pages) with(keys []key, fresh []snapshot.Pod) pages {
	out := pages{list: make([]page, 0, len(p.list)+1), made: p.made}
	for i, old := range p.list {
		ours, added := len(keys), len(fresh)
		if i+1 < len(p.list) {
			next := p.list[i+1].pods[0]
			ours = sort.Search(len(keys), func(j int) bool { return comparePod(next, keys[j]) <= 0 })
			added, _ = slices.BinarySearchFunc(fresh, key{Namespace: next.Namespace, Name: next.Name}, comparePod)
		}
		if ours == 0 {
			out.keep(old)
		} else {
			out.cut(merged(old.pods, keys[:ours], fresh[:added]))
		}
		keys, fresh = keys[ours:], fresh[added:]
	}
	if len(p.list) == 0 {
		out.cut(fresh)
	}
	return out
}

// keep appends a page, and joins it with the last one if both are small.
func (p *pages) keep(next page) {
	if n := len(p.list); n > 0 && len(p.list[n-1].pods)+len(next.pods) <= pageSize {
		p.list[n-1] = p.number(slices.Concat(p.list[n-1].pods, next.pods))
		return
	}
	p.list = append(p.list, next)
}

// cut appends pods, divided into pieces. Each piece has its own memory, which is freed with the piece.
func (p *pages) cut(pods []snapshot.Pod) {
	switch {
	case len(pods) == 0:
	case len(pods) <= 2*pageSize:
		p.keep(p.number(pods))
	default:
		for piece := range slices.Chunk(pods, pageSize) {
			p.keep(p.number(slices.Clone(piece)))
		}
	}
}

func (p *pages) number(pods []snapshot.Pod) page {
	p.made++
	return page{p.made, pods}
}

// merged returns the list without the keys and with the fresh pods; all three are sorted.
func merged(list []snapshot.Pod, keys []key, fresh []snapshot.Pod) []snapshot.Pod {
	out := make([]snapshot.Pod, 0, len(list)+len(fresh))
	for _, k := range keys {
		at, found := slices.BinarySearchFunc(list, k, comparePod)
		out = append(out, list[:at]...)
		if found {
			at++
		}
		list = list[at:]
		if len(fresh) > 0 && comparePod(fresh[0], k) == 0 {
			out = append(out, fresh[0])
			fresh = fresh[1:]
		}
	}
	return append(out, list...)
}
