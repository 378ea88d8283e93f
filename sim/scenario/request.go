package scenario

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1 "tenon/api/autoscaling/v1"
	"tenon/sim/store"
)

// request makes a ProvisioningRequest: atomic, or else one that only checks; replicas, cpu and memory for its PodTemplate.
func (p *run) request(w wish) error {
	template, err := p.template(w)
	if err != nil {
		return err
	}
	replicas, err := p.replicas(w)
	if err != nil {
		return err
	}
	class := autoscalingv1.ClassCheckCapacity
	if _, atomic := w.options["atomic"]; atomic {
		class = autoscalingv1.ClassBestEffortAtomic
	}
	named := metav1.ObjectMeta{Namespace: "default", Name: w.subject}
	if err := p.sim.Store.Create(p.ctx, &corev1.PodTemplate{ObjectMeta: named, Template: template}); err != nil {
		return err
	}
	return p.sim.Store.Create(p.ctx, &autoscalingv1.ProvisioningRequest{ObjectMeta: named, Spec: autoscalingv1.ProvisioningRequestSpec{
		ProvisioningClassName: class, PodSets: []autoscalingv1.PodSet{{PodTemplateRef: autoscalingv1.Reference{Name: w.subject}, Count: *replicas}},
	}})
}

// requests describes ProvisioningRequests with their conditions.
func (p *run) requests() []string {
	var out []string
	for _, r := range store.All[*autoscalingv1.ProvisioningRequest](p.sim.Store) {
		out = append(out, r.Name+":")
		for _, c := range r.Status.Conditions {
			out = append(out, fmt.Sprintf("  %s %s %s: %s", c.Type, c.Status, c.Reason, p.readable(c.Message)))
		}
	}
	return out
}
