// Package scenario plays stories that people can read: what is given, what happens, and
// what is seen afterwards.
//
//	# Two small pods get one node.
//	given deployment web replicas=2 cpu=500m memory=512Mi
//	when 2m pass
//	see nodes
//	  compute-2 memory-1a spot: web web
//
// What is indented under a line that begins with see is what was seen; -rewrite of the
// test writes it anew. The package must not decide what is right: people read that.
package scenario

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/sim"
	"tenon/sim/store"
	"tenon/sim/traffic"
)

// Play plays a script from the beginning, and returns it with what was seen.
func Play(script string, seed uint64) (string, error) {
	s, err := sim.New(sim.Options{Seed: seed})
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	users := &traffic.Users{Client: s.Store, Now: s.Clock.Now}
	if err := users.Furnish(ctx); err != nil {
		return "", err
	}
	p := &play{sim: s, ctx: ctx}
	var out []string
	for number, line := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue // what was seen another time
		}
		out = append(out, line)
		seen, err := p.line(line)
		if err != nil {
			return "", fmt.Errorf("line %d: %s: %w", number+1, line, err)
		}
		for _, what := range seen {
			out = append(out, "  "+what)
		}
	}
	for _, v := range s.Violations {
		out = append(out, "  violation: "+v.Rule+": "+v.What)
	}
	return strings.Join(out, "\n") + "\n", nil
}

// play is a script under way.
type play struct {
	sim *sim.Sim
	ctx context.Context
}

func (p *play) line(line string) ([]string, error) {
	words := strings.Fields(line)
	if len(words) < 2 || strings.HasPrefix(line, "#") {
		return nil, nil
	}
	switch words[0] + " " + words[1] {
	case "given deployment":
		return nil, p.deploy(words[2], options(words[3:]))
	case "given limit":
		return nil, p.limit(words[2])
	case "when crash":
		p.sim.Crash()
		return nil, nil
	case "when scale":
		return nil, p.scale(words[2], words[3])
	case "when lose":
		return nil, p.lose()
	case "when delete":
		return nil, p.remove(words[2])
	case "see nodes":
		return p.nodes(), nil
	case "see waiting":
		return p.waiting(), nil
	case "see claims":
		return p.claims(), nil
	}
	if words[0] == "when" && words[len(words)-1] == "pass" {
		d, err := time.ParseDuration(words[1])
		if err == nil {
			p.sim.Run(d)
		}
		return nil, err
	}
	return nil, fmt.Errorf("nobody knows what that means")
}

func options(words []string) map[string]string {
	out := map[string]string{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		out[name] = value
	}
	return out
}

// deploy makes a deployment: replicas, cpu, memory, and if wanted spread=zone, budget=1.
func (p *play) deploy(name string, o map[string]string) error {
	replicas, err := strconv.Atoi(o["replicas"])
	if err != nil {
		return err
	}
	labels := map[string]string{"app": name}
	requests := corev1.ResourceList{}
	for _, kind := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if requests[kind], err = resource.ParseQuantity(o[string(kind)]); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	d.Spec.Replicas, d.Spec.Selector = ptr.To(int32(replicas)), &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "image", Resources: corev1.ResourceRequirements{Requests: requests}}}
	if o["spread"] == "zone" {
		d.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: d.Spec.Selector}}
	}
	if err := p.sim.Store.Create(p.ctx, d); err != nil || o["budget"] == "" {
		return err
	}
	return p.sim.Store.Create(p.ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.Parse(o["budget"])), Selector: d.Spec.Selector},
	})
}

func (p *play) limit(cpu string) error {
	pool := store.All[*karpenterv1.NodePool](p.sim.Store)[0].DeepCopy()
	quantity, err := resource.ParseQuantity(cpu)
	if err != nil {
		return err
	}
	pool.Spec.Limits = karpenterv1.Limits{corev1.ResourceCPU: quantity}
	return p.sim.Store.Update(p.ctx, pool)
}

func (p *play) scale(name, to string) error {
	n, err := strconv.Atoi(to)
	if err != nil {
		return err
	}
	var d appsv1.Deployment
	if err := p.sim.Store.Get(p.ctx, client.ObjectKey{Namespace: "default", Name: name}, &d); err != nil {
		return err
	}
	d.Spec.Replicas = ptr.To(int32(n))
	return p.sim.Store.Update(p.ctx, &d)
}

// lose ends the first machine that runs.
func (p *play) lose() error {
	for _, i := range p.sim.Cloud.Instances() {
		if i.State == cloud.Running {
			p.sim.Cloud.Kill(i.ProviderID)
			return nil
		}
	}
	return fmt.Errorf("there is none")
}

// remove deletes the first node or claim.
func (p *play) remove(kind string) error {
	switch kind {
	case "node":
		if nodes := store.All[*corev1.Node](p.sim.Store); len(nodes) > 0 {
			return p.sim.Store.Delete(p.ctx, nodes[0].DeepCopy())
		}
	case "claim":
		if claims := store.All[*karpenterv1.NodeClaim](p.sim.Store); len(claims) > 0 {
			return p.sim.Store.Delete(p.ctx, claims[0].DeepCopy())
		}
	}
	return fmt.Errorf("there is no %s", kind)
}

// nodes by what they are and what runs on them; names say nothing to readers.
func (p *play) nodes() []string {
	var out []string
	for _, node := range store.All[*corev1.Node](p.sim.Store) {
		var apps []string
		for _, pod := range store.All[*corev1.Pod](p.sim.Store) {
			if pod.Spec.NodeName == node.Name && pod.Namespace == "default" && pod.DeletionTimestamp == nil {
				apps = append(apps, pod.Labels["app"])
			}
		}
		l := node.Labels
		text := fmt.Sprintf("%s %s %s:", l[corev1.LabelInstanceTypeStable], l[corev1.LabelTopologyZone], l[karpenterv1.LabelCapacityType])
		if len(apps) > 0 {
			text += " " + strings.Join(apps, " ")
		}
		if node.DeletionTimestamp != nil {
			text += " (leaving)"
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

func (p *play) waiting() []string {
	var out []string
	for _, pod := range store.All[*corev1.Pod](p.sim.Store) {
		if pod.Spec.NodeName == "" {
			out = append(out, pod.Labels["app"])
		}
	}
	slices.Sort(out)
	return out
}

func (p *play) claims() []string {
	var out []string
	for _, claim := range store.All[*karpenterv1.NodeClaim](p.sim.Store) {
		state := "wanted"
		for _, c := range claim.Status.Conditions {
			if c.Status == metav1.ConditionTrue && slices.Contains(karpenterv1.NodeClaimConditions().Dependents, c.Type) {
				state = strings.ToLower(c.Type)
			}
		}
		if claim.DeletionTimestamp != nil {
			state = "leaving"
		}
		out = append(out, claim.Labels[karpenterv1.LabelNodePool]+" "+state)
	}
	slices.Sort(out)
	return out
}
