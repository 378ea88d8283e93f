package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// Refusal is one placement that the scheduler would not make.
type Refusal struct {
	// When is the question that was asked: Finished, Alternative or Arrival.
	When string
	Pod  string
	Node string
	// Offer is the alternative under which the pod is refused.
	Offer string
	// Reason is the scheduler's own text, with the plugin's name.
	Reason string
}

// The questions.
const (
	Finished    = "finished"    // with all pods where the plan has them
	Alternative = "alternative" // with the cloud's other choice for the pod's claim
	Arrival     = "arrival"     // one pod after the other
)

// String returns a line for people.
func (r Refusal) String() string {
	text := fmt.Sprintf("%s: %s on %s", r.When, r.Pod, r.Node)
	if r.Offer != "" {
		text += " as " + r.Offer
	}
	return text + ": " + r.Reason
}

// alternativesAsked is how many of a claim's alternatives are tried.
const alternativesAsked = 4

// Judge lists what the scheduler refuses of the plan p for the snapshot s, which was made
// from the objects. An error says that the question could not be asked: the plan names
// what is not there, or the scheduler's plugins could not be run.
func Judge(ctx context.Context, objects *ingest.Objects, s *snapshot.Snapshot, p *plan.Plan) ([]Refusal, error) {
	cluster, err := newCluster(objects, s, p)
	if err != nil {
		return nil, err
	}
	scheduler, err := newScheduler(ctx, objects, cluster)
	if err != nil {
		return nil, err
	}
	defer scheduler.close()
	out := scheduler.askFinished(cluster, cluster.placed, Finished, "")
	for i := range p.Claims {
		refused, err := scheduler.askAlternatives(cluster, &p.Claims[i])
		if err != nil {
			return nil, err
		}
		out = append(out, refused...)
	}
	return append(out, scheduler.askArrival(cluster)...), nil
}

// askFinished removes each of the pods from the finished cluster and asks the scheduler about it.
func (c *scheduler) askFinished(s *cluster, asked []*corev1.Pod, when, offer string) []Refusal {
	var out []Refusal
	for _, pod := range asked {
		others := slices.DeleteFunc(s.all(), func(o *corev1.Pod) bool { return o == pod })
		if reason := c.ask(pod, pod.Spec.NodeName, others, s.nodes); reason != "" {
			out = append(out, Refusal{When: when, Pod: keyOf(pod), Node: pod.Spec.NodeName, Offer: offer, Reason: reason})
		}
	}
	return out
}

// askAlternatives asks for a claim's pods again with other machines in place of the
// planned one.
func (c *scheduler) askAlternatives(s *cluster, claim *plan.Claim) ([]Refusal, error) {
	var out []Refusal
	for _, offer := range sample(slices.Collect(claim.Alternatives.All())) {
		other, err := s.withOffer(claim, offer)
		if err != nil {
			return nil, err
		}
		asked := slices.DeleteFunc(slices.Clone(other.placed), func(p *corev1.Pod) bool { return p.Spec.NodeName != claim.Name })
		out = append(out, c.askFinished(other, asked, Alternative, fmt.Sprintf("%s/%s/%s", offer.InstanceType, offer.Zone, offer.CapacityType))...)
	}
	return out, nil
}

// sample takes the first, the last, and some in between.
func sample(offers []plan.Offer) []plan.Offer {
	if len(offers) <= alternativesAsked {
		return offers
	}
	var out []plan.Offer
	for i := range alternativesAsked {
		out = append(out, offers[i*(len(offers)-1)/(alternativesAsked-1)])
	}
	return out
}

// askArrival lets the pods arrive: a pod that the scheduler accepts comes next, until none
// is left or none gets any further. Pods that need partners come after those that do
// not: a pod may begin alone only where no pod of its kind is anywhere, and a plan must
// not depend on who is quicker.
func (c *scheduler) askArrival(s *cluster) []Refusal {
	present := slices.Clone(s.stay)
	waiting := slices.Clone(s.placed)
	slices.SortStableFunc(waiting, func(a, b *corev1.Pod) int { return cmp.Compare(needsPartners(a), needsPartners(b)) })
	for len(waiting) > 0 {
		var still []*corev1.Pod
		for _, pod := range waiting {
			if c.ask(pod, pod.Spec.NodeName, present, s.nodes) == "" {
				present = append(present, pod)
			} else {
				still = append(still, pod)
			}
		}
		if len(still) == len(waiting) {
			break
		}
		waiting = still
	}
	var out []Refusal
	for _, pod := range waiting {
		reason := c.ask(pod, pod.Spec.NodeName, present, s.nodes)
		out = append(out, Refusal{When: Arrival, Pod: keyOf(pod), Node: pod.Spec.NodeName, Reason: reason})
	}
	return out
}

// needsPartners counts required pod affinity terms.
func needsPartners(pod *corev1.Pod) int {
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		return min(1, len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution))
	}
	return 0
}
