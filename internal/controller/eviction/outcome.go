package eviction

import (
	"errors"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"tenon/internal/departure"
)

// answer is what the API server says to an eviction.
type answer int

const (
	left       answer = iota // the pod is being deleted
	gone                     // there is no such pod any more
	changed                  // it is not the pod any more that was decided about
	held                     // a budget allows no disruption now
	overlapped               // more than one budget covers the pod
	throttled                // too many calls of any kind
	ending                   // its namespace is being deleted, and takes the pod along
	failed                   // anything else
)

type response struct {
	answer answer
	// code is the HTTP status, as the metric has it; empty if no answer came.
	code string
	// wait is how long the API server asks to wait.
	wait time.Duration
}

// manyBudgets is how the API server says that it cannot choose between budgets. It is an
// internal error, and only this text tells it from others.
const manyBudgets = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."

// judge classifies answers. A budget and an overloaded API server both answer 429; only the budget's answer
// has a cause.
func judge(err error) response {
	if err == nil {
		return response{answer: left, code: strconv.Itoa(http.StatusOK)}
	}
	var status apierrors.APIStatus // not an error by itself, so errors.AsType does not know it
	if !errors.As(err, &status) {
		return response{answer: failed}
	}
	o := response{answer: failed, code: strconv.Itoa(int(status.Status().Code))}
	switch {
	case apierrors.IsNotFound(err):
		o.answer = gone
	case apierrors.IsConflict(err):
		o.answer = changed
	case apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause):
		o.answer = held
	case apierrors.IsTooManyRequests(err):
		o.answer = throttled
		if seconds, said := apierrors.SuggestsClientDelay(err); said {
			o.wait = time.Duration(seconds) * time.Second
		}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause): // an Eviction is an object to create
		o.answer = ending
	case strings.Contains(err.Error(), manyBudgets):
		o.answer = overlapped
	}
	return o
}

// patience is how long to wait before evicting a held pod is tried again: as long as the drain has taken so
// far, within bounds, so that each wait is twice the one before. That needs no memory and survives a
// restart. A part of the wait depends on the pod, so that pods do not all ask at once.
func patience(leave departure.Departure, pod *corev1.Pod) time.Duration {
	waited := firstWait
	if since := leave.State.Since; !since.IsZero() {
		waited = min(max(leave.State.Now.Sub(since), firstWait), longestWait)
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(pod.UID)) // a hash takes everything
	return waited - waited/5*time.Duration(hash.Sum32()%1000)/1000
}
