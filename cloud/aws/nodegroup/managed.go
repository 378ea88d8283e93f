package nodegroup

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/core/model"
)

// Labels that the nodes of managed groups have. (From EKS managed node groups and Cluster Autoscaler's
// templates.)
const (
	labelManagedGroup = "eks.amazonaws.com/nodegroup"
	labelCapacityType = "eks.amazonaws.com/capacityType"
)

// managed is EKS's description of a group that it manages.
type managed struct {
	labels map[string]string
	taints []model.Taint
	tags   tags
	family string
}

// managedBy returns, from the group's tags, the cluster and the name under which EKS manages it; empty if EKS
// does not.
func managedBy(g *types.AutoScalingGroup) (cluster, name string) {
	for _, t := range g.Tags {
		switch aws.ToString(t.Key) {
		case tagEKS + eksCluster:
			cluster = aws.ToString(t.Value)
		case tagEKS + eksGroup:
			name = aws.ToString(t.Value)
		}
	}
	return cluster, name
}

func (r *Reader) managedGroup(ctx context.Context, cluster, name string) (*managed, error) {
	out, err := r.Clients.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &cluster, NodegroupName: &name})
	if err != nil {
		return nil, fmt.Errorf("describe the managed node group %s: %w", name, err)
	}
	if out.Nodegroup == nil {
		return nil, &unclear{"ManagedGroupNotRead", "EKS does not know the node group " + name, "take the tag eks:nodegroup-name off a group that EKS does not manage"}
	}
	n := out.Nodegroup
	m := &managed{labels: map[string]string{labelManagedGroup: name}, tags: readTags(n.Tags), family: familyOf(n.AmiType)}
	if n.CapacityType != "" {
		m.labels[labelCapacityType] = string(n.CapacityType)
	}
	for key, value := range n.Labels {
		m.labels[key] = value
	}
	for _, t := range n.Taints {
		if effect, known := taintEffects[t.Effect]; known && t.Key != nil {
			m.taints = append(m.taints, model.Taint{Key: *t.Key, Value: aws.ToString(t.Value), Effect: effect})
		}
	}
	return m, nil
}

var taintEffects = map[ekstypes.TaintEffect]model.Effect{
	ekstypes.TaintEffectNoSchedule: model.NoSchedule, ekstypes.TaintEffectNoExecute: model.NoExecute, ekstypes.TaintEffectPreferNoSchedule: model.PreferNoSchedule,
}

// familyOf returns the image family whose rules determine what a node reserves for itself.
func familyOf(image ekstypes.AMITypes) string {
	switch name := string(image); {
	case strings.HasPrefix(name, "AL2023"):
		return awsv1.FamilyAL2023
	case strings.HasPrefix(name, "BOTTLEROCKET"):
		return awsv1.FamilyBottlerocket
	case strings.Contains(name, "2019"):
		return awsv1.FamilyWindows2019
	case strings.Contains(name, "2022"):
		return awsv1.FamilyWindows2022
	case strings.Contains(name, "2025"):
		return awsv1.FamilyWindows2025
	case strings.HasPrefix(name, "AL2"):
		return awsv1.FamilyAL2
	}
	return awsv1.FamilyAL2023
}
