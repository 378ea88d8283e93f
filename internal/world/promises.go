package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/wait"
	"tenon/internal/owner"
)

// promises holds how far ReplicaSets are believed to make the pods that they want. The reason why a set
// does not make them need not be visible: a webhook may refuse the pods, or a user may scale the set down
// again. wait.Believed says how far the belief in each set goes.
//
//	announced ──all come──▶ kept: twice the share
//	    └──no pod for a while, hindered, scaled down──▶ broken: the share that came
type promises struct {
	open   map[owner.Ref]*promise // by ReplicaSet
	shares map[owner.Ref]int      // in parts of wait.WholeShare, by workload and by namespace; absent is all
	peaks  map[string]int         // the most pods of one set at once, by namespace
	// unheard says when a namespace last had pods of a ReplicaSet that never appeared, or a ReplicaSet that made none.
	unheard map[string]time.Time
}

// promise holds what a ReplicaSet of a workload has announced and not made yet.
type promise struct {
	wait.Promise
	workload owner.Ref
	model    *corev1.Pod // the announced pods are like it
}

// mostTrusted is how many workloads are remembered; when there are more, all are forgotten.
const mostTrusted = 20_000

func newPromises() promises {
	return promises{open: map[owner.Ref]*promise{}, shares: map[owner.Ref]int{}, peaks: map[string]int{}, unheard: map[string]time.Time{}}
}

// namespaceOf stands for all workloads of a namespace: experience with them counts for or against a new
// workload.
func namespaceOf(workload owner.Ref) owner.Ref { return owner.Ref{Namespace: workload.Namespace} }

// share returns the share of a workload, or else of its namespace.
func (t *promises) share(workload owner.Ref) int {
	for _, known := range []owner.Ref{workload, namespaceOf(workload)} {
		if share, found := t.shares[known]; found {
			return share
		}
	}
	return wait.WholeShare
}

// believed returns how many of the missing pods of a set are believed to come, given how many pods it
// has.
func (t *promises) believed(workload owner.Ref, have, missing int) int {
	return wait.Believed(have, missing, t.peaks[workload.Namespace], t.share(workload))
}

// count notes how many pods a set of a namespace has.
func (t *promises) count(namespace string, have int) {
	t.peaks[namespace] = max(t.peaks[namespace], have)
}

// came notes that a set has made a pod, and how many it has now.
func (t *promises) came(set owner.Ref, have int, now time.Time) {
	if p := t.open[set]; p != nil {
		p.Last = now
		t.judge(set, have, false, now)
	}
}

// promise notes that a set announces so many pods like the model beyond those that it has.
func (t *promises) promise(set, workload owner.Ref, model *corev1.Pod, have, announced int, now time.Time) {
	p := t.open[set]
	if p == nil {
		p = &promise{workload: workload, Promise: wait.Promise{From: have, Last: now}}
		t.open[set] = p
	}
	p.model, p.Due = model, max(p.Due, have+announced)
}

// judge closes a promise that is kept or broken: hopeless says that the set does not want that many pods,
// or cannot make them.
func (t *promises) judge(set owner.Ref, have int, hopeless bool, now time.Time) {
	p := t.open[set]
	kept, over := p.Kept(have, hopeless, now)
	if !over {
		return
	}
	delete(t.open, set)
	if len(t.shares) > mostTrusted {
		clear(t.shares)
	}
	for _, known := range []owner.Ref{p.workload, namespaceOf(p.workload)} {
		t.shares[known] = p.Share(have, kept, t.share(known))
	}
}

// lull is how long after its last pod a set is taken to make no further ones for the moment.
const lull = 2 * time.Second

// coming reports whether a set is making pods that it has announced.
func (t *promises) coming(now time.Time) bool {
	for _, p := range t.open {
		if now.Sub(p.Last) < lull {
			return true
		}
	}
	return false
}

// doubt notes that a set failed to appear, or to make a pod, in time.
func (t *promises) doubt(set owner.Ref, now time.Time) {
	for namespace, at := range t.unheard {
		if !wait.InVain(at, now) {
			delete(t.unheard, namespace)
		}
	}
	t.unheard[set.Namespace] = later(t.unheard[set.Namespace], now)
}

// doubts reports whether unknown sets of a namespace are not worth waiting for.
func (t *promises) doubts(namespace string, now time.Time) bool {
	at, known := t.unheard[namespace]
	return known && wait.InVain(at, now)
}
