package clusterautoscaler

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"tenon/core/expand"
	"tenon/core/order"
)

// The ConfigMap with the priorities, and its key.
const (
	PriorityConfigMap = "cluster-autoscaler-priority-expander"
	priorityKey       = "priorities"
)

// clusterTag begins the tag by which groups of a cluster are discovered; the cluster's name follows.
const clusterTag = "k8s.io/cluster-autoscaler/"

// Values are the chart's values with which Tenon looks at the same groups.
type Values struct {
	Settings Settings `json:"settings"`
}

// Settings are a part of the chart's values.
type Settings struct {
	ClusterName          string       `json:"clusterName,omitempty"`
	Nodes                []string     `json:"nodes,omitempty"`
	AutoDiscovery        []string     `json:"nodeGroupAutoDiscovery,omitempty"`
	ProvisioningRequests bool         `json:"enableProvisioningRequests,omitempty"`
	AllowedSchedulers    []string     `json:"allowedSchedulerNames,omitempty"`
	MaxNodesTotal        int          `json:"maxNodesTotal,omitempty"`
	CoresTotal           string       `json:"coresTotal,omitempty"`
	MemoryTotal          string       `json:"memoryTotal,omitempty"`
	GPUTotal             []string     `json:"gpuTotal,omitempty"`
	FeatureGates         FeatureGates `json:"featureGates"`
}

// FeatureGates are the gates that the import opens.
type FeatureGates struct {
	CapacityBuffer bool `json:"capacityBuffer,omitempty"`
	NodeGroups     bool `json:"nodeGroups"`
}

// Note says what Tenon does with a setting.
type Note struct {
	Effect  Effect `json:"effect"`
	Setting string `json:"setting"` // --expander=priority
	Text    string `json:"text"`
}

// Result is the result of an import.
type Result struct {
	// Deployment is the one that was read. Replicas is its number of replicas, for going back.
	Namespace  string `json:"namespace"`
	Deployment string `json:"deployment"`
	Replicas   int32  `json:"replicas"`
	Values     Values `json:"values"`
	// Notes are sorted by Effect, the most serious first, then in the order of the flags.
	Notes []Note `json:"notes"`
}

// Complete is true if no setting is left for the user to decide about.
func (r Result) Complete() bool {
	return !slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Effect == Lost })
}

// Import says what Tenon does with the settings of a Deployment of Cluster Autoscaler. The ConfigMap has the priorities of
// groups; it may be nil.
func Import(d *appsv1.Deployment, priorities *corev1.ConfigMap) (Result, error) {
	command, is := CommandOf(d)
	if !is {
		return Result{}, fmt.Errorf("the Deployment %s/%s does not run Cluster Autoscaler: no container has its image or its command", d.Namespace, d.Name)
	}
	r := Result{Namespace: d.Namespace, Deployment: d.Name, Replicas: 1, Values: values(command)}
	if d.Spec.Replicas != nil {
		r.Replicas = *d.Spec.Replicas
	}
	for _, f := range command.Flags {
		r.Notes = append(r.Notes, noteOf(f))
	}
	r.Notes = append(r.Notes, unsaid(command)...)
	if slices.ContainsFunc(command.Values("expander"), func(chain string) bool { return slices.Contains(strings.Split(chain, ","), expand.Priority) }) {
		r.Notes = append(r.Notes, ofPriorities(priorities)...)
	}
	rank := []Effect{Lost, Changed, Kept, Needless}
	slices.SortStableFunc(r.Notes, func(a, b Note) int {
		return cmp.Compare(slices.Index(rank, a.Effect), slices.Index(rank, b.Effect))
	})
	return r, nil
}

func values(c Command) Values {
	s := Settings{
		Nodes: c.Values("nodes"), AutoDiscovery: c.Values("node-group-auto-discovery"),
		ProvisioningRequests: slices.Contains(c.Values("enable-provisioning-requests"), "true"),
		FeatureGates:         FeatureGates{NodeGroups: true, CapacityBuffer: slices.Contains(c.Values("capacity-buffer-controller-enabled"), "true")},
	}
	s.MaxNodesTotal, _ = strconv.Atoi(last(c.Values("max-nodes-total")))
	s.CoresTotal, s.MemoryTotal = last(c.Values("cores-total")), last(c.Values("memory-total"))
	for _, names := range c.Values("allowed-scheduler-names") {
		s.AllowedSchedulers = append(s.AllowedSchedulers, strings.Split(names, ",")...)
	}
	for _, gpu := range c.Values("gpu-total") {
		if ofResource(gpu) {
			s.GPUTotal = append(s.GPUTotal, gpu)
		}
	}
	if names := c.Values("cluster-name"); len(names) > 0 {
		s.ClusterName = last(names)
	} else {
		s.ClusterName = clusterOf(s.AutoDiscovery)
	}
	return Values{Settings: s}
}

