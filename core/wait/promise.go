package wait

import "time"

// Promise is what a ReplicaSet has announced and not made yet.
type Promise struct {
	// From and Due are pods of the set: when it was announced, and when it is kept.
	From, Due int
	// Last is when the set was heard of last: when it was announced, or when a pod came.
	Last time.Time
}

const (
	// WholeShare is the share of a workload that keeps what it announces.
	WholeShare = 16
	// multiple is how many pods are believed in for each one that is there.
	multiple = 4
	// breach is how long after the last pod of a set the others are not expected any more.
	// kube-controller-manager makes 20 a second by default, of all workloads together.
	breach = 30 * time.Second
	// unheardWait is for how long a namespace is not waited for once it was waited for in vain.
	unheardWait = time.Minute
)

// Believed is how many of the missing pods of a set are believed in: a small multiple of those
// that it has, or as many as a set of its namespace has had at most; and of that the share that
// came the last time.
func Believed(have, missing, peak, share int) int {
	ahead := max(multiple*have, peak-have)
	if share < WholeShare {
		ahead = max(ahead*share/WholeShare, 1)
	}
	return min(missing, ahead)
}

// Kept reports whether a set that has so many pods has kept its promise, and over whether it has, or
// will not any more. Hopeless says that the set does not want that many, or cannot make them.
func (p Promise) Kept(have int, hopeless bool, now time.Time) (kept, over bool) {
	kept = have >= p.Due
	return kept, kept || hopeless || now.Sub(p.Last) >= breach
}

// Share is what of the next promise is believed, by what came of this one: twice as much as of this one
// if it was kept, and else as much as came.
func (p Promise) Share(have int, kept bool, before int) int {
	if kept {
		return min(2*before, WholeShare)
	}
	return max(WholeShare*max(have-p.From, 0)/(p.Due-p.From), 1)
}

// InVain reports whether sets of a namespace that are not heard of are not worth waiting for, if that
// was last done in vain at a time.
func InVain(last, now time.Time) bool { return now.Sub(last) < unheardWait }
