// Package userdata writes the user data with which a machine image makes its node join
// the cluster: one format for each family of images, merged with what the user gave.
//
// It is pure: the same input gives the same text. It must not know instances, launch
// templates or clients.
package userdata

import (
	"fmt"
	"strings"

	awsv1 "tenon/api/aws/v1"
	"tenon/core/model"
)

// Sizes of user data in bytes, before it is encoded.
const (
	// Limit is the most that EC2 takes.
	Limit = 16384
	// Close is the size from which people should be warned that they approach the limit.
	Close = 14745
)

// Cluster is what a node has to know of the cluster that it joins.
type Cluster struct {
	Name        string
	Endpoint    string
	CABundle    string // base64; may be empty
	ServiceCIDR string // AL2023 only
	DNS         string // address of kube-dns; empty if it is not known
}

// IPv6 reports whether the cluster's services have IPv6 addresses.
func (c Cluster) IPv6() bool { return strings.Contains(c.DNS, ":") }

// Input is all that user data depends on.
type Input struct {
	Family  string // one of the families of the API; any other behaves as AL2
	Cluster Cluster
	// Kubelet is what the class says, and nil if it says nothing.
	Kubelet *awsv1.KubeletConfiguration
	// MaxPods is how many pods the type holds; it applies if the class sets no number.
	MaxPods int64
	// Labels are those that the node registers with; see Labels.
	Labels map[string]string
	Taints []model.Taint
	// RAID0 joins the machine's own disks to hold the pods' storage.
	RAID0 bool
	// Custom is the user's part.
	Custom string
	// Release is the version of a Bottlerocket image; empty if it is not known.
	Release string
}

// Data is user data.
type Data struct {
	Text string
	// Ignored are settings of the user's that the family does not know, sorted.
	Ignored []string
}

// Render writes the user data.
func Render(in Input) (Data, error) {
	text, ignored, err := render(in.completed())
	if err != nil {
		return Data{}, fmt.Errorf("user data of %s: %w", in.Family, err)
	}
	return Data{Text: text, Ignored: ignored}, nil
}

func render(in Input) (text string, ignored []string, err error) {
	switch in.Family {
	case awsv1.FamilyCustom:
		return in.Custom, nil, nil
	case awsv1.FamilyAL2023:
		text, err = nodeadm(in)
	case awsv1.FamilyBottlerocket:
		return bottlerocket(in)
	case awsv1.FamilyWindows2019, awsv1.FamilyWindows2022, awsv1.FamilyWindows2025:
		text = powershell(in)
	default:
		text, err = shell(in)
	}
	return text, nil, err
}

// completed returns in with defaults for the number of pods and the name server. The number is always
// explicit, so that the node agrees with the plan.
func (in Input) completed() Input {
	kubelet := awsv1.KubeletConfiguration{}
	if in.Kubelet != nil {
		kubelet = *in.Kubelet.DeepCopy()
	}
	if kubelet.MaxPods == nil {
		pods := int32(in.MaxPods)
		kubelet.MaxPods = &pods
	}
	if len(kubelet.ClusterDNS) == 0 && in.Cluster.DNS != "" {
		kubelet.ClusterDNS = []string{in.Cluster.DNS}
	}
	in.Kubelet = &kubelet
	return in
}

// dns is the first name server, if there is one.
func (in Input) dns() string {
	if len(in.Kubelet.ClusterDNS) == 0 {
		return ""
	}
	return in.Kubelet.ClusterDNS[0]
}

// Labels that mark what registration does with a node.
const (
	labelCapacityType     = "karpenter.sh/capacity-type"
	labelDoNotSyncTaints  = "karpenter.sh/do-not-sync-taints"
	domainNodeRestriction = "node-restriction.kubernetes.io"
)

// Labels returns the labels that a node registers with: the claim's, without those that a kubelet may not set
// on its own node; registration adds them.
func Labels(claim map[string]string, capacityType, family string) map[string]string {
	labels := make(map[string]string, len(claim)+2)
	for key, value := range claim {
		if !withheld(key) {
			labels[key] = value
		}
	}
	labels[labelCapacityType] = capacityType
	if family != awsv1.FamilyCustom {
		labels[labelDoNotSyncTaints] = "true"
	}
	return labels
}

func withheld(key string) bool {
	domain, _, has := strings.Cut(key, "/")
	if !has {
		return false
	}
	for _, kept := range []string{"kubernetes.io", "k8s.io", domainNodeRestriction} {
		if domain == kept || strings.HasSuffix(domain, "."+kept) {
			return true
		}
	}
	return false
}
