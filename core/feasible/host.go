package feasible

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Host is an existing node, or one that is on its way, with what is left on it.
type Host struct {
	Node  snapshot.NodeIndex
	Class int // index into Space.HostClasses
	Room  []int64
	// Volumes is what is left of each driver's attachments; nil means no limit.
	Volumes []model.Amount
	// Bound are the pods that are there to stay, indexes into Snapshot.Pods.
	Bound []snapshot.PodIndex
}

// HostClass is what label rules and taints see of a host.
type HostClass struct {
	Labels requirement.Set
	taints []model.Taint
}

// unschedulable is what Kubernetes puts on a cordoned node; a pod that tolerates it may
// still go there.
var unschedulable = model.Taint{Key: "node.kubernetes.io/unschedulable", Effect: model.NoSchedule}

func (sp *Space) compileHosts() {
	byNode := make(map[string][]snapshot.PodIndex)
	for i := range sp.Snapshot.Pods {
		if pod := &sp.Snapshot.Pods[i]; pod.Node != "" {
			byNode[pod.Node] = append(byNode[pod.Node], snapshot.PodIndex(i))
		}
	}
	classes := map[string]int{}
	for n := range sp.Snapshot.Nodes {
		node := &sp.Snapshot.Nodes[n]
		class := sp.hostClass(node, classes)
		if node.Leaving {
			sp.Departing = append(sp.Departing, Host{Node: snapshot.NodeIndex(n), Class: class, Bound: sp.staying(byNode[node.Name])})
			continue
		}
		sp.Hosts = append(sp.Hosts, sp.newHost(snapshot.NodeIndex(n), node, class, byNode[node.Name]))
	}
	slices.SortFunc(sp.Hosts, func(a, b Host) int {
		x, y := &sp.Snapshot.Nodes[a.Node], &sp.Snapshot.Nodes[b.Node]
		return cmp.Or(-order.Bools(x.Initialized, y.Initialized), strings.Compare(x.Name, y.Name), cmp.Compare(a.Node, b.Node))
	})
}

// staying are the pods of a leaving node that want no other place: while they run,
// others have to respect their anti-affinity.
func (sp *Space) staying(pods []snapshot.PodIndex) []snapshot.PodIndex {
	return slices.DeleteFunc(slices.Clone(pods), func(p snapshot.PodIndex) bool { return sp.Snapshot.Pods[p].Movable })
}

// newHost subtracts from a node what its pods use, and what its daemons will use that
// are not there yet.
func (sp *Space) newHost(n snapshot.NodeIndex, node *snapshot.Node, class int, pods []snapshot.PodIndex) Host {
	h := Host{Node: n, Class: class, Volumes: node.VolumeLimits}
	var used, daemons model.Resources
	attached := map[string]bool{}
	for _, p := range pods {
		pod := &sp.Snapshot.Pods[p]
		t := &sp.Snapshot.Templates[pod.Template]
		used = used.Add(t.Requests)
		if t.Daemon {
			daemons = daemons.Add(t.Requests)
		}
		for _, v := range t.Volumes {
			if !attached[v.ID] {
				attached[v.ID] = true
				h.Volumes = without(h.Volumes, v.Driver)
			}
		}
		h.Bound = append(h.Bound, p)
	}
	c := &sp.HostClasses[class]
	missing := sp.daemonsOnHost(sp.daemonLabels(node.Labels), c.taints).Sub(daemons).Floor()
	h.Room = sp.Vector(node.Allocatable.Sub(used).Sub(missing))
	return h
}

// without takes one attachment off a driver's limit.
func without(limits []model.Amount, driver string) []model.Amount {
	i := slices.IndexFunc(limits, func(a model.Amount) bool { return a.Name == driver })
	if i < 0 {
		return limits
	}
	out := slices.Clone(limits)
	out[i].Value--
	return out
}

// hostClass finds the class by what pods ask about: labels that no pod asks for do not tell
// hosts apart.
func (sp *Space) hostClass(node *snapshot.Node, classes map[string]int) int {
	taints := node.Taints
	if node.Unschedulable && !slices.Contains(taints, unschedulable) {
		taints = append(slices.Clone(taints), unschedulable)
	}
	relevant := make(map[string]string, len(sp.keys))
	for key := range sp.keys {
		if value, ok := node.Labels[key]; ok {
			relevant[key] = value
		}
	}
	if sp.keys[HostnameKey] && relevant[HostnameKey] == "" {
		relevant[HostnameKey] = node.Name
	}
	key := classKey(relevant, taints)
	if i, ok := classes[key]; ok {
		return i
	}
	classes[key] = len(sp.HostClasses)
	sp.HostClasses = append(sp.HostClasses, HostClass{Labels: requirement.FromLabels(relevant), taints: taints})
	return len(sp.HostClasses) - 1
}

func classKey(labels map[string]string, taints []model.Taint) string {
	var b strings.Builder
	for _, key := range order.Keys(labels) {
		b.WriteString(strconv.Quote(key) + "=" + strconv.Quote(labels[key]) + ";")
	}
	for _, t := range taints {
		b.WriteString("|" + t.String())
	}
	return b.String()
}

// ClassLabel is the value of a label, that some pod asks about, of the class's hosts.
func (sp *Space) ClassLabel(class int, key string) (string, bool) {
	return sp.HostClasses[class].Labels.Get(key).Single()
}
