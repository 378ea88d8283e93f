package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/order"
)

// Details are what is shown of one object beside its figures in the fleet: its spec, and its status.
type Details struct {
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`
	Created time.Time `json:"created,omitzero"`
	// Leaves is when the deletion of the object began.
	Leaves   time.Time `json:"leaves,omitzero"`
	Sections []Section `json:"sections"`
	// Conditions are in the order in which they last changed, the newest first.
	Conditions []Condition `json:"conditions"`
	// Budgets are the budgets of a pool or group; nil for other kinds.
	Budgets *Budgets `json:"budgets,omitempty"`
}

// Section is facts under a title.
type Section struct {
	Title string `json:"title"`
	Facts []Fact `json:"facts"`
}

// Fact is a named value.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Condition is a condition of an object.
type Condition struct {
	// Of is the kind of object: a node's conditions are shown with those of its claim.
	Of      string    `json:"of"`
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Since   time.Time `json:"since,omitzero"`
	// Attention says that an operator should look at it.
	Attention bool `json:"attention,omitempty"`
}

// troubles lists conditions that ask for attention when they are True.
var troubles = append(slices.Clone(informs), tenonv1alpha1.ConditionBackedOff, tenonv1alpha1.ConditionForeignAutoscaler,
	string(corev1.NodeMemoryPressure), string(corev1.NodeDiskPressure), string(corev1.NodePIDPressure), string(corev1.NodeNetworkUnavailable))

// states lists conditions that are neither good nor bad, True or False.
var states = []string{
	karpenterv1.ConditionDisruptable, karpenterv1.ConditionDisruptionReason, karpenterv1.ConditionDrained, karpenterv1.ConditionConsolidatable,
	karpenterv1.ConditionDrifted, karpenterv1.ConditionInstanceTerminating, karpenterv1.ConditionVolumesDetached,
}

// steps lists conditions of claims that are not True while the claim starts. A message says why one is late.
var steps = []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered, karpenterv1.ConditionInitialized, condition.Ready}

func attention(kind, status, message string) bool {
	switch {
	case slices.Contains(troubles, kind):
		return status == string(metav1.ConditionTrue)
	case slices.Contains(states, kind):
		return false
	case slices.Contains(steps, kind):
		return status != string(metav1.ConditionTrue) && message != ""
	}
	return status == string(metav1.ConditionFalse)
}

func conditionsOf(kind string, list []metav1.Condition) []Condition {
	out := make([]Condition, 0, len(list))
	for _, c := range list {
		out = append(out, Condition{kind, c.Type, string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time, attention(c.Type, string(c.Status), c.Message)})
	}
	return out
}

func compareConditions(a, b Condition) int {
	return cmp.Or(b.Since.Compare(a.Since), strings.Compare(a.Of, b.Of), strings.Compare(a.Type, b.Type))
}

// describe begins the details of an object.
func describe(kind string, o metav1.Object, conditions []metav1.Condition, sections ...Section) *Details {
	d := &Details{Kind: kind, Name: o.GetName(), Created: o.GetCreationTimestamp().Time, Conditions: conditionsOf(kind, conditions)}
	if at := o.GetDeletionTimestamp(); at != nil {
		d.Leaves = at.Time
	}
	for _, s := range sections {
		if len(s.Facts) > 0 {
			d.Sections = append(d.Sections, s)
		}
	}
	return d
}

// section makes a section of pairs of name and value. Pairs without a value are left out.
func section(title string, pairs ...string) Section {
	s := Section{Title: title}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			s.Facts = append(s.Facts, Fact{pairs[i], pairs[i+1]})
		}
	}
	return s
}

func sectionOf(title string, values map[string]string) Section {
	s := Section{Title: title}
	for _, key := range order.Keys(values) {
		s.Facts = append(s.Facts, Fact{key, short(values[key])})
	}
	return s
}

// longest is how many bytes of a value are shown.
const longest = 400

func short(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// domains lists the beginnings of the annotations that node autoscalers read and write.
var domains = []string{"karpenter.", "tenon.sh/", "compatibility.karpenter.sh/", "cluster-autoscaler.kubernetes.io/"}

// annotations is the title of a section.
const annotations = "Annotations"

func annotationsOf(o metav1.Object) Section {
	ours := map[string]string{}
	for key, value := range o.GetAnnotations() {
		if slices.ContainsFunc(domains, func(domain string) bool { return strings.HasPrefix(key, domain) }) {
			ours[key] = value
		}
	}
	return sectionOf(annotations, ours)
}

func taintsSection(title string, taints []corev1.Taint) Section {
	s := Section{Title: title}
	for _, t := range taints {
		s.Facts = append(s.Facts, Fact{t.Key, strings.TrimSpace(t.Value + " " + string(t.Effect))})
	}
	return s
}

// detailsOfNode leaves out the labels, which Node has.
func detailsOfNode(o *corev1.Node) *Details {
	info := o.Status.NodeInfo
	d := describe("Node", o, nil, taintsSection("Taints", o.Spec.Taints), annotationsOf(o),
		section("Software", "kubelet", info.KubeletVersion, "container runtime", info.ContainerRuntimeVersion, "system", info.OSImage, "kernel", info.KernelVersion))
	for _, c := range o.Status.Conditions {
		d.Conditions = append(d.Conditions, Condition{"Node", string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time, attention(string(c.Type), string(c.Status), c.Message)})
	}
	return d
}

func detailsOfClaim(o *karpenterv1.NodeClaim) *Details {
	spec := &o.Spec
	pairs := []string{"image", o.Status.ImageID, "expires after", duration(spec.ExpireAfter)}
	if spec.TerminationGracePeriod != nil {
		pairs = append(pairs, "drains at most", plain(spec.TerminationGracePeriod.Duration))
	}
	return describe("NodeClaim", o, o.Status.Conditions, section("Claim", pairs...), annotationsOf(o))
}

// duration formats a duration; empty if there is none.
func duration(d karpenterv1.NillableDuration) string {
	switch {
	case d.Duration != nil:
		return plain(*d.Duration)
	case d.IsSet():
		return karpenterv1.Never
	}
	return ""
}

// plain formats a duration without the units at its end that are zero: 720h, 1h30m.
func plain(d time.Duration) string {
	text := d.String()
	if rest, found := strings.CutSuffix(text, "m0s"); found {
		text = rest + "m"
	}
	if rest, found := strings.CutSuffix(text, "h0m"); found {
		text = rest + "h"
	}
	return text
}

// Details returns what is shown of an object at a time, and false if there is no such object. A node's details
// include those of its claim; a claim can be requested as a node by its name.
func (s *State) Details(kind, name string, now time.Time) (Details, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind == "Node" {
		return s.nodeDetails(name)
	}
	known := s.details[kind+"/"+name]
	if known == nil {
		return Details{}, false
	}
	d := *known
	d.finish()
	if pool := s.poolNamed(kind, name); pool != nil {
		d.Budgets = pool.Budgets(now)
	}
	return d, true
}

// nodeDetails joins the details of a node with those of its claim.
func (s *State) nodeDetails(name string) (Details, bool) {
	n := s.picture().Find(name)
	if n == nil {
		return Details{}, false
	}
	d := Details{Kind: "Node", Name: n.Name, Created: n.Created}
	for _, part := range []*Details{s.details["Node/"+n.Name], s.details["NodeClaim/"+n.Claim]} {
		if part == nil {
			continue
		}
		for _, section := range part.Sections {
			if part.Kind == "NodeClaim" && section.Title == annotations {
				section.Title = "Annotations of the claim"
			}
			d.Sections = append(d.Sections, section)
		}
		if part.Kind == "NodeClaim" {
			d.Created = part.Created // its steps begin then, and a node joins in the middle of them
		}
		d.Conditions = append(d.Conditions, part.Conditions...)
		if d.Leaves.IsZero() {
			d.Leaves = part.Leaves
		}
	}
	if len(n.Labels) > 0 {
		d.Sections = append(d.Sections, sectionOf("Labels", n.Labels))
	}
	d.finish()
	return d, true
}

// finish sorts the conditions, and makes nil lists empty.
func (d *Details) finish() {
	d.Conditions = append([]Condition{}, d.Conditions...)
	slices.SortFunc(d.Conditions, compareConditions)
	d.Sections = append([]Section{}, d.Sections...)
}

// poolNamed returns a pool or group by the name of its object; nil if the object is neither.
func (s *State) poolNamed(kind, name string) *Pool {
	if kind != "NodePool" && kind != "NodeGroup" {
		return nil
	}
	for _, p := range s.picture().Pools {
		if p.Object == name && (p.Kind == "NodePool") == (kind == "NodePool") {
			return p
		}
	}
	return nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
