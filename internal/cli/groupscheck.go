package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/cli/document"
	"tenon/internal/cli/planning"
	"tenon/internal/ingest"
	"tenon/internal/owner"
	"tenon/internal/podpolicy"
	"tenon/internal/preflight"
	"tenon/internal/provider"
	"tenon/internal/version"
)

func groupsCheckCommand(w Env) *cobra.Command {
	o := planning.Options{Consolidate: true, Output: planning.Table}
	var now, output string
	var skipCloud bool
	cmd := &cobra.Command{
		Use:   "check NODEGROUP",
		Short: "Say what would become of the nodes of a group that is handed over to pools",
		Long: `Say what would become of the nodes of a group that is handed over to pools, in any mode
that it has now: which are replaced and by what, which wait for a PodDisruptionBudget, and which stay
because of a pod. It also lists what people should know of before: pods that are alone without a
PodDisruptionBudget, have local storage, are protected, or of an autoscaler; budgets that can never
allow a disruption; and DaemonSets that would have no pods on the new nodes. Nothing is changed.
The plan is that of tenon plan --consolidate for the same input. For a cluster, AWS is asked as
well, with the credentials of the caller: whether the subnets of the pools have addresses for all
new nodes, and whether there are security groups. --skip-cloud leaves that out.

Exit status: 0 when there is nothing to do before; 2 when a node would stay or something is listed;
1 when there is no such group or the input was wrong.`,
		Example: `  tenon groups check web
  kubectl get nodegroups,nodepools,ec2nodeclasses,nodes,pods,daemonsets,poddisruptionbudgets,replicasets -A -o yaml | tenon groups check web -f -`,
		Args: cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&o.Files, "file", "f", nil, "file or directory of Kubernetes objects, or - for standard input; may be repeated")
	flags.StringVar(&o.Catalog, "catalog", "", catalogUsage(w))
	flags.StringVar(&o.Region, "region", w.Cloud.Builtin.Region, "region of the built-in "+w.Cloud.Builtin.Name+" catalogue")
	flags.BoolVar(&skipCloud, "skip-cloud", false, "do not ask AWS about subnets and security groups")
	flags.StringVar(&now, "now", "", "time of the plan as RFC 3339 (default: the clock's)")
	flags.StringVarP(&output, "output", "o", "text", "format: text, name (node/NAME of those that would stay), json, yaml or jsonpath=TEMPLATE")
	settingFlags(flags, w)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(output, "text", outputName, "json", "yaml", outputPath); err != nil {
			return err
		}
		c := groupCheck{name: args[0], output: output}
		if look := w.Cloud.Room; look != nil && !skipCloud && len(o.Files) == 0 {
			c.room = func(launches []provider.Launch) []preflight.Finding {
				ctx, cancel := context.WithTimeout(cmd.Context(), importTimeout)
				defer cancel()
				return look(ctx, version.Get().Version, launches)
			}
		}
		o.Prepare = c.prepare
		o.Write = c.write
		if _, err := makePlan(cmd, w, o, now); err != nil {
			return err
		}
		if c.open {
			return ErrIncomplete
		}
		return nil
	}
	return cmd
}

// groupCheck is one run.
type groupCheck struct {
	name    string
	output  string
	objects *ingest.Objects
	// room says what the launches of the replacements would lack; nil if AWS is not asked.
	room func([]provider.Launch) []preflight.Finding
	open bool // there is something to do before
}

// prepare hands the group over in the plan, with all of its nodes at once.
func (c *groupCheck) prepare(objects *ingest.Objects) error {
	c.objects = objects
	at := slices.IndexFunc(objects.NodeGroups, func(g *tenonv1alpha1.NodeGroup) bool { return g.Name == c.name })
	if at < 0 {
		return fmt.Errorf("there is no NodeGroup %s among %d", c.name, len(objects.NodeGroups))
	}
	group := objects.NodeGroups[at].DeepCopy()
	observed := group.Observed()
	group.Spec.Mode = tenonv1alpha1.ModeHandover
	delete(group.Annotations, tenonv1alpha1.AnnotationHandoverPaused)
	group.Spec.Disruption = &karpenterv1.Disruption{ConsolidateAfter: karpenterv1.NeverEnding(), Budgets: []karpenterv1.Budget{{Nodes: "100%"}}}
	objects.NodeGroups[at] = group
	members := 0
	is := membership(group, observed, objects.Nodes)
	for i, node := range objects.Nodes {
		if is(node) {
			marked := node.DeepCopy()
			marked.Annotations = maps.Clone(marked.Annotations)
			if marked.Annotations == nil {
				marked.Annotations = map[string]string{}
			}
			marked.Annotations[tenonv1alpha1.AnnotationGroup], marked.Annotations[tenonv1alpha1.AnnotationJoined] = c.name, "true"
			objects.Nodes[i] = marked
			members++
		}
	}
	if members == 0 {
		return errors.New("no node of the group is known: in mode observe its nodes are found by the label eks.amazonaws.com/nodegroup or alpha.eksctl.io/nodegroup-name, or by all labels, types and zones of the NodeGroup if as many nodes have them as it has; where that is not so, set another mode first, such as handover with the annotation " + tenonv1alpha1.AnnotationHandoverPaused)
	}
	return nil
}

