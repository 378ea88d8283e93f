package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/order"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// scale gives a workload another number of pods: additional ones are like the existing ones and
// pending; pending ones are removed first, then the youngest.
func (c *attempt) scale(t *Trial, to Scale) error {
	have, err := c.podsOf(to.Object)
	if err != nil {
		return err
	}
	if len(have) == 0 {
		return c.first(t, to)
	}
	if len(have) > to.Replicas {
		c.drop(have[to.Replicas:])
		return nil
	}
	like := c.out.Pods[have[0]]
	permitted, refusal := c.permitted(t, &like, to.Replicas-len(have))
	for n := len(have); n < to.Replicas; n++ {
		pod := anew(&like, fmt.Sprintf("%s-whatif-%d", to.Name, n))
		pod.Created = c.out.Now
		if n-len(have) >= permitted {
			pod.Refused = refusal
		}
		pod.Template = c.ownVolumes(pod.Template, n)
		c.out.Pods = append(c.out.Pods, pod)
	}
	return nil
}

// permitted is how many more pods like one the quotas of its namespace have room for, and what refuses the others. Without the
// objects of the cluster no quota is known.
func (c *attempt) permitted(t *Trial, like *snapshot.Pod, n int) (int, reason.Obstacles) {
	if t.Around == nil {
		return n, nil
	}
	at := slices.IndexFunc(t.Around.Pods, func(p *corev1.Pod) bool {
		return p.Name == like.Name && cmp.Or(p.Namespace, metav1.NamespaceDefault) == like.Namespace
	})
	if at < 0 {
		return n, nil
	}
	pod := *t.Around.Pods[at]
	pod.Namespace = like.Namespace
	var quotas []*corev1.ResourceQuota
	for _, o := range t.Around.Others {
		if q, is := o.(*corev1.ResourceQuota); is && cmp.Or(q.Namespace, metav1.NamespaceDefault) == like.Namespace {
			quotas = append(quotas, q)
		}
	}
	slices.SortFunc(quotas, func(a, b *corev1.ResourceQuota) int { return strings.Compare(a.Name, b.Name) })
	return c.rooms.Take(quotas, &pod, n)
}

// podsOf are the indexes of a workload's pods; those that scaling removes last come first.
func (c *attempt) podsOf(o Object) ([]int, error) {
	var have []int
	spaces := map[string]bool{}
	for i := range c.out.Pods {
		if p := &c.out.Pods[i]; c.belongs(p, o) && !p.Terminating {
			have = append(have, i)
			spaces[p.Namespace] = true
		}
	}
	if len(spaces) > 1 {
		return nil, fmt.Errorf("there are several %s, in namespaces %s: write KIND/NAMESPACE/NAME", o, strings.Join(order.Keys(spaces), ", "))
	}
	slices.SortFunc(have, func(a, b int) int {
		x, y := &c.out.Pods[a], &c.out.Pods[b]
		return cmp.Or(waits(x)-waits(y), x.Created.Compare(y.Created), strings.Compare(x.Name, y.Name))
	})
	return have, nil
}

// first creates pods for a workload without any, from its manifest.
func (c *attempt) first(t *Trial, to Scale) error {
	if t.Around != nil {
		for _, o := range t.Around.Others {
			if object, of := fresh(o); of.Kind == to.Kind && of.Name == to.Name && to.in(of.Namespace) {
				return c.with(t, &ingest.Objects{Others: []metav1.Object{replicated(object, int32(to.Replicas))}})
			}
		}
	}
	return fmt.Errorf("%s has no pod that others could be like: give its manifest with --with", to.Object)
}

// replicated is the workload without a status, with a number of replicas.
func replicated(o metav1.Object, replicas int32) metav1.Object {
	switch o := o.(type) {
	case *appsv1.Deployment:
		o.Spec.Replicas = &replicas
	case *appsv1.StatefulSet:
		o.Spec.Replicas = &replicas
	case *appsv1.ReplicaSet:
		o.Spec.Replicas = &replicas
	case *corev1.ReplicationController:
		o.Spec.Replicas = &replicas
	}
	return o
}

func waits(p *snapshot.Pod) int {
	if p.Node == "" {
		return 1
	}
	return 0
}

func (c *attempt) drop(pods []int) {
	gone := map[int]bool{}
	for _, at := range pods {
		gone[at] = true
	}
	var rest []snapshot.Pod
	for i := range c.out.Pods {
		if !gone[i] {
			rest = append(rest, c.out.Pods[i])
		}
	}
	c.out.Pods = rest
}

// ownVolumes is the template of another replica. If the workload's pods have volumes, the new one
// gets volumes of its own, which have no place yet.
func (c *attempt) ownVolumes(of snapshot.TemplateIndex, n int) snapshot.TemplateIndex {
	template := c.out.Templates[of]
	if len(template.Volumes) == 0 {
		return of
	}
	template.Volumes = slices.Clone(template.Volumes)
	for i := range template.Volumes {
		template.Volumes[i].ID = fmt.Sprintf("%s-whatif-%d", template.Volumes[i].ID, n)
		template.Volumes[i].Terms = nil
	}
	c.out.Templates = append(c.out.Templates, template)
	return snapshot.TemplateIndex(len(c.out.Templates) - 1)
}
