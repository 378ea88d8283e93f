// Package search looks for the best way to place pods, on nodes that are there and on new ones.
//
//	snapshot ──▶ Sort ──▶ Search: what wants a place, what may be bought
//	                        │ Best
//	                        ▼
//	        drafts: greedy, guided, by strategies of spreading, with fewer preferences
//	                        │ Better
//	                        ▼
//	                    the best Draft, and a proof of how cheap any could be
//
// The best draft is handed to the packages beside this one: claims writes it down, and may give
// up nodes of it, and advice tells pods without a place why. The packing itself is core/pack's, the
// domains of spreads are core/topology's.
package search
