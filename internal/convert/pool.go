package convert

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/source"
)

// Texts that more than one kind needs.
const (
	textExpiry  = "nodes that expire are replaced at once since v1: budgets do not hold expiry back, and no replacement is waited for. terminationGracePeriod bounds the drain"
	textBudgets = "at most 10 % of a pool's nodes are disrupted at the same time since v1beta1; spec.disruption.budgets changes that"
	textDropped = "it is left out: "
)

// provisioner converts a Provisioner of v1alpha5.
func (c *converter) provisioner(d source.Document) {
	old, spec := begin(d.Root, poolVersion, "NodePool")
	template := source.Under(spec, "template")
	for _, field := range []string{"labels", "annotations"} {
		if source.Lookup(old, field) != nil {
			source.Move(old, field, source.Under(template, "metadata"), field)
		}
	}
	inner := source.Under(template, "spec")
	class := c.classOfProvisioner(d, old, inner)
	for _, field := range []string{"taints", "startupTaints", "requirements"} {
		source.Move(old, field, inner, field)
	}
	c.alphaDefaults(template)
	c.alphaExpiry(old, inner)
	c.alphaDisruption(old, spec)
	c.alphaLimits(old, spec)
	source.Move(old, "weight", spec, "weight")
	c.pools = append(c.pools, pooled{document: c.current, root: d.Root, class: class, kubelet: source.Take(old, "kubeletConfiguration")})
	c.Documents = append(c.Documents, d)
	c.end(old, "spec")
}

// classOfProvisioner writes which class the nodes are of, and returns its name. A class that is
// written inside the Provisioner becomes an object of its own.
func (c *converter) classOfProvisioner(d source.Document, old, inner *yaml.Node) string {
	name := d.Name()
	reference, inline := source.Take(old, "providerRef"), source.Take(old, "provider")
	switch {
	case reference != nil:
		name = source.Value(source.Lookup(reference, "name"))
		if kind := source.Value(source.Lookup(reference, "kind")); kind != "" && kind != "AWSNodeTemplate" {
			c.tell(Lost, "spec.providerRef", "nodes of %s have no successor here: only AWSNodeTemplate has", kind)
		}
	case inline != nil:
		c.inlineClass(name, inline)
	default:
		c.tell(Lost, "spec", "no providerRef and no provider: today's pools name a class of nodes. EC2NodeClass %s has to be written", name)
	}
	source.Set(inner, "nodeClassRef", classReference(name))
	return name
}

func classReference(name string) *yaml.Node {
	return source.Pairs("group", awsv1.Group, "kind", "EC2NodeClass", "name", name)
}

// alphaDefaults writes out the requirements that v1alpha5 added by itself.
func (c *converter) alphaDefaults(template *yaml.Node) {
	inner := source.Under(template, "spec")
	if source.Lookup(inner, "requirements") == nil {
		source.Set(inner, "requirements", source.Sequence())
	}
	list := source.Lookup(inner, "requirements")
	has := func(key string) bool {
		return source.Lookup(template, "metadata", "labels", key) != nil ||
			slices.ContainsFunc(list.Content, func(r *yaml.Node) bool { return source.Value(source.Lookup(r, "key")) == key })
	}
	add := func(key, operator string, values ...string) {
		item := source.Pairs("key", key, "operator", operator)
		texts := source.Sequence()
		texts.Style = yaml.FlowStyle
		for _, value := range values {
			texts.Content = append(texts.Content, source.Text(value))
		}
		source.Set(item, "values", texts)
		if list.Style == yaml.FlowStyle || len(list.Content) > 0 && list.Content[0].Style == yaml.FlowStyle {
			item.Style = yaml.FlowStyle
		}
		list.Content = append(list.Content, item)
		c.tell(Explicit, "spec.requirements", "%s %s [%s] was a default of v1alpha5, and is written out", key, operator, strings.Join(values, ", "))
	}
	if len(list.Content) == 0 {
		list.Style = 0
	}
	for _, d := range []struct{ key, value string }{
		{"kubernetes.io/os", "linux"}, {"kubernetes.io/arch", "amd64"}, {karpenterv1.LabelCapacityType, "on-demand"},
	} {
		if !has(d.key) {
			add(d.key, "In", d.value)
		}
	}
	if !slices.ContainsFunc(sizeLabels, has) {
		add("karpenter.k8s.aws/instance-category", "In", "c", "m", "r")
		add("karpenter.k8s.aws/instance-generation", "Gt", "2")
	}
}

// sizeLabels are those of which any one kept v1alpha5 from choosing families by itself.
var sizeLabels = []string{
	"node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family", "karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-generation",
	"karpenter.k8s.aws/instance-size", "karpenter.k8s.aws/instance-cpu", "karpenter.k8s.aws/instance-memory", "karpenter.k8s.aws/instance-hypervisor",
	"karpenter.k8s.aws/instance-gpu-name", "karpenter.k8s.aws/instance-gpu-count", "karpenter.k8s.aws/instance-gpu-manufacturer", "karpenter.k8s.aws/instance-gpu-memory",
}

// alphaExpiry: without a time to live nodes did not expire; today they do after 30 days.
func (c *converter) alphaExpiry(old, inner *yaml.Node) {
	if source.Move(old, "ttlSecondsUntilExpired", inner, "expireAfter") {
		seconds(source.Lookup(inner, "expireAfter"))
		c.tell(Changed, "spec.ttlSecondsUntilExpired", textExpiry)
		return
	}
	source.Set(inner, "expireAfter", source.Text("Never"))
	c.tell(Explicit, "spec", "nodes without ttlSecondsUntilExpired did not expire: expireAfter is Never, as today's default is 720h")
}

