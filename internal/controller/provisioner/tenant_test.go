package provisioner_test

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// These tests take the part of a tenant who may create pods, and nothing else. SECURITY.md says
// what such a tenant cannot do.

// daemonSet is a DaemonSet of the platform, in the tenant's namespace.
func (h *fixture) daemonSet(name, cpu string) {
	h.t.Helper()
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)}}
	set.Spec.Template.Spec = corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: cores(cpu)}}}
	h.Must(h.API.Create(context.Background(), set))
}

func cores(cpu string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
}

// ownedBy gives a pod a controller reference that its author chose.
func ownedBy(apiVersion, kind, name, uid string) func(*corev1.Pod) {
	yes := true
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(uid), Controller: &yes}}
	}
}

func asking(cpu string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources = cores(cpu) }
}

// pinned is the affinity by which the DaemonSet controller binds a pod to a node.
func pinned(p *corev1.Pod) {
	p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"node-1"}}}}},
	}}}
}

// TestAForgedDaemonStopsNoPurchase: a pod with a DaemonSet as its owner does not determine the
// requests of the DaemonSet's pods, unless group, kind and UID are those of the DaemonSet, and it
// is pinned to a node as its pods are.
func TestAForgedDaemonStopsNoPurchase(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		forge []func(*corev1.Pod)
		want  string
	}{
		"another group":  {[]func(*corev1.Pod){ownedBy("example.com/v1", "DaemonSet", "agent", "uid-agent"), pinned}, "default 3100m"},
		"another UID":    {[]func(*corev1.Pod){ownedBy("apps/v1", "DaemonSet", "agent", "uid-of-nothing"), pinned}, "default 3100m"},
		"another kind":   {[]func(*corev1.Pod){ownedBy("apps/v1", "Daemonset", "agent", "uid-agent"), pinned}, "default 3100m"},
		"for no node":    {[]func(*corev1.Pod){ownedBy("apps/v1", "DaemonSet", "agent", "uid-agent")}, "default 3100m"},
		"a pod of it is": {[]func(*corev1.Pod){ownedBy("apps/v1", "DaemonSet", "agent", "uid-agent"), pinned}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, ready("default"))
			h.daemonSet("agent", "100m")
			h.pods("forged", 1, append(tc.forge, asking("500"), func(p *corev1.Pod) { p.Spec.SchedulerName = "another" })...)
			h.replicaSet("web", 3)
			h.pods("web", 3)
			h.decide()
			if got := strings.Join(h.claims(), ", "); got != tc.want {
				t.Errorf("claims %q, want %q", got, tc.want)
			}
		})
	}
}

// TestAForgedReplicaAnnouncesNothing: a ReplicaSet with missing pods announces none that are like a
// pod which only claims to belong to the set.
func TestAForgedReplicaAnnouncesNothing(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(*corev1.Pod){
		"another UID":   ownedBy("apps/v1", "ReplicaSet", "web", "uid-of-nothing"),
		"another group": ownedBy("example.com/v1", "ReplicaSet", "web", "uid-web"),
		"another kind":  ownedBy("apps/v1", "Replicaset", "web", "uid-web"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, ready("default"))
			h.replicaSet("web", 10)
			h.pods("a-forged", 1, forge, asking("15"))
			h.Clock.Step(time.Second)
			h.decide()
			h.expect("default 15")
		})
	}
}

// TestAnOddReplicaIsNoModel: one pod of the set requests more than the others, although the
// reference is right. Announced pods are like most of them.
func TestAnOddReplicaIsNoModel(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.replicaSet("web", 10)
	h.pods("a-forged", 1, ownedBy("apps/v1", "ReplicaSet", "web", "uid-web"), asking("15"))
	h.pods("web", 3)
	h.settled()
	if got := h.bought(); got != 15+9 {
		t.Errorf("room for %d cores was bought, want 24: for the odd one and nine of one core", got)
	}
}

// TestForgedPodsChangeNothingForOthers: a tenant writes into a pod of 500 cores, in a namespace of its own, everything
// that could tie it to another tenant's workload or to nodes. The other tenant's ReplicaSet has three pods of ten;
// what is bought for it is the same as without the pod, and nothing is bought for the pod.
func TestForgedPodsChangeNothingForOthers(t *testing.T) {
	t.Parallel()
	annotated := func(key, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations = map[string]string{key: value} }
	}
	labelled := func(key, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Labels = map[string]string{key: value} }
	}
	for name, forge := range map[string]func(*corev1.Pod){
		"the UID of another namespace's ReplicaSet":   ownedBy("apps/v1", "ReplicaSet", "web", "uid-web"),
		"the UID of another namespace's DaemonSet":    ownedBy("apps/v1", "DaemonSet", "agent", "uid-agent"),
		"the UID of a ReplicaSet as of a StatefulSet": ownedBy("apps/v1", "StatefulSet", "web", "uid-web"),
		"a Deployment":                   ownedBy("apps/v1", "Deployment", "web", "uid-web"),
		"a Job":                          ownedBy("batch/v1", "Job", "web", "uid-web"),
		"a Node":                         ownedBy("v1", "Node", "node-1", "uid-node-1"),
		"a NodeClaim":                    ownedBy("karpenter.sh/v1", "NodeClaim", "default-00001", "uid-claim"),
		"the pod itself":                 ownedBy("v1", "Pod", "forged", "uid-forged"),
		"an owner without kind and UID":  ownedBy("", "", "", ""),
		"labels of the ReplicaSet":       labelled("app", "web"),
		"the label of a pool":            labelled("karpenter.sh/nodepool", "default"),
		"the label of a registered node": labelled("karpenter.sh/registered", "true"),
		"no disruption":                  annotated("karpenter.sh/do-not-disrupt", "true"),
		"the place of another pod":       annotated("tenon.sh/surged-for", "uid-web-0"),
		"a roll-out":                     annotated("tenon.sh/surge", "true"),
		"the end of a node":              annotated("karpenter.sh/nodeclaim-termination-timestamp", "2020-01-01T00:00:00Z"),
		"the cost of a deletion":         annotated("controller.kubernetes.io/pod-deletion-cost", "-2147483648"),
		"a nomination":                   func(p *corev1.Pod) { p.Status.NominatedNodeName = "node-1" },
		"a node that does not exist":     func(p *corev1.Pod) { p.Spec.NodeName = "node-of-nothing" },
		"the highest priority":           func(p *corev1.Pod) { n := int32(2_000_001_000); p.Spec.Priority = &n },
		"the lowest priority":            func(p *corev1.Pod) { n := int32(-2147483648); p.Spec.Priority = &n },
		"a verdict of the scheduler":     judged,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, ready("default"))
			h.daemonSet("agent", "100m")
			h.replicaSet("web", 10)
			h.pods("web", 3)
			h.pods("forged", 1, asking("500"), func(p *corev1.Pod) { p.Namespace, p.OwnerReferences = "tenant", nil }, forge)
			h.settled()
			var cores resource.Quantity
			for _, claim := range h.claims() {
				_, text, _ := strings.Cut(claim, " ")
				cores.Add(resource.MustParse(text))
			}
			nodes := int64(len(h.claims()))
			if want := 10_000 + 100*nodes; cores.MilliValue() != want {
				t.Errorf("%v were bought, want room for ten pods of a core and %d agents", h.claims(), nodes)
			}
		})
	}
}
