// Package drainable says whether a pod lets its node be drained by the rules of Cluster Autoscaler: the one place where these
// rules are written. They count for groups in mode cas.
//
// The rules are asked in a fixed order, and the first one that says something decides. PodDisruptionBudgets come after all of
// them; core/disruptable asks those, as it does for every node.
package drainable

import (
	"time"

	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Values of the annotation safe-to-evict.
const (
	Safe         = "true"
	Unsafe       = "false"
	OnCompletion = "on-completion"
)

// verdict is what a rule says of a pod.
type verdict struct {
	decided bool
	// code is why the pod holds its node; None if it does not. Until is when that ends by itself.
	code  reason.Code
	until time.Time
}

var (
	silent = verdict{}
	free   = verdict{decided: true}
)

func holds(code reason.Code) verdict { return verdict{decided: true, code: code} }

// question is a pod with what the rules look at.
type question struct {
	rules snapshot.DrainRules
	pod   *snapshot.Pod
	facts *snapshot.DrainFacts
	now   time.Time
}

// order is that in which the rules are asked.
var order = []func(question) verdict{
	expendable, mirror, overdue, controller, daemon, safe, ended, onCompletion, replicated, system, unsafe, localStorage,
}

// Holder is why a pod holds its node, and until when if that ends by itself. A pod of which no facts are known does not.
func Holder(rules snapshot.DrainRules, pod *snapshot.Pod, now time.Time) (reason.Code, time.Time) {
	if pod.Tie.Drain == nil {
		return reason.None, time.Time{}
	}
	for _, rule := range order {
		if v := rule(question{rules, pod, pod.Tie.Drain, now}); v.decided {
			return v.code, v.until
		}
	}
	return reason.None, time.Time{}
}

// expendable pods hold nothing: by these rules it is as if they were not there.
func expendable(q question) verdict {
	if q.facts.Expendable {
		return free
	}
	return silent
}

func mirror(q question) verdict {
	if q.facts.Mirror {
		return free
	}
	return silent
}

func overdue(q question) verdict {
	if !q.facts.Overdue.IsZero() && q.now.After(q.facts.Overdue) {
		return free
	}
	return silent
}

// controller keeps pods that are not made again: their controller is gone, or has fewer replicas than it takes to lose one.
func controller(q question) verdict {
	switch {
	case !q.rules.SkipNodesWithCustomControllerPods:
		return silent
	case q.facts.Orphaned:
		return holds(reason.ControllerNotFound)
	case q.facts.Counted && q.facts.Replicas < q.rules.MinReplicaCount:
		return holds(reason.MinReplicasReached)
	}
	return silent
}

func daemon(q question) verdict {
	if q.facts.Daemon {
		return free
	}
	return silent
}

func safe(q question) verdict {
	if q.facts.SafeToEvict == Safe {
		return free
	}
	return silent
}

func ended(q question) verdict {
	if q.facts.Ended {
		return free
	}
	return silent
}

func onCompletion(q question) verdict {
	if q.facts.SafeToEvict == OnCompletion {
		return holds(reason.BlockedByOnCompletionPod)
	}
	return silent
}

func replicated(q question) verdict {
	if q.facts.Bare || q.facts.Custom && q.rules.SkipNodesWithCustomControllerPods {
		return holds(reason.NotReplicated)
	}
	return silent
}

// system keeps pods of kube-system for a time after they were made; then they may go.
func system(q question) verdict {
	if !q.facts.System || !q.rules.SkipNodesWithSystemPods {
		return silent
	}
	until := q.pod.Created.Add(q.rules.BlockingSystemPodTimeout)
	if q.now.After(until) {
		return free
	}
	return verdict{decided: true, code: reason.UnmovableKubeSystemPod, until: until}
}

func unsafe(q question) verdict {
	if q.facts.SafeToEvict == Unsafe {
		return holds(reason.NotSafeToEvictAnnotation)
	}
	return silent
}

func localStorage(q question) verdict {
	if q.facts.Local && q.rules.SkipNodesWithLocalStorage {
		return holds(reason.LocalStorageRequested)
	}
	return silent
}
