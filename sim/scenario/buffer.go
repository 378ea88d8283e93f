package scenario

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	"tenon/sim/store"
)

// buffer makes a CapacityBuffer: replicas, cpu and memory for one with its own PodTemplate, or
// of=web and the YAML of its spec for one that follows a deployment.
func (p *run) buffer(w wish) error {
	b := &autoscalingv1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: w.subject}}
	if of := w.options["of"]; of != "" {
		b.Spec.ScalableRef = &autoscalingv1beta1.ScalableRef{APIGroup: "apps", Kind: "Deployment", Name: of}
		if err := over(&b.Spec, w.extra); err != nil {
			return err
		}
		return p.sim.Store.Create(p.ctx, b)
	}
	template, err := p.template(w)
	if err != nil {
		return err
	}
	if b.Spec.Replicas, err = p.replicas(w); err != nil {
		return err
	}
	b.Spec.PodTemplateRef = &autoscalingv1beta1.LocalObjectRef{Name: w.subject}
	if err := p.sim.Store.Create(p.ctx, &corev1.PodTemplate{ObjectMeta: b.ObjectMeta, Template: template}); err != nil {
		return err
	}
	return p.sim.Store.Create(p.ctx, b)
}

// buffers describes buffers with their conditions.
func (p *run) buffers() []string {
	var out []string
	for _, b := range store.All[*autoscalingv1beta1.CapacityBuffer](p.sim.Store) {
		replicas := "?"
		if b.Status.Replicas != nil {
			replicas = fmt.Sprint(*b.Status.Replicas)
		}
		out = append(out, fmt.Sprintf("%s: %s pods", b.Name, replicas))
		for _, c := range b.Status.Conditions {
			out = append(out, fmt.Sprintf("  %s %s %s: %s", c.Type, c.Status, c.Reason, p.readable(c.Message)))
		}
	}
	return out
}
