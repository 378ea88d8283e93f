// Package fleet reads half-used fleets and lets decisions improve them. It measures the price once
// no action is worthwhile any more, how many pods moved on the way, and how long the decisions
// took.
package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/bench/corpus"
	"tenon/core/catalog"
	"tenon/core/decide"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/testing/apply"
)

// Node is one node of a file.
type Node struct {
	Name, Type, Zone string
	Pods             []struct {
		CPUm, MemMi int64
		App, Kind   string
	}
}

var epoch = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)

// Read makes a snapshot of a fleet and a catalogue.
func Read(nodes, catalogue string) (*snapshot.Snapshot, error) {
	data, err := os.ReadFile(catalogue)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	offers, words, err := ingest.ReadCatalog(data)
	if err != nil {
		return nil, err
	}
	if data, err = os.ReadFile(nodes); err != nil {
		return nil, fmt.Errorf("read fleet: %w", err)
	}
	var list []Node
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read fleet %s: %w", nodes, err)
	}
	return ingest.Build(objects(list, offers), ingest.Options{
		Now: epoch.Add(30 * 24 * time.Hour), Settings: snapshot.Settings{Preferences: snapshot.Respect},
		Vocabulary: requirement.Core().With(words),
		Catalog: func(*karpenterv1.NodePool, metav1.Object) (*catalog.Catalog, error) {
			return offers, nil
		},
	}), nil
}

// Of makes a snapshot of a case whose nodes have no claims, as if they had been made long ago.
func Of(c corpus.Case) *snapshot.Snapshot {
	return ingest.Build(&ingest.Objects{Pods: append(c.Pods[:len(c.Pods):len(c.Pods)], c.Running...), Nodes: c.Nodes, NodePools: c.Pools}, ingest.Options{
		Now: epoch.Add(400 * 24 * time.Hour), Settings: snapshot.Settings{Preferences: snapshot.Respect}, Files: true,
		Vocabulary: requirement.Core().With(c.Words),
		Catalog: func(*karpenterv1.NodePool, metav1.Object) (*catalog.Catalog, error) {
			return c.Catalog, nil
		},
	})
}

func objects(list []Node, offers *catalog.Catalog) *ingest.Objects {
	out := &ingest.Objects{NodePools: []*karpenterv1.NodePool{fleetPool()}}
	types := map[string]*catalog.Type{}
	for i := range offers.Types {
		types[offers.Types[i].Name] = &offers.Types[i]
	}
	for i := range list {
		n := &list[i]
		node, claim := machine(n, types[n.Type])
		out.Nodes, out.NodeClaims = append(out.Nodes, node), append(out.NodeClaims, claim)
		for k, p := range n.Pods {
			out.Pods = append(out.Pods, boundPod(n.Name, fmt.Sprintf("%s-%s-%d", p.App, n.Name, k), p.App, p.CPUm, p.MemMi))
		}
	}
	return out
}

func fleetPool() *karpenterv1.NodePool {
	p := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	spec := &p.Spec.Template.Spec
	spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "example.com", Kind: "Class", Name: "default"}
	for key, value := range map[string]string{
		requirement.KeyArch: "amd64", requirement.KeyOS: "linux", requirement.KeyCapacityType: catalog.OnDemand,
	} {
		spec.Requirements = append(spec.Requirements, karpenterv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
	}
	p.Spec.Disruption.ConsolidateAfter = karpenterv1.DurationOf(0)
	p.Spec.Disruption.ConsolidationPolicy = karpenterv1.ConsolidateWhenEmptyOrUnderutilized
	p.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "100%"}}
	p.Status.Conditions = []metav1.Condition{{Type: condition.Ready, Status: metav1.ConditionTrue}}
	return p
}

func machine(n *Node, t *catalog.Type) (*corev1.Node, *karpenterv1.NodeClaim) {
	labels := map[string]string{
		requirement.KeyNodePool: "default", requirement.KeyInstanceType: n.Type, requirement.KeyZone: n.Zone,
		requirement.KeyCapacityType: catalog.OnDemand, requirement.KeyArch: "amd64", requirement.KeyOS: "linux",
		requirement.KeyHostname: n.Name, karpenterv1.LabelRegistered: "true", karpenterv1.LabelInitialized: "true",
	}
	allocatable := t.Allocatable(&t.Offerings[0])
	list := func(cpu, memory, pods int64) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(cpu, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
			corev1.ResourcePods:   *resource.NewQuantity(pods, resource.DecimalSI),
		}
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: labels, CreationTimestamp: metav1.NewTime(epoch)}}
	node.Spec.ProviderID = "fleet:///" + n.Name
	node.Status.Capacity = list(t.Capacity.CPU, t.Capacity.Memory, t.Capacity.Pods)
	node.Status.Allocatable = list(allocatable.CPU, allocatable.Memory, allocatable.Pods)
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-" + n.Name, Labels: labels, CreationTimestamp: metav1.NewTime(epoch)}}
	claim.Status.ProviderID, claim.Status.NodeName = node.Spec.ProviderID, n.Name
	for _, name := range []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered, karpenterv1.ConditionInitialized, karpenterv1.ConditionConsolidatable} {
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: name, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(epoch)})
	}
	return node, claim
}

func boundPod(node, name, app string, milliCPU, mebibytes int64) *corev1.Pod {
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": app}, CreationTimestamp: metav1.NewTime(epoch),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app, UID: types.UID(app), Controller: &yes}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(milliCPU, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(mebibytes<<20, resource.BinarySI),
		}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// Round is one decision that was carried out.
type Round struct {
	// Took is wall-clock time; CPU is what the process used meanwhile, including its garbage
	// collection.
	Took, CPU   time.Duration
	Disruptions int
	Price       float64
	apply.Count
}

// Settle decides and carries out decisions until none is worthwhile, with a pause between two
// decisions, for a limited number of rounds. Twice counts pods that were moved more than once.
func Settle(s *snapshot.Snapshot, pause time.Duration, most int) (rounds []Round, twice int, end *snapshot.Snapshot) {
	moved := map[string]int{}
	for i := range most {
		start, used := time.Now(), cpu()
		p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
		r := Round{Took: time.Since(start), CPU: cpu() - used, Disruptions: len(p.Disruptions)}
		for d := range p.Disruptions {
			for c := range p.Disruptions[d].Replacements {
				count(s, moved, p.Disruptions[d].Replacements[c].Pods)
			}
			for _, m := range p.Disruptions[d].Moves {
				count(s, moved, m.Pods)
			}
		}
		s, r.Count = apply.Of(s, &p, pause, i)
		r.Price = apply.Price(s)
		rounds = append(rounds, r)
		if r.Disruptions == 0 {
			break
		}
	}
	for _, n := range moved {
		if n > 1 {
			twice++
		}
	}
	return rounds, twice, s
}

func count(s *snapshot.Snapshot, moved map[string]int, pods []snapshot.PodIndex) {
	for _, p := range pods {
		moved[s.Pods[p].Key()]++
	}
}

// Watch decides once an hour for some hours, and counts the evictions.
func Watch(s *snapshot.Snapshot, hours int) int {
	evictions := 0
	for i := range hours {
		p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
		var c apply.Count
		s, c = apply.Of(s, &p, time.Hour, 1000+i)
		evictions += c.Evictions
	}
	return evictions
}

// cpu returns what the process has used so far.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
