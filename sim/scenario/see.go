package scenario

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/order"
	"tenon/sim/store"
)

// see returns an observation.
func (p *run) see(what, subject string) ([]string, error) {
	switch what {
	case "nodes":
		return p.nodes(), nil
	case "fleet":
		return p.fleet(), nil
	case "waiting":
		return p.waiting(), nil
	case "claims":
		return p.claims(), nil
	case "pools":
		return p.pools(), nil
	case "buffers":
		return p.buffers(), nil
	case "requests":
		return p.requests(), nil
	case "events":
		return p.events(subject), nil
	case "bought":
		return []string{fmt.Sprintf("%d machines", p.sim.Cloud.Bought())}, nil
	case "evictions":
		return []string{fmt.Sprint(p.sim.Evictions)}, nil
	case "machines":
		return p.machinesOf(), nil
	}
	return nil, fmt.Errorf("that is not known")
}

// learn gives objects with random names readable ones.
func (p *run) learn(c store.Change) {
	if c.New == nil {
		return
	}
	switch object := c.New.(type) {
	case *corev1.Pod:
		if object.GenerateName != "" || len(object.OwnerReferences) > 0 {
			p.names[object.Name] = cmp.Or(object.Labels["app"], "pod")
		}
	case *corev1.Node:
		p.names[object.Name] = cmp.Or(object.Labels[karpenterv1.LabelNodePool], "node") + "-node"
	case *karpenterv1.NodeClaim:
		p.names[object.Name] = cmp.Or(object.Labels[karpenterv1.LabelNodePool], "lone") + "-claim"
	}
}

var words = regexp.MustCompile(`[a-z0-9]+(?:[-.][a-z0-9]+)+`)

// readable replaces random names by readable ones.
func (p *run) readable(text string) string {
	return words.ReplaceAllStringFunc(text, func(word string) string { return cmp.Or(p.names[word], word) })
}

// events returns the events of a reason since the last look, each text once, in alphabetical order.
func (p *run) events(reason string) []string {
	all := p.sim.Events.Events()
	var out []string
	for _, e := range all[p.heard:] {
		if reason == "" || e.Reason == reason {
			out = append(out, fmt.Sprintf("%s %s: %s", e.Reason, p.readable(e.Object.GetName()), p.readable(e.Message)))
		}
	}
	if reason == "" {
		p.heard = len(all)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nodes describes nodes by type and pods, without their names, which are random.
func (p *run) nodes() []string {
	var out []string
	for _, node := range store.All[*corev1.Node](p.sim.Store) {
		var apps []string
		for _, pod := range store.All[*corev1.Pod](p.sim.Store) {
			if pod.Spec.NodeName == node.Name && pod.Namespace == "default" && pod.DeletionTimestamp == nil {
				apps = append(apps, pod.Labels["app"])
			}
		}
		text := kind(node) + ":"
		if pool := node.Labels[karpenterv1.LabelNodePool]; pool != "default" {
			text = pool + " " + text
		}
		slices.Sort(apps)
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

func kind(node *corev1.Node) string {
	l := node.Labels
	return fmt.Sprintf("%s %s %s", l[corev1.LabelInstanceTypeStable], l[corev1.LabelTopologyZone], l[karpenterv1.LabelCapacityType])
}

// fleet counts nodes of each type, and the pods on them, for large fleets.
func (p *run) fleet() []string {
	counts, pods := map[string]int{}, 0
	for _, node := range store.All[*corev1.Node](p.sim.Store) {
		counts[node.Labels[corev1.LabelInstanceTypeStable]+" "+node.Labels[karpenterv1.LabelCapacityType]]++
	}
	for _, pod := range store.All[*corev1.Pod](p.sim.Store) {
		if pod.Spec.NodeName != "" && pod.Namespace == "default" && pod.DeletionTimestamp == nil {
			pods++
		}
	}
	var out []string
	for _, kind := range order.Keys(counts) {
		out = append(out, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	return append(out, fmt.Sprintf("%d pods", pods))
}

// machinesOf counts the machines that are not ending.
func (p *run) machinesOf() []string { return []string{fmt.Sprintf("%d run", len(p.running()))} }

func (p *run) waiting() []string {
	var out []string
	for _, pod := range store.All[*corev1.Pod](p.sim.Store) {
		if pod.Spec.NodeName == "" {
			out = append(out, pod.Labels["app"])
		}
	}
	slices.Sort(out)
	return out
}

func (p *run) claims() []string {
	var out []string
	for _, claim := range store.All[*karpenterv1.NodeClaim](p.sim.Store) {
		state := "wanted"
		for _, stage := range karpenterv1.NodeClaimConditions().Dependents {
			if meta.IsStatusConditionTrue(claim.Status.Conditions, stage) {
				state = strings.ToLower(stage)
			}
		}
		for _, about := range []string{karpenterv1.ConditionDisruptionReason, karpenterv1.ConditionDrifted} {
			if c := meta.FindStatusCondition(claim.Status.Conditions, about); c != nil && c.Status == metav1.ConditionTrue {
				state += ", " + c.Type + ": " + c.Reason
			}
		}
		if claim.DeletionTimestamp != nil {
			state = "leaving" + p.undrained(claim)
		}
		out = append(out, claim.Labels[karpenterv1.LabelNodePool]+" "+state)
	}
	slices.Sort(out)
	return out
}

// undrained is the claim's reason why its node cannot be drained.
func (p *run) undrained(claim *karpenterv1.NodeClaim) string {
	for _, c := range claim.Status.Conditions {
		if c.Type == karpenterv1.ConditionDrained && c.Status != metav1.ConditionTrue {
			return ", not drained: " + p.readable(cmp.Or(c.Message, c.Reason))
		}
	}
	return ""
}

// pools describes pools with their noteworthy conditions.
func (p *run) pools() []string {
	var out []string
	for _, pool := range store.All[*karpenterv1.NodePool](p.sim.Store) {
		out = append(out, fmt.Sprintf("%s: %s nodes", pool.Name, pool.Status.Resources.Name("nodes", "").String()))
		for _, c := range pool.Status.Conditions {
			troubles := []string{karpenterv1.ConditionLimitReached, karpenterv1.ConditionOutOfStock, karpenterv1.ConditionRolloutPaused, karpenterv1.ConditionLaunchesRefused}
			if (c.Status == metav1.ConditionTrue) == slices.Contains(troubles, c.Type) {
				out = append(out, fmt.Sprintf("  %s %s: %s", c.Type, c.Status, p.readable(cmp.Or(c.Message, c.Reason))))
			}
		}
	}
	return out
}
