package bound

import (
	"fmt"
	"math/rand"
)

// everywhere returns the set of the first n bins.
func everywhere(n int) []uint64 {
	set := make([]uint64, (n+63)/64)
	for b := range n {
		set[b/64] |= 1 << (b % 64)
	}
	return set
}

const (
	gib = int64(1) << 30
	mib = int64(1) << 20
)

// fakeTypes returns the evenly growing instance types of the reference's benchmark: n types, the
// i-th with i+1 cpu and 2(i+1) GiB, all at the same price per unit.
func fakeTypes(n int) []Bin {
	var bins []Bin
	for i := range int64(n) {
		cpu, memory := (i+1)*1000, 2*(i+1)*gib
		bins = append(bins, Bin{
			Room:  []int64{cpu - 100, memory - 10*mib, 10 * (i + 1)},
			Price: int64(1e6 * (0.1*float64(i+1) + 0.1*float64(memory)/1e9)),
			Stock: -1,
		})
	}
	return bins
}

// cloudTypes resemble a cloud's catalogue: families with their own ratio of
// memory to cpu, generations with their own price, sizes that double, prices
// nearly linear in size, a fixed overhead and a reserve that grows slower than
// the node.
func cloudTypes(n int, seed int64) []Bin {
	r := rand.New(rand.NewSource(seed))
	sizes := []int64{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192}
	ratios := []int64{2, 4, 8, 16, 4, 8, 2}
	var bins []Bin
	for family := 0; len(bins) < n; family++ {
		ratio := ratios[family%len(ratios)]
		perCPU := 0.02 + 0.0042*float64(ratio) + 0.01*r.Float64()
		noise := 1 + 0.3*r.Float64()
		for _, cpu := range sizes {
			if len(bins) == n {
				break
			}
			memory := cpu * ratio * gib
			pods := min(int64(8+cpu*14), 737)
			bins = append(bins, Bin{
				Room:  []int64{cpu*1000 - 60 - 5*cpu, memory - memory/14 - 100*mib - 11*mib*min(pods, 110), min(pods, 110)},
				Price: int64(1e6 * perCPU * noise * float64(cpu) * (1 + 0.004*r.Float64())),
				Stock: -1,
			})
		}
	}
	return bins
}

// drawnPods returns n pods with the reference's draws of cpu and memory, joined to items; with
// spread > 0 the sizes vary, so that there are up to so many items.
func drawnPods(n, shapes, bins int, seed int64) []Item {
	r := rand.New(rand.NewSource(seed))
	cpu := []int64{100, 250, 500, 1000, 1500}
	memory := []int64{100, 256, 512, 1024, 2048, 4096}
	set := everywhere(bins)
	var items []Item
	at := map[string]int{}
	for len(items) < shapes {
		c, m := cpu[r.Intn(len(cpu))], memory[r.Intn(len(memory))]
		if shapes > 30 {
			c, m = c+10*r.Int63n(30), m+8*r.Int63n(40)
		}
		key := fmt.Sprint(c, m)
		if _, ok := at[key]; !ok {
			at[key] = len(items)
			items = append(items, Item{Need: []int64{c, m * mib, 1}, Bins: set})
		}
	}
	for range n {
		items[r.Intn(len(items))].Count++
	}
	return items
}

// drawnFew returns n single pods.
func drawnFew(n, bins int, seed int64) []Item {
	r := rand.New(rand.NewSource(seed))
	set := everywhere(bins)
	var items []Item
	for range n {
		items = append(items, Item{Need: []int64{100 + 50*r.Int63n(40), (100 + 32*r.Int63n(200)) * mib, 1}, Count: 1, Bins: set})
	}
	return items
}
