package aws

import (
	"time"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/instancetype"
)

// Describe implements cloud.Provider.
func (p *Provider) Describe() cloud.Description {
	return cloud.Description{
		Name:             "aws",
		Words:            instancetype.Words(),
		Classes:          []cloud.ClassKind{{Group: awsv1.Group, Version: awsv1.GroupVersion.Version, Kind: awsv1.KindEC2NodeClass}},
		ReservationLabel: awsv1.LabelCapacityReservationID,
		ReservedLabels: []string{
			awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterruptible,
		},
		VisibleWithin: p.visible,
		Currency:      p.currency,
		Repairs:       repairs(),
	}
}

// repairs lists the node conditions that call for a repair. EKS's node monitoring agent reports all but the
// first two. (As in Karpenter.)
func repairs() []cloud.RepairPolicy {
	const long, short = 30 * time.Minute, 10 * time.Minute
	return []cloud.RepairPolicy{
		{Condition: "Ready", Status: "False", Toleration: long},
		{Condition: "Ready", Status: "Unknown", Toleration: long},
		{Condition: "AcceleratedHardwareReady", Status: "False", Toleration: short},
		{Condition: "StorageReady", Status: "False", Toleration: long},
		{Condition: "NetworkingReady", Status: "False", Toleration: long},
		{Condition: "KernelReady", Status: "False", Toleration: long},
		{Condition: "ContainerRuntimeReady", Status: "False", Toleration: long},
	}
}
