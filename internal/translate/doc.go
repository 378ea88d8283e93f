// Package translate translates between a NodeClaim and what a provider is asked for and
// answers: the claim's object into a cloud.Claim, a cloud.Instance into what is written on
// the object, and the object back into the instance that it tells of.
//
//	NodeClaim ── Order ──▶ cloud.Claim ── provider ──▶ cloud.Instance ── Record ──▶ NodeClaim
//	                                                        ▲                           │
//	                                                        └────────── Recall ─────────┘
//
// It is pure: it must not read or write objects, call a provider, or decide what happens
// to a claim.
package translate
