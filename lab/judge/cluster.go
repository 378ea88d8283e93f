package judge

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"

	"tenon/core/check"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// cluster is what a plan leads to, as API objects. Nodes that are leaving are
// gone from it, and so are the pods that were on them and are not placed anew.
type cluster struct {
	objects *ingest.Objects
	s       *snapshot.Snapshot
	nodes   []*corev1.Node
	// stay are pods that are there already and daemons' pods, placed those of the plan;
	// all with their node's name.
	stay, placed []*corev1.Pod
}

func (s *cluster) all() []*corev1.Pod { return slices.Concat(s.stay, s.placed) }

func keyOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

func newCluster(objects *ingest.Objects, s *snapshot.Snapshot, p *plan.Plan) (*cluster, error) {
	out := &cluster{objects: objects, s: s}
	for i := range s.Nodes {
		if !s.Nodes[i].Leaving {
			out.nodes = append(out.nodes, existingNode(&s.Nodes[i], objects.Nodes))
		}
	}
	for i := range p.Claims {
		node, err := newNode(s, &p.Claims[i], p.Claims[i].Offer)
		if err != nil {
			return nil, err
		}
		out.nodes = append(out.nodes, node)
	}
	if err := out.place(p); err != nil {
		return nil, err
	}
	out.addStaying()
	for _, node := range out.nodes {
		out.stay = append(out.stay, out.daemonsOf(node)...)
	}
	return out, nil
}

// existingNode is the Node, once all that is still starting on it has started: taints
// that go by themselves are gone, and what a machine has yet to report is what its claim
// promises.
func existingNode(from *snapshot.Node, nodes []*corev1.Node) *corev1.Node {
	out := &corev1.Node{}
	for _, node := range nodes {
		if node.Name == from.Name {
			out = node.DeepCopy()
		}
	}
	if out.Name != "" && from.Initialized {
		return out
	}
	out.Name, out.Labels = from.Name, maps.Clone(from.Labels)
	out.Labels[corev1.LabelHostname] = from.Name
	out.Spec.Taints = taints(from.Taints)
	out.Status.Capacity, out.Status.Allocatable = resources(from.Capacity), resources(from.Allocatable)
	return out
}

// newNode is the node that a claim becomes if the cloud chooses the offer.
func newNode(s *snapshot.Snapshot, c *plan.Claim, o plan.Offer) (*corev1.Node, error) {
	labels, err := check.Labels(s, c, o)
	if err != nil {
		return nil, err
	}
	labels[corev1.LabelHostname] = c.Name
	labels["karpenter.sh/registered"], labels["karpenter.sh/initialized"] = "true", "true"
	kind, offering := check.Machine(s, c, o)
	out := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Labels: labels}}
	for _, pool := range s.Pools {
		if pool.Name == c.Pool {
			out.Spec.Taints = taints(pool.Taints)
		}
	}
	out.Status.Capacity, out.Status.Allocatable = resources(kind.FullCapacity(offering)), resources(kind.Allocatable(offering))
	return out, nil
}