// ofResource reports whether a limit on GPUs names a resource; others name a type of GPU.
func ofResource(limit string) bool {
	name, _, _ := strings.Cut(limit, ":")
	return strings.Contains(name, "/")
}

// last is the value of a flag that counts once.
func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// clusterOf is the cluster's name in the tags by which groups are discovered; empty if no tag has
// it.
func clusterOf(discoveries []string) string {
	for _, text := range discoveries {
		_, tags, _ := strings.Cut(text, "tag=")
		for tag := range strings.SplitSeq(tags, ",") {
			key, _, _ := strings.Cut(strings.TrimSpace(tag), "=")
			if name, of := strings.CutPrefix(key, clusterTag); of && name != "enabled" {
				return name
			}
		}
	}
	return ""
}

func noteOf(f Flag) Note {
	setting := "--" + f.Name + "=" + f.Value
	found, known := fateOf(f.Name)
	if f.Name == "gpu-total" && !ofResource(f.Value) {
		return Note{Lost, setting, "Tenon counts GPUs by their resource, such as nvidia.com/gpu, and not by their type: set settings.gpuTotal, such as nvidia.com/gpu:0:16"}
	}
	if !known {
		return Note{Lost, setting, "this is no known flag of Cluster Autoscaler"}
	}
	return Note{found.effect, setting, found.text}
}

// unsaid are the notes about missing flags.
func unsaid(c Command) []Note {
	var notes []Note
	if len(c.Values("nodes"))+len(c.Values("node-group-auto-discovery")) == 0 {
		notes = append(notes, Note{Lost, "no --nodes and no --node-group-auto-discovery", "no group is looked at: set settings.nodes or settings.nodeGroupAutoDiscovery"})
	}
	if values(c).Settings.ClusterName == "" {
		notes = append(notes, Note{Lost, "no name of the cluster", "set settings.clusterName, which the chart requires"})
	}
	return notes
}

// Priorities are the priorities of groups in a ConfigMap.
func Priorities(m *corev1.ConfigMap) (expand.Priorities, error) {
	patterns, err := patternsOf(m)
	if err == nil && len(patterns) == 0 {
		err = errors.New("it has none")
	}
	if err != nil {
		return nil, fmt.Errorf("read key %s: %w", priorityKey, err)
	}
	return expand.Compile(patterns)
}

func patternsOf(m *corev1.ConfigMap) (patterns map[int][]string, err error) {
	err = yaml.Unmarshal([]byte(m.Data[priorityKey]), &patterns)
	return patterns, err
}

// ofPriorities says what Tenon does with the priorities of groups.
func ofPriorities(m *corev1.ConfigMap) []Note {
	if m == nil {
		return []Note{{Lost, "ConfigMap " + PriorityConfigMap, "it is not there, so no priority counted; there is nothing to carry over"}}
	}
	where := "ConfigMap " + m.Namespace + "/" + m.Name
	patterns, err := patternsOf(m)
	if err == nil {
		_, err = expand.Compile(patterns)
	}
	switch {
	case err != nil:
		return []Note{{Lost, where, fmt.Sprintf("key %s cannot be read, so no priority counted: %v", priorityKey, err)}}
	case len(patterns) == 0:
		return []Note{{Lost, where, "key " + priorityKey + " has no priorities, so none counted"}}
	}
	var notes []Note
	for _, priority := range slices.Backward(order.Keys(patterns)) {
		notes = append(notes, Note{Changed, fmt.Sprintf("%s: %d for %s", where, priority, strings.Join(patterns[priority], " ")),
			"it counts for groups in mode cas if --expander is priority; pools have spec.weight, from 1 to 100"})
	}
	return notes
}
