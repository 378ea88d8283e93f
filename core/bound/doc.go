// Package bound proves how cheap a fleet could possibly be.
//
// The question is variable-sized vector bin packing: identical pods (an Item, with a count) are to
// be put into nodes (a Bin, with a price, and perhaps a stock). Nodes have room in several
// dimensions, and caps on how many pods of a group they may hold. The package solves the linear
// relaxation over patterns by column generation; a pattern is a whole number of pods of each item
// that one node can hold. It returns
//
//   - a lower bound that no integral solution can beat, proven from dual prices;
//   - those dual prices, which say what one more pod of a kind would cost;
//   - the patterns of the relaxed fleet, to be rounded to whole nodes.
//
// How the parts fit together:
//
//	Problem ──shrink──▶ instance ──start──▶ resource prices ─▶ first dual, first patterns
//	                                                │
//	            ┌───────────────────────────────────▼─────────────┐
//	            │ master (simplex) ─duals─▶ relax + branch (price) │──▶ Result
//	            │        ▲                        │               │
//	            │        └──────── columns ◀──────┘               │
//	            └─────────────────────────────────────────────────┘
//
// Floating point guides the search; the bound itself is computed so that its rounding errors can
// only lower it (see certificate). The package is pure: it uses no clock, no randomness and no
// goroutine, and it counts effort in steps.
package bound