func taints(list []model.Taint) []corev1.Taint {
	var out []corev1.Taint
	for _, t := range list {
		out = append(out, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return out
}

func resources(r model.Resources) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, a := range r.Amounts() {
		quantity := resource.NewQuantity(a.Value, resource.DecimalSI)
		if a.Name == model.CPU {
			quantity = resource.NewMilliQuantity(a.Value, resource.DecimalSI)
		}
		out[corev1.ResourceName(a.Name)] = *quantity
	}
	return out
}

// place puts the plan's pods onto their nodes, as they would be made anew.
func (s *cluster) place(p *plan.Plan) error {
	pods := map[string]*corev1.Pod{}
	for _, pod := range s.objects.Pods {
		pods[keyOf(pod)] = pod
	}
	put := func(indexes []snapshot.PodIndex, node string) error {
		for _, i := range indexes {
			if i < 0 || int(i) >= len(s.s.Pods) {
				return fmt.Errorf("the plan places pod %d on %s, and there is no such pod", i, node)
			}
			pod, ok := pods[s.s.Pods[i].Key()]
			if !ok {
				return fmt.Errorf("the plan places %s on %s, and there is no such object", s.s.Pods[i].Key(), node)
			}
			pod = pod.DeepCopy()
			pod.Spec.NodeName, pod.DeletionTimestamp = node, nil
			s.placed = append(s.placed, pod)
		}
		return nil
	}
	for _, c := range p.Claims {
		if err := put(c.Pods, c.Name); err != nil {
			return err
		}
	}
	for _, e := range p.Existing {
		if err := put(e.Pods, e.Node); err != nil {
			return err
		}
	}
	return nil
}

// addStaying adds the pods that run on nodes that stay. One that is being terminated
// keeps its room, ports and volumes until it is gone; no rule between pods should count
// on it or mind it, so it is moved to a namespace that no rule looks at.
func (s *cluster) addStaying() {
	stays := map[string]bool{}
	for _, n := range s.nodes {
		stays[n.Name] = true
	}
	for _, pod := range s.objects.Pods {
		if !stays[pod.Spec.NodeName] || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		pod = pod.DeepCopy()
		if pod.DeletionTimestamp != nil {
			moveElsewhere(pod)
		}
		s.stay = append(s.stay, pod)
	}
}

// elsewhere is the namespace for pods that rules between pods must not see.
const elsewhere = "being-terminated"

func moveElsewhere(pod *corev1.Pod) {
	pod.Spec.Affinity = nil
	for i := range pod.Spec.Volumes {
		if claim := pod.Spec.Volumes[i].PersistentVolumeClaim; claim != nil {
			claim.ClaimName = pod.Namespace + "-" + claim.ClaimName
		}
	}
	pod.Name, pod.Namespace = pod.Namespace+"-"+pod.Name, elsewhere
}

// movedElsewhere is a claim as the pods elsewhere know it.
func movedElsewhere(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	out := claim.DeepCopy()
	out.Name, out.Namespace = claim.Namespace+"-"+claim.Name, elsewhere
	return out
}

// daemonsOf are the pods that the DaemonSet controller puts onto the node, by its own
// judgement, of DaemonSets that have none there yet.
func (s *cluster) daemonsOf(node *corev1.Node) []*corev1.Pod {
	var out []*corev1.Pod
	for _, set := range s.objects.DaemonSets {
		run, _ := daemon.NodeShouldRunDaemonPod(klog.Logger{}, node, set)
		if !run || s.runs(set, node.Name) {
			continue
		}
		pod := daemon.NewPod(set, node.Name)
		pod.Name = set.Name + "-" + node.Name
		if s.exists(node.Name) {
			withoutPorts(pod)
		}
		out = append(out, pod)
	}
	return out
}

// exists reports whether the node is there already. A daemon's pod that has yet to come
// to such a node has its room kept free, but the first to arrive has the port.
func (s *cluster) exists(node string) bool {
	return slices.ContainsFunc(s.s.Nodes, func(n snapshot.Node) bool { return n.Name == node })
}

func withoutPorts(pod *corev1.Pod) {
	pod.Spec.Containers = slices.Clone(pod.Spec.Containers)
	for i := range pod.Spec.Containers {
		pod.Spec.Containers[i].Ports = nil
	}
}

func (s *cluster) runs(set *appsv1.DaemonSet, node string) bool {
	return slices.ContainsFunc(s.stay, func(p *corev1.Pod) bool {
		owner := metav1.GetControllerOfNoCopy(p)
		return p.Spec.NodeName == node && p.Namespace == set.Namespace && owner != nil && owner.Kind == "DaemonSet" && owner.Name == set.Name
	})
}

// withOffer returns the cluster with another machine for a claim. Its daemons may differ too.
func (s *cluster) withOffer(c *plan.Claim, o plan.Offer) (*cluster, error) {
	node, err := newNode(s.s, c, o)
	if err != nil {
		return nil, err
	}
	out := &cluster{objects: s.objects, s: s.s, placed: s.placed}
	for _, n := range s.nodes {
		if n.Name == c.Name {
			n = node
		}
		out.nodes = append(out.nodes, n)
	}
	for _, pod := range s.stay {
		if pod.Spec.NodeName != c.Name {
			out.stay = append(out.stay, pod)
		}
	}
	out.stay = append(out.stay, out.daemonsOf(node)...)
	return out, nil
}
