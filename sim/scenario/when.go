package scenario

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/sim/store"
)

func (p *run) deployment(name string, edit func(*appsv1.Deployment)) error {
	var d appsv1.Deployment
	if err := p.sim.Store.Get(p.ctx, client.ObjectKey{Namespace: "default", Name: name}, &d); err != nil {
		return err
	}
	edit(&d)
	return p.sim.Store.Update(p.ctx, &d)
}

func (p *run) scale(w wish) error {
	var replicas int64
	for word := range w.options { // one of the two: the other is the name
		if n, err := strconv.ParseInt(word, 10, 32); err == nil {
			replicas = n
		}
	}
	return p.deployment(w.subject, func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(int32(replicas)) })
}

// rollOut makes a deployment run another image.
func (p *run) rollOut(w wish) error {
	return p.deployment(w.subject, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("image:%d", d.Generation)
	})
}

// annotate annotates all pods of an app: key=value.
func (p *run) annotate(w wish) error {
	for _, pod := range store.All[*corev1.Pod](p.sim.Store) {
		if pod.Labels["app"] != w.subject {
			continue
		}
		next := pod.DeepCopy()
		for key, value := range w.options {
			if key != w.subject {
				metav1.SetMetaDataAnnotation(&next.ObjectMeta, key, value)
			}
		}
		if err := p.sim.Store.Update(p.ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// lose ends the first running machine.
func (p *run) lose(wish) error {
	running := p.running()
	if len(running) == 0 {
		return fmt.Errorf("there is none")
	}
	p.sim.Cloud.Kill(running[0].ProviderID)
	return nil
}

func (p *run) running() []cloud.Instance {
	var out []cloud.Instance
	for _, i := range p.sim.Cloud.Instances() {
		if i.State == cloud.Running {
			out = append(out, i)
		}
	}
	return out
}

// interrupt interrupts a share of the spot machines, two minutes after a notice: 20%.
func (p *run) interrupt(w wish) error {
	percent, err := strconv.Atoi(strings.TrimSuffix(w.subject, "%"))
	if err != nil {
		return err
	}
	var spot []cloud.Instance
	for _, i := range p.running() {
		if i.Offer.CapacityType == catalog.Spot {
			spot = append(spot, i)
		}
	}
	for _, i := range spot[:(len(spot)*percent+99)/100] {
		p.sim.TakeBack(i)
	}
	return nil
}

// price sets the price of a type as a share of its price on demand: compute-2 spot=20%.
func (p *run) price(w wish) error {
	percent, err := strconv.Atoi(strings.TrimSuffix(w.options[catalog.Spot], "%"))
	if err != nil {
		return err
	}
	p.sim.Reprice(w.subject, percent)
	return nil
}

// shortage makes the named types, or the cheapest ones, unavailable: cheapest=10.
func (p *run) shortage(w wish) error {
	if n := w.options["cheapest"]; n != "" {
		most, err := strconv.Atoi(n)
		if err != nil {
			return err
		}
		p.sim.Deplete(p.sim.Cheapest(most)...)
		return nil
	}
	p.sim.Deplete(strings.Split(w.subject, ",")...)
	return nil
}

// restock ends all shortages.
func (p *run) restock(wish) error { p.sim.Restock(); return nil }

// machines makes machines that are bought from now on never join, or join again: fail, join.
func (p *run) machines(w wish) error { p.sim.Spoil = w.subject == "fail"; return nil }

// cloud makes the cloud unreachable, or reachable again: away, back.
func (p *run) cloud(w wish) error { p.sim.Away = w.subject == "away"; return nil }

// aNode is the first leaving node, or else the first node.
func (p *run) aNode() (*corev1.Node, error) {
	nodes := store.All[*corev1.Node](p.sim.Store)
	for _, node := range nodes {
		for _, t := range node.Spec.Taints {
			if t.Key == karpenterv1.TaintDisrupted().Key {
				return node, nil
			}
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("there is no node")
	}
	return nodes[0], nil
}

// remove deletes the first node or claim, all nodes or claims, or the named ones.
func (p *run) remove(w wish) error {
	objects, err := p.meant(w)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := p.sim.Store.Delete(p.ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// force deletes an object, and removes the finalizers that would delay the deletion.
func (p *run) force(w wish) error {
	objects, err := p.meant(w)
	if err != nil {
		return err
	}
	for _, object := range objects {
		p.sim.Meddle(object.GetName())
		object.SetFinalizers(nil)
		if err := p.sim.Store.Update(p.ctx, object); err != nil {
			return err
		}
	}
	return p.remove(w)
}

// meant are the objects that a line names.
func (p *run) meant(w wish) ([]client.Object, error) {
	var objects []client.Object
	meta := metav1.ObjectMeta{Namespace: "default"}
	for word := range w.options { // the name is the word that is not the kind
		if word != w.subject {
			meta.Name = word
		}
	}
	switch w.subject {
	case "node", "nodes":
		objects = list(store.All[*corev1.Node](p.sim.Store))
	case "claim", "claims":
		objects = list(store.All[*karpenterv1.NodeClaim](p.sim.Store))
	case "budget":
		objects = []client.Object{&policyv1.PodDisruptionBudget{ObjectMeta: meta}}
	case "buffer":
		objects = []client.Object{&autoscalingv1beta1.CapacityBuffer{ObjectMeta: meta}}
	case "request":
		objects = []client.Object{&autoscalingv1.ProvisioningRequest{ObjectMeta: meta}}
	case "pod":
		objects = []client.Object{&corev1.Pod{ObjectMeta: meta}}
	case "pool":
		objects = []client.Object{&karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: meta.Name}}}
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("there is no %s", w.subject)
	}
	if !strings.HasSuffix(w.subject, "s") {
		objects = objects[:1]
	}
	return objects, nil
}

func list[T client.Object](all []T) []client.Object {
	var out []client.Object
	for _, object := range all {
		out = append(out, object.DeepCopyObject().(client.Object))
	}
	return out
}
