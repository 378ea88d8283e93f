package world

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"tenon/core/snapshot"
)

// TestCopiesFollowPages adds, changes and removes pods, a few at a time or thousands, and compares pages
// with a plain map, and the copies of two readers with the pages. One reader looks every time, the other
// now and then. Earlier pages must not change.
func TestCopiesFollowPages(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		dice := rand.New(rand.NewPCG(seed, 1))
		there := map[key]snapshot.Pod{}
		var now pages
		var often, seldom copied
		for round := range 40 {
			keys, fresh := changes(dice, there, round)
			before, content := now, now.all()
			now = now.with(keys, fresh)
			if !slices.EqualFunc(before.all(), content, samePod) {
				t.Fatalf("seed %d round %d: pages of before have changed", seed, round)
			}
			want := slices.SortedFunc(maps.Values(there), func(a, b snapshot.Pod) int { return comparePod(a, keyOfValue(b)) })
			checkPages(t, now, want)
			more := make([]snapshot.Pod, dice.IntN(3))
			for _, c := range []*copied{&often, &seldom} {
				if c == &seldom && dice.IntN(8) > 0 {
					continue
				}
				if got := c.follow(now, more); !slices.EqualFunc(got, append(slices.Clip(want), more...), samePod) {
					t.Fatalf("seed %d round %d: the copy of %d pods is not what the pages are", seed, round, len(got))
				}
			}
		}
	}
}

// changes makes some changes, enters them in the map, and returns them in the form that pages take.
func changes(dice *rand.Rand, there map[key]snapshot.Pod, round int) ([]key, []snapshot.Pod) {
	changed := map[key]bool{}
	first, many := dice.IntN(4000), []int{1, 1, 1, 5, 60, 1500}[dice.IntN(6)]
	spread, gone := dice.IntN(2) == 0, dice.IntN(4)
	for i := range many {
		number := first + i
		if spread {
			number = dice.IntN(4000)
		}
		k := key{Namespace: "default", Name: fmt.Sprintf("pod-%04d", number%4000)}
		changed[k] = true
		delete(there, k)
		if dice.IntN(4) >= gone {
			there[k] = snapshot.Pod{Namespace: k.Namespace, Name: k.Name, UID: fmt.Sprint(round)}
		}
	}
	keys := slices.SortedFunc(maps.Keys(changed), compareKeys)
	var fresh []snapshot.Pod
	for _, k := range keys {
		if p, is := there[k]; is {
			fresh = append(fresh, p)
		}
	}
	return keys, fresh
}

func checkPages(t *testing.T, p pages, want []snapshot.Pod) {
	t.Helper()
	if !slices.EqualFunc(p.all(), want, samePod) || p.len() != len(want) {
		t.Fatalf("pages hold %d pods, want %d", p.len(), len(want))
	}
	for i, each := range p.list {
		if n := len(each.pods); n == 0 || n > 2*pageSize || i > 0 && n+len(p.list[i-1].pods) <= pageSize {
			t.Fatalf("page %d of %d has %d pods", i, len(p.list), n)
		}
	}
	for i := 0; i < len(want); i += 7 {
		pod := want[i]
		if found := p.find(keyOfValue(pod)); found == nil || !samePod(*found, pod) {
			t.Fatalf("%s is not found", pod.Key())
		}
	}
	for _, absent := range []string{"", "pod-0000a", "z"} {
		if p.find(key{Namespace: "default", Name: absent}) != nil {
			t.Fatalf("%q is found", absent)
		}
	}
}

func (p pages) all() []snapshot.Pod {
	var out []snapshot.Pod
	for _, each := range p.list {
		out = append(out, each.pods...)
	}
	return out
}

func keyOfValue(p snapshot.Pod) key { return key{Namespace: p.Namespace, Name: p.Name} }

func samePod(a, b snapshot.Pod) bool { return a.Name == b.Name && a.UID == b.UID }