// membership says which nodes are of a group. In mode observe nothing is written on them: then it is those with the label that
// names the group, or else all that are like the group's next node, if they are as many as the group has.
func membership(group *tenonv1alpha1.NodeGroup, observed bool, nodes []*corev1.Node) func(*corev1.Node) bool {
	if !observed {
		return func(n *corev1.Node) bool { return n.Annotations[tenonv1alpha1.AnnotationGroup] == group.Name }
	}
	if group.Status.Template == nil {
		return func(*corev1.Node) bool { return false }
	}
	for _, label := range nameLabels {
		if name := group.Status.Template.Labels[label]; name != "" {
			return func(n *corev1.Node) bool { return n.Labels[label] == name }
		}
	}
	like := func(n *corev1.Node) bool { return alike(group, n) }
	found := int64(len(slices.DeleteFunc(slices.Clone(nodes), func(n *corev1.Node) bool { return !like(n) })))
	if i := group.Status.Instances; i == nil || found != i.Ready+i.Unready {
		return func(*corev1.Node) bool { return false }
	}
	return like
}

// nameLabels name the group of a node.
var nameLabels = []string{"eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name"}

// alike reports whether a node of no other group, as far as its labels say, is like the next node of a group.
func alike(group *tenonv1alpha1.NodeGroup, node *corev1.Node) bool {
	for _, label := range append([]string{karpenterv1.LabelNodePool}, nameLabels...) {
		if node.Labels[label] != "" {
			return false
		}
	}
	for name, value := range group.Status.Template.Labels {
		if node.Labels[name] != value {
			return false
		}
	}
	s := &group.Status
	return slices.Contains(s.InstanceTypes, node.Labels[corev1.LabelInstanceTypeStable]) && slices.Contains(s.Zones, node.Labels[corev1.LabelTopologyZone])
}

// handover is what `tenon groups check` prints.
type handover struct {
	Group string          `json:"group"`
	Nodes []handedNode    `json:"nodes"`
	Notes []handoverNotes `json:"notes"`
	// Account is what was found in the account of AWS.
	Account []preflight.Finding `json:"account,omitempty"`
}

// handedNode is what would become of a node.
type handedNode struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"` // replaced, waits or stays
	// Why says what keeps a node, and Replacement what is bought for one that is replaced.
	Why         string `json:"why,omitempty"`
	Replacement string `json:"replacement,omitempty"`
}

// handoverNotes are objects about which people should know something.
type handoverNotes struct {
	About   string   `json:"about"`
	Objects []string `json:"objects"`
}

func (c *groupCheck) write(to io.Writer, p document.Planned) error {
	h := c.handover(p)
	report := preflight.Report{Findings: h.Account}
	c.open = report.Has(preflight.Warning, preflight.Failed) || len(h.Notes) > 0 || slices.ContainsFunc(h.Nodes, func(n handedNode) bool { return n.Outcome == "stays" })
	if c.output == outputName {
		for _, n := range h.Nodes {
			if n.Outcome == "stays" {
				fmt.Fprintf(to, "node/%s\n", n.Name)
			}
		}
		return nil
	}
	return writeDocument(to, c.output, h, h.write)
}

