package world

import (
	"reflect"

	"tenon/core/snapshot"
)

// copied is one reader's copy of pages, in one piece. It copies only what has changed since the last
// time: of 60,000 pods, usually a few hundred.
type copied struct {
	pods  []snapshot.Pod // as last handed out
	parts []copiedPage
	total int // pods in the parts; other pods may follow them
}

// copiedPage says which page a copy holds, and how many pods the page has.
type copiedPage struct {
	number uint64
	size   int
}

// follow brings the copy up to date and returns it, followed by more pods. It overwrites what it returned
// before.
func (c *copied) follow(p pages, more []snapshot.Pod) []snapshot.Pod {
	total, same, tail := p.len(), c.tail(p), 0
	for _, each := range p.list[len(p.list)-same:] {
		tail += len(each.pods)
	}
	c.resize(total, len(more), tail)
	c.overwrite(p.list[:len(p.list)-same], c.parts[:len(c.parts)-same])
	copy(c.pods[total:], more)
	c.total, c.parts = total, c.parts[:0]
	for _, each := range p.list {
		c.parts = append(c.parts, copiedPage{each.number, len(each.pods)})
	}
	return c.pods[:len(c.pods):len(c.pods)]
}

// has reports whether the copy is up to date and followed by exactly these pods.
func (c *copied) has(p pages, more []snapshot.Pod) bool {
	if len(c.parts) != len(p.list) || c.tail(p) != len(p.list) {
		return false
	}
	rest := c.pods[c.total:]
	return len(rest) == len(more) && (len(more) == 0 || reflect.DeepEqual(rest, more))
}

// tail counts the pages at the end that the copy also has.
func (c *copied) tail(p pages) int {
	n := 0
	for n < len(c.parts) && n < len(p.list) && c.parts[len(c.parts)-1-n].number == p.list[len(p.list)-1-n].number {
		n++
	}
	return n
}

// resize makes room for so many pods and some more, and moves the last pods to their new place.
func (c *copied) resize(total, more, tail int) {
	old, size := c.pods, total+more
	last := old[c.total-tail : c.total]
	switch {
	case size > cap(old) || size < cap(old)/4:
		slack := 0
		if len(c.parts) > 0 {
			slack = size / 8 // a copy that grows will grow again
		}
		c.pods = make([]snapshot.Pod, size, size+slack)
		copy(c.pods[:total-tail], old[:c.total-tail])
		copy(c.pods[total-tail:], last)
	default:
		c.pods = old[:size]
		if total != c.total {
			copy(c.pods[total-tail:total], last)
		}
		if size < len(old) {
			clear(old[size:]) // they must keep no object in memory
		}
	}
}

// overwrite copies the pages that are not at their place.
func (c *copied) overwrite(list []page, parts []copiedPage) {
	at, from := 0, 0
	for _, each := range list {
		for len(parts) > 0 && from < at {
			from, parts = from+parts[0].size, parts[1:]
		}
		if len(parts) == 0 || from != at || parts[0].number != each.number {
			copy(c.pods[at:], each.pods)
		}
		at += len(each.pods)
	}
}
