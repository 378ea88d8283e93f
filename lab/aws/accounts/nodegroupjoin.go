package accounts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"tenon/lab/aws/boot"
)

// Labels that EKS puts on the nodes of managed node groups.
const (
	labelNodeGroup    = "eks.amazonaws.com/nodegroup"
	labelNodeImage    = "eks.amazonaws.com/nodegroup-image"
	labelCapacityType = "eks.amazonaws.com/capacityType"
)

// nodeLabels returns the labels of the group's nodes: EKS's own and the user's.
func (g *NodeGroup) nodeLabels(image string) map[string]string {
	labels := map[string]string{labelNodeGroup: g.Spec.Name, labelNodeImage: image, labelCapacityType: g.Spec.CapacityType}
	if t := g.Spec.Template; t != nil {
		labels["eks.amazonaws.com/sourceLaunchTemplateId"], labels["eks.amazonaws.com/sourceLaunchTemplateVersion"] = t.ID, t.Version
	}
	maps.Copy(labels, g.Spec.Labels)
	return labels
}

// nodeTaints returns the taints of the group's nodes.
func (g *NodeGroup) nodeTaints() (taints []v1.Taint) {
	for _, t := range g.Spec.Taints {
		taints = append(taints, v1.Taint{Key: t.Key, Value: t.Value, Effect: taintEffects[t.Effect]})
	}
	return taints
}

// nodeGroupUserData returns user data that makes a node join with the group's labels and taints.
func (r *Region) nodeGroupUserData(g *NodeGroup, family boot.Family, image string) string {
	if family == boot.Bottlerocket {
		return r.nodeGroupSettings(g, image)
	}
	c := r.Cluster()
	var b strings.Builder
	fmt.Fprintf(&b, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: application/node.eks.aws\n\n"+
		"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: %s\n    apiServerEndpoint: %s\n    certificateAuthority: %s\n    cidr: %s\n"+
		"  kubelet:\n", c.Name, c.Endpoint, c.Authority, c.ServiceRange)
	if taints := g.nodeTaints(); len(taints) > 0 {
		b.WriteString("    config:\n      registerWithTaints:\n")
		for _, t := range taints {
			fmt.Fprintf(&b, "      - {key: %q, value: %q, effect: %s}\n", t.Key, t.Value, t.Effect)
		}
	}
	labels := g.nodeLabels(image)
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	fmt.Fprintf(&b, "    flags:\n    - --node-labels=%s\n--//--\n", strings.Join(pairs, ","))
	return b.String()
}

// nodeGroupSettings does the same for Bottlerocket.
func (r *Region) nodeGroupSettings(g *NodeGroup, image string) string {
	c := r.Cluster()
	var b strings.Builder
	fmt.Fprintf(&b, "[settings.kubernetes]\ncluster-name = %q\napi-server = %q\ncluster-certificate = %q\n\n[settings.kubernetes.node-labels]\n", c.Name, c.Endpoint, c.Authority)
	labels := g.nodeLabels(image)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, "%q = %q\n", key, labels[key])
	}
	byKey := map[string][]string{}
	for _, t := range g.nodeTaints() {
		byKey[t.Key] = append(byKey[t.Key], fmt.Sprintf("%q", t.Value+":"+string(t.Effect)))
	}
	b.WriteString("\n[settings.kubernetes.node-taints]\n")
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		fmt.Fprintf(&b, "%q = [%s]\n", key, strings.Join(byKey[key], ", "))
	}
	return b.String()
}

// joinNodeGroup adds EKS's labels and taints to a booting node whose own image does not.
func (r *Region) joinNodeGroup(i *Instance, c *boot.Config) {
	for _, g := range r.nodeGroups {
		if i.member == nil || i.member.Group != g.Scaling || g.Spec.AMIType != customImage {
			continue
		}
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		maps.Copy(c.Labels, g.nodeLabels(i.Image.ID))
		for _, t := range g.nodeTaints() {
			if !slices.Contains(c.Taints, t) {
				c.Taints = append(c.Taints, t)
			}
		}
	}
}
