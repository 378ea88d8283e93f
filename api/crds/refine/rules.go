package main

import (
	"fmt"
	"slices"
	"strings"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
)

const (
	qualifiedName   = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	labelValue      = `^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
	quantity        = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
	percentage      = `^(\d{1,2}(\.\d{1,2})?|100(\.0{1,2})?)%$`
	conditionReason = `^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$`
)

// refinements are the changes by file.
var refinements = map[string]func(schema) error{
	"karpenter.sh_nodepools.yaml":           refineNodePool,
	"karpenter.sh_nodeclaims.yaml":          refineNodeClaim,
	"karpenter.k8s.aws_ec2nodeclasses.yaml": refineNodeClass,
}

func refineNodePool(root schema) error {
	const template = "spec.template."
	return root.editAll(slices.Concat(
		taintEdits(template+"spec."),
		[]edit{
			{template + "metadata.labels.{}", set("maxLength", 63)},
			{template + "metadata.labels.{}", set("pattern", labelValue)},
			{template + "metadata.labels", rule(everyKey(cloudDomainRule("x", cloudLabels())), restrictedDomain(awsv1.Group))},
			{template + "spec.requirements.[].key", rule(
				fmt.Sprintf("self != %q", karpenterv1.LabelNodePool),
				fmt.Sprintf("label %q is restricted", karpenterv1.LabelNodePool))},
			{template + "spec.requirements.[].key", rule(cloudDomainRule("self", cloudLabels()), restrictedDomain(awsv1.Group))},
		},
	)...)
}

// refineNodeClaim allows the class's own label, which the product itself writes into every claim.
// Conditions are laxer than the standard ones, as claims of earlier versions have no reasons.
func refineNodeClaim(root schema) error {
	const conditions = "status.conditions.[]"
	allowed := append(cloudLabels(), awsv1.LabelNodeClass)
	slices.Sort(allowed)
	return root.editAll(slices.Concat(
		taintEdits("spec."),
		[]edit{
			{"spec.requirements.[].key", rule(cloudDomainRule("self", allowed), restrictedDomain(awsv1.Group))},
			{conditions, set("required", []any{"lastTransitionTime", "status", "type"})},
			{conditions + ".reason", set("pattern", conditionReason)},
			{conditions + ".reason", remove("minLength")},
		},
	)...)
}

func refineNodeClass(root schema) error {
	const kubelet = "spec.kubelet."
	threshold := percentage + "|" + quantity
	return root.editAll(
		edit{kubelet + "systemReserved.{}", set("pattern", quantity)},
		edit{kubelet + "kubeReserved.{}", set("pattern", quantity)},
		edit{kubelet + "evictionHard.{}", set("pattern", threshold)},
		edit{kubelet + "evictionSoft.{}", set("pattern", threshold)},
	)
}

// taintEdits are the rules about taints, whose type is Kubernetes's own.
func taintEdits(parent string) []edit {
	var edits []edit
	for _, list := range []string{"taints", "startupTaints"} {
		item := parent + list + ".[]."
		edits = append(edits,
			edit{item + "key", set("minLength", 1)},
			edit{item + "key", set("pattern", qualifiedName)},
			edit{item + "value", set("pattern", qualifiedName)},
			edit{item + "effect", set("enum", []any{"NoSchedule", "PreferNoSchedule", "NoExecute"})},
		)
	}
	return edits
}

// cloudLabels are the labels in the cloud's restricted domain that users may write, sorted.
func cloudLabels() []string {
	var labels []string
	for _, key := range awsv1.Labels().WellKnown {
		if strings.HasPrefix(key, awsv1.Group+"/") {
			labels = append(labels, key)
		}
	}
	slices.Sort(labels)
	return labels
}

// cloudDomainRule refuses a key in the cloud's domain unless it is allowed.
func cloudDomainRule(key string, allowed []string) string {
	quoted := make([]string, 0, len(allowed))
	for _, label := range allowed {
		quoted = append(quoted, fmt.Sprintf("%q", label))
	}
	return fmt.Sprintf(`%s in [%s] || !%s.find("^([^/]+)").endsWith(%q)`, key, strings.Join(quoted, ", "), key, awsv1.Group)
}

func everyKey(rule string) string { return fmt.Sprintf("self.all(x, %s)", rule) }

func restrictedDomain(domain string) string {
	return fmt.Sprintf("label domain %q is restricted", domain)
}
