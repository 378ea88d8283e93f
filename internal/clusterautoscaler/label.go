package clusterautoscaler

// IgnoredLabels are those in which groups that are alike may differ, as Cluster Autoscaler has it on AWS. Only nodegroup-name is not among
// its own: the tag eks:nodegroup-name gives it to the template of an empty managed group, which would then be like no other.
func IgnoredLabels() []string {
	return []string{
		"alpha.eksctl.io/instance-id", "alpha.eksctl.io/nodegroup-name", "beta.kubernetes.io/fluentd-ds-ready", "eks.amazonaws.com/nodegroup",
		"failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone", "k8s.amazonaws.com/eniConfig", "kops.k8s.io/instancegroup",
		"kubernetes.io/hostname", "lifecycle", "nodegroup-name", "topology.ebs.csi.aws.com/zone", "topology.k8s.aws/zone-id", "topology.kubernetes.io/region", "topology.kubernetes.io/zone",
	}
}
