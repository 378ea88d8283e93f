package disrupt

import "tenon/core/snapshot"

// state is what the search may do with a node, and what it has done.
//
//	         survey            empty                    groups, sweep
//	blocked ───────▶ candidate ──────▶ consolidatable ────────────────▶ gone
//	                  ▲     │              │      │                      ▲
//	                  │     │              │      └─▶ receiving          │
//	                  └─────┼── drifted ───┘                             │
//	                        └── empty, drift ────────────────────────────┘
type state int

const (
	// blocked: it may not be disrupted at all, or nothing was asked about it yet.
	blocked state = iota
	// candidate: it may go when it is empty or has drifted.
	candidate
	// consolidatable: it may also go to save money.
	consolidatable
	// receiving: it was consolidatable and stays, since pods move to it.
	receiving
	// gone: it is part of a disruption.
	gone
)

// mayGo reports whether a disruption may still give the node up.
func (n *node) mayGo() bool {
	switch n.state {
	case candidate, consolidatable:
		return true
	case blocked, receiving, gone:
	}
	return false
}

// take notes that pods move to a node.
func (x *search) take(n *node, pods []snapshot.PodIndex) {
	if n.state == consolidatable {
		n.state = receiving
	}
	n.lasting = n.lasting || x.stay(pods)
}
