package plan

import (
	"iter"

	"tenon/core/bitset"
)

// Offers is a selection from a list of offers that many claims share, in its order. A
// large cluster's claims allow thousands of offers each: writing all of them out would
// take more memory than the cluster's pods.
type Offers struct {
	list     []Offer
	selected bitset.Set
}

// Select takes some of a list that does not change any more.
func Select(list []Offer, selected bitset.Set) Offers { return Offers{list, selected} }

// List takes all of a list.
func List(list ...Offer) Offers { return Offers{list, bitset.Full(len(list))} }

// Len is the number of offers.
func (o Offers) Len() int { return o.selected.Count() }

// All iterates over the offers, cheapest first.
func (o Offers) All() iter.Seq[Offer] {
	return func(yield func(Offer) bool) {
		for i := range o.selected.All {
			if !yield(o.list[i]) {
				return
			}
		}
	}
}

// Where are the offers for which keep is true.
func (o Offers) Where(keep func(Offer) bool) Offers {
	out := Offers{o.list, bitset.New(len(o.list))}
	for i := range o.selected.All {
		if keep(o.list[i]) {
			out.selected.Put(i)
		}
	}
	return out
}