// seconds makes a duration of a number.
func seconds(n *yaml.Node) {
	n.SetString(n.Value + "s")
}

func (c *converter) alphaDisruption(old, spec *yaml.Node) {
	disruption := source.Under(spec, "disruption")
	consolidation := source.Take(old, "consolidation")
	switch {
	case source.Value(source.Lookup(consolidation, "enabled")) == "true":
		source.Set(disruption, "consolidationPolicy", source.Text(string(karpenterv1.ConsolidateWhenEmptyOrUnderutilized)))
		source.Set(disruption, "consolidateAfter", source.Text("0s"))
	case source.Lookup(old, "ttlSecondsAfterEmpty") != nil:
		source.Set(disruption, "consolidationPolicy", source.Text(string(karpenterv1.ConsolidateWhenEmpty)))
		source.Move(old, "ttlSecondsAfterEmpty", disruption, "consolidateAfter")
		seconds(source.Lookup(disruption, "consolidateAfter"))
	default:
		source.Set(disruption, "consolidationPolicy", source.Text(string(karpenterv1.ConsolidateWhenEmpty)))
		source.Set(disruption, "consolidateAfter", source.Text("Never"))
		c.tell(Explicit, "spec", "empty nodes stayed without ttlSecondsAfterEmpty and consolidation: consolidateAfter is Never")
	}
	c.tell(Changed, "spec", "%s", textBudgets)
	c.tell(Changed, "spec", "nodes that no longer are what the pool or its class asks for drift and are replaced; v1alpha5 did so only with driftEnabled")
}

func (c *converter) alphaLimits(old, spec *yaml.Node) {
	limits := source.Take(old, "limits")
	if limits == nil {
		return
	}
	source.Move(limits, "resources", spec, "limits")
	c.end(limits, "spec.limits")
}

// machine refuses claims of v1alpha5: they stand for instances of a running controller of that time.
func (c *converter) machine(source.Document) {
	c.tell(Lost, "kind", textDropped+"a Machine stands for a running instance; let the former controller end it, or its pods move when its node goes")
}

// betaPool converts a NodePool of v1beta1.
func (c *converter) betaPool(d source.Document) {
	old, spec := begin(d.Root, poolVersion, "NodePool")
	spec.Content = old.Content
	inner := source.Under(spec, "template", "spec")
	c.betaClaimSpec(inner, "spec.template.spec")
	if source.Take(inner, "resources") != nil {
		c.tell(Lost, "spec.template.spec.resources", textDropped+"what pods request is computed for every claim")
	}
	disruption := source.Under(spec, "disruption")
	source.Move(disruption, "expireAfter", inner, "expireAfter")
	if source.Value(source.Lookup(inner, "expireAfter")) != "Never" {
		c.tell(Changed, "spec.disruption.expireAfter", textExpiry)
	}
	if policy := source.Lookup(disruption, "consolidationPolicy"); source.Value(policy) == "WhenUnderutilized" {
		policy.Value = string(karpenterv1.ConsolidateWhenEmptyOrUnderutilized)
	}
	if source.Lookup(disruption, "consolidateAfter") == nil {
		source.Set(disruption, "consolidateAfter", source.Text("0s"))
	}
	if budgets := source.Lookup(disruption, "budgets"); budgets != nil {
		for _, b := range budgets.Content {
			capitalise(source.Lookup(b, "reasons"))
		}
	}
	c.remember(d.Root)
	c.Documents = append(c.Documents, d)
}

// capitalise writes reasons as today's API has them.
func capitalise(reasons *yaml.Node) {
	if reasons == nil {
		return
	}
	for _, r := range reasons.Content {
		if r.Value != "" {
			r.Value = strings.ToUpper(r.Value[:1]) + r.Value[1:]
		}
	}
}

// betaClaimSpec is what pools and claims of v1beta1 have in common.
func (c *converter) betaClaimSpec(spec *yaml.Node, path string) {
	if source.Lookup(spec, "requirements") == nil {
		source.Set(spec, "requirements", source.Sequence())
	}
	reference := source.Lookup(spec, "nodeClassRef")
	if reference == nil {
		c.tell(Lost, path+".nodeClassRef", "is missing: today's pools name a class of nodes")
		return
	}
	name := source.Value(source.Lookup(reference, "name"))
	if kind := source.Value(source.Lookup(reference, "kind")); kind != "" && kind != "EC2NodeClass" {
		c.tell(Lost, path+".nodeClassRef.kind", "nodes of %s have no successor here: only EC2NodeClass has", kind)
	}
	reference.Content = classReference(name).Content
}

// betaClaim converts a NodeClaim of v1beta1.
func (c *converter) betaClaim(d source.Document) {
	old, spec := begin(d.Root, poolVersion, "NodeClaim")
	spec.Content = old.Content
	c.betaClaimSpec(spec, "spec")
	if source.Take(spec, "kubelet") != nil {
		c.tell(Lost, "spec.kubelet", textDropped+"kubelets are set up by the EC2NodeClass")
	}
	c.tell(Changed, "kind", "the claim is a wish for a new instance: what it said of a running one (status, provider ID) is left out")
	c.Documents = append(c.Documents, d)
}

// remember notes a pool whose kubelet settings have to move to its class.
func (c *converter) remember(root *yaml.Node) {
	inner := source.Lookup(root, "spec", "template", "spec")
	if inner == nil {
		return
	}
	c.pools = append(c.pools, pooled{document: c.current, root: root, class: source.Value(source.Lookup(inner, "nodeClassRef", "name")), kubelet: source.Take(inner, "kubelet")})
}