func (c *groupCheck) handover(p document.Planned) handover {
	h := handover{Group: c.name, Nodes: []handedNode{}, Notes: []handoverNotes{}}
	nodes := map[string]bool{}
	for i := range p.Plan.Prospects {
		n := &p.Plan.Prospects[i]
		if n.Pool != snapshot.GroupPool(c.name) {
			continue
		}
		nodes[n.Node] = true
		one := handedNode{Name: n.Node, Outcome: "stays", Why: n.Cause.Text()}
		switch n.Kind {
		case plan.Chosen:
			one = handedNode{Name: n.Node, Outcome: "replaced", Replacement: replacement(&p.Plan.Disruptions[n.Disruption])}
		case plan.Waiting:
			one.Outcome = "waits"
		}
		h.Nodes = append(h.Nodes, one)
	}
	found := c.pods(nodes)
	c.budgets(nodes, found)
	c.daemons(&p, nodes, found)
	c.template(found)
	for _, title := range order.Keys(found) {
		slices.Sort(found[title])
		h.Notes = append(h.Notes, handoverNotes{title, found[title]})
	}
	if launches := c.launches(&p); c.room != nil && len(launches) > 0 {
		h.Account = c.room(launches)
	}
	return h
}

// write writes it for people.
func (h handover) write(to io.Writer) error {
	var text strings.Builder
	for _, each := range []struct{ outcome, title string }{{"replaced", "can be replaced now"}, {"waits", "would be replaced after others"}, {"stays", "would stay"}} {
		var lines []string
		for _, n := range h.Nodes {
			switch {
			case n.Outcome != each.outcome:
			case n.Replacement != "":
				lines = append(lines, fmt.Sprintf("  %s %s\n", n.Name, n.Replacement))
			default:
				lines = append(lines, fmt.Sprintf("  %s: %s\n", n.Name, n.Why))
			}
		}
		fmt.Fprintf(&text, "%s: %s\n%s", plural(len(lines), "node", "nodes"), each.title, strings.Join(lines, ""))
	}
	for _, n := range h.Notes {
		fmt.Fprintf(&text, "%s: %s\n", n.About, strings.Join(n.Objects, ", "))
	}
	for i := range h.Account {
		text.WriteString(findingText(&h.Account[i]))
	}
	_, err := io.WriteString(to, text.String())
	return err
}

// launches are the replacements by class, of the nodes that can be replaced now.
func (c *groupCheck) launches(p *document.Planned) []provider.Launch {
	nodes := map[karpenterv1.NodeClassReference]int{}
	for i := range p.Plan.Disruptions {
		for _, r := range p.Plan.Disruptions[i].Replacements {
			at := slices.IndexFunc(c.objects.NodePools, func(pool *karpenterv1.NodePool) bool { return pool.Name == r.Pool })
			if at >= 0 && c.objects.NodePools[at].Spec.Template.Spec.NodeClassRef != nil {
				nodes[*c.objects.NodePools[at].Spec.Template.Spec.NodeClassRef]++
			}
		}
	}
	var out []provider.Launch
	for ref, n := range nodes {
		if class := c.objects.NodeClasses[ref]; class != nil {
			out = append(out, provider.Launch{Class: class, Nodes: n})
		}
	}
	slices.SortFunc(out, func(a, b provider.Launch) int { return strings.Compare(a.Class.GetName(), b.Class.GetName()) })
	return out
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// replacement is what is bought for a node.
func replacement(d *plan.Disruption) string {
	if len(d.Replacements) == 0 {
		return "needs no replacement"
	}
	parts := make([]string, len(d.Replacements))
	for i := range d.Replacements {
		r := &d.Replacements[i]
		parts[i] = fmt.Sprintf("%s, %s %s in %s for %s an hour", r.Pool, r.Offer.InstanceType, r.Offer.CapacityType, r.Offer.Zone, r.Offer.Price)
	}
	return "by " + strings.Join(parts, "; ")
}

// pods lists the pods on some nodes that people should know of, by what is to be known.
func (c *groupCheck) pods(nodes map[string]bool) map[string][]string {
	replicas := map[owner.Ref]int{}
	for _, pod := range c.objects.Pods {
		replicas[owner.Of(pod)]++
	}
	t := ingest.NewTranslator(c.index(), ingest.Options{})
	found := map[string][]string{}
	for _, pod := range c.objects.Pods {
		of, name := owner.Of(pod), pod.Namespace+"/"+pod.Name
		if !nodes[pod.Spec.NodeName] || of.Kind == "DaemonSet" || of.Kind == "Node" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		note := func(title string) { found[title] = append(found[title], name) }
		tie := t.Tie(pod)
		if of.None() {
			note("without a controller, so that no program makes the pod again")
		} else if replicas[of] == 1 && len(tie.Budgets) == 0 {
			note("alone and without a PodDisruptionBudget, so that the workload pauses")
		}
		if tie.Protected {
			note("protected by an annotation, so that the node stays")
		}
		if local(pod) {
			note("with local storage, which is lost")
		}
		if autoscaler(pod) {
			note("of an autoscaler, which should not run on nodes that it replaces")
		}
	}
	return found
}

// budgets adds the PodDisruptionBudgets of pods on some nodes that can never allow a disruption.
func (c *groupCheck) budgets(nodes map[string]bool, found map[string][]string) {
	for _, object := range c.objects.Others {
		budget, is := object.(*policyv1.PodDisruptionBudget)
		if !is || podpolicy.Never(budget) == "" {
			continue
		}
		selects, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && slices.ContainsFunc(c.objects.Pods, func(pod *corev1.Pod) bool {
			return nodes[pod.Spec.NodeName] && pod.Namespace == budget.Namespace && selects.Matches(labels.Set(pod.Labels))
		}) {
			const title = "a PodDisruptionBudget that can never allow a disruption, so that nodes with its pods stay"
			found[title] = append(found[title], fmt.Sprintf("%s/%s (%s)", budget.Namespace, budget.Name, podpolicy.Never(budget)))
		}
	}
}

// daemons adds the DaemonSets that have pods on some nodes, and would have none on the nodes of a pool that replaces them.
func (c *groupCheck) daemons(p *document.Planned, nodes map[string]bool, found map[string][]string) {
	here := map[string]bool{}
	for _, pod := range c.objects.Pods {
		if of := owner.Of(pod); of.Kind == "DaemonSet" && nodes[pod.Spec.NodeName] {
			here[of.Namespace+"/"+of.Name] = true
		}
	}
	replacing := map[string]bool{}
	for i := range p.Plan.Disruptions {
		for j := range p.Plan.Disruptions[i].Replacements {
			replacing[p.Plan.Disruptions[i].Replacements[j].Pool] = true
		}
	}
	for i := range p.Snapshot.Pools {
		pool := &p.Snapshot.Pools[i]
		for _, d := range p.Snapshot.Daemons {
			name := d.Namespace + "/" + d.Name
			if replacing[pool.Name] && here[name] && !runs(&p.Snapshot.Templates[d.Template], pool, p.Snapshot.Settings.WellKnown) {
				title := "a DaemonSet that would have no pods on nodes of pool " + pool.Name
				found[title] = append(found[title], name)
			}
		}
	}
}

// template adds what keeps the group from growing again, if the hand-over is to be taken back.
func (c *groupCheck) template(found map[string][]string) {
	for _, g := range c.objects.NodeGroups {
		if known := meta.FindStatusCondition(g.Status.Conditions, tenonv1alpha1.ConditionTemplateKnown); g.Name == c.name && known != nil && known.Status == metav1.ConditionFalse {
			const title = "the group's launch template is not usable, so that the group could not grow again if you go back"
			found[title] = append(found[title], known.Message)
		}
	}
}

// runs reports whether a DaemonSet has pods on nodes of a pool, by its taints and labels.
func runs(daemon *snapshot.Template, pool *snapshot.Pool, wellKnown requirement.KeySet) bool {
	if _, kept := model.Untolerated(pool.Taints, daemon.Tolerations, false); kept {
		return false
	}
	if len(daemon.Terms) == 0 {
		return pool.Requirements.Compatible(daemon.Selector, wellKnown)
	}
	return slices.ContainsFunc(daemon.Terms, func(term requirement.Set) bool {
		return pool.Requirements.Compatible(daemon.Selector.Intersect(term), wellKnown)
	})
}

// index has what decides about the eviction of pods.
func (c *groupCheck) index() *ingest.Index {
	x := ingest.NewIndex()
	for _, object := range c.objects.Others {
		x.Put(object)
	}
	return x
}

// local reports whether a pod keeps something on its node.
func local(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.HostPath != nil || v.EmptyDir != nil && v.EmptyDir.Medium != corev1.StorageMediumMemory
	})
}

// autoscaler reports whether a pod has the label that charts of autoscalers give it.
func autoscaler(pod *corev1.Pod) bool {
	for _, label := range []string{"app.kubernetes.io/name", "app", "k8s-app"} {
		if slices.ContainsFunc([]string{"cluster-autoscaler", "aws-cluster-autoscaler", "tenon", "karpenter"}, func(name string) bool { return pod.Labels[label] == name }) {
			return true
		}
	}
	return false
}
