// Package instance reads, tags and terminates EC2 instances, and interprets their tags and fields. It
// combines calls that come at about the same time; see Batcher.
//
// It must not buy anything, and knows no types, prices or classes.
package instance

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unique"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// TagClaimUID carries the UID of the claim that an instance was bought for. The purchase itself sets the tag,
// so a search finds the instance from its first moment.
const TagClaimUID = "karpenter.sh/nodeclaim-uid"

// Instance is an instance as EC2 describes it.
type Instance struct {
	ID, Type, ImageID string
	Zone, ZoneID      string
	SubnetID          string
	Groups            []string
	Tenancy           string
	Partition         int32 // of its placement group; 0 if it has no group, or the partition is not known
	GroupID           string
	State             types.InstanceStateName
	Launched          time.Time
	Tags              map[string]string
	CapacityType      string
	Reservation       string // empty if the instance does not use a reservation
	ReservationKind   string
	Interruptible     bool
	EFA               int // interfaces
	PrivateDNS        string
}

// Of converts EC2's description of an instance. It ignores reservations unless reservedCapacity is set.
func Of(i types.Instance, reservedCapacity bool) Instance {
	m := Instance{
		ID: aws.ToString(i.InstanceId), Type: unique.Make(string(i.InstanceType)).Value(), ImageID: one(i.ImageId),
		SubnetID: one(i.SubnetId), Launched: aws.ToTime(i.LaunchTime), Tags: map[string]string{},
		PrivateDNS: aws.ToString(i.PrivateDnsName),
	}
	if i.State != nil {
		m.State = i.State.Name
	}
	if p := i.Placement; p != nil {
		m.Zone, m.ZoneID, m.Tenancy = one(p.AvailabilityZone), one(p.AvailabilityZoneId), string(p.Tenancy)
		m.Partition, m.GroupID = aws.ToInt32(p.PartitionNumber), aws.ToString(p.GroupId)
	}
	for _, t := range i.Tags {
		m.Tags[one(t.Key)] = one(t.Value)
	}
	for _, g := range i.SecurityGroups {
		m.Groups = append(m.Groups, one(g.GroupId))
	}
	for _, n := range i.NetworkInterfaces {
		if strings.HasPrefix(aws.ToString(n.InterfaceType), "efa") {
			m.EFA++
		}
	}
	m.readCapacity(i, reservedCapacity)
	return m
}

// one interns the text: EC2 repeats the same values for hundreds of machines.
func one(text *string) string { return unique.Make(aws.ToString(text)).Value() }

func (m *Instance) readCapacity(i types.Instance, reservedCapacity bool) {
	m.CapacityType = catalog.OnDemand
	onlyReserved := i.CapacityReservationSpecification != nil &&
		i.CapacityReservationSpecification.CapacityReservationPreference == types.CapacityReservationPreferenceCapacityReservationsOnly
	switch {
	case aws.ToString(i.SpotInstanceRequestId) != "":
		m.CapacityType = catalog.Spot
	case reservedCapacity && aws.ToString(i.CapacityReservationId) != "" && onlyReserved:
		m.CapacityType, m.Reservation, m.ReservationKind = catalog.Reserved, *i.CapacityReservationId, awsv1.ReservationDefault
		switch i.InstanceLifecycle {
		case types.InstanceLifecycleTypeCapacityBlock:
			m.ReservationKind = awsv1.ReservationCapacityBlock
		case "interruptible-capacity-reservation":
			m.Interruptible = true
		}
	}
}

// ProviderID is the name by which Kubernetes knows the instance.
func (m Instance) ProviderID() string { return ProviderID(m.Zone, m.ID) }

// ProviderID returns the name by which Kubernetes knows an instance of a zone.
func ProviderID(zone, id string) string { return "aws:///" + zone + "/" + id }

var providerID = regexp.MustCompile(`(.*):///(.*)/(.*)`)

// Parse reads a provider ID.
func Parse(text string) (zone, id string, ok bool) {
	found := providerID.FindStringSubmatch(text)
	if found == nil || found[3] == "" {
		return "", "", false
	}
	return found[2], found[3], true
}

// ClaimUID is the UID of the claim that the instance was bought for; empty if another autoscaler bought it.
func (m Instance) ClaimUID() string { return m.Tags[TagClaimUID] }

// Offer is what was bought.
func (m Instance) Offer() cloud.Offer {
	return cloud.Offer{InstanceType: m.Type, Zone: m.Zone, CapacityType: m.CapacityType, Reservation: m.Reservation}
}

// Gone reports whether the instance no longer exists.
func (m Instance) Gone() bool { return m.State == types.InstanceStateNameTerminated }

// StateOf translates the instance's state for package cloud.
func (m Instance) StateOf() cloud.State {
	switch m.State {
	case types.InstanceStateNamePending:
		return cloud.Pending
	case types.InstanceStateNameStopping, types.InstanceStateNameStopped:
		return cloud.Stopped
	case types.InstanceStateNameShuttingDown, types.InstanceStateNameTerminated:
		return cloud.Terminating
	}
	return cloud.Running
}

// Ours reports whether an autoscaler bought the instance for the cluster. Such an instance carries the UID of
// a claim, or both the name of a pool and the name of a class, as the reference writes them.
func (m Instance) Ours(cluster string) bool {
	_, pooled := m.Tags[awsv1.TagNodePool]
	_, classed := m.Tags[awsv1.TagNodeClass]
	return (m.ClaimUID() != "" || pooled && classed) && m.Tags[awsv1.TagClusterName] == cluster
}

// Foreign reports whether an instance's tags say that it belongs to another cluster.
func (m Instance) Foreign(cluster string) bool {
	named, told := m.Tags[awsv1.TagClusterName]
	return told && named != cluster
}

// Instance converts the instance for package cloud, with the labels that EC2 itself reports.
func (m Instance) Instance() cloud.Instance {
	return cloud.Instance{
		ProviderID: m.ProviderID(), ClaimUID: m.ClaimUID(), ClaimName: m.Tags[awsv1.TagNodeClaim], Pool: m.Tags[awsv1.TagNodePool],
		Class: cloud.ClassRef{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: m.Tags[awsv1.TagNodeClass]},
		Offer: m.Offer(), ImageID: m.ImageID, Labels: m.labels(), State: m.StateOf(), Launched: m.Launched,
	}
}

func (m Instance) labels() map[string]string {
	labels := map[string]string{
		requirement.KeyInstanceType: m.Type,
		requirement.KeyZone:         m.Zone,
		requirement.KeyCapacityType: m.CapacityType,
	}
	for key, value := range map[string]string{
		requirement.KeyNodePool:     m.Tags[awsv1.TagNodePool],
		awsv1.LabelZoneID:           m.ZoneID,
		awsv1.LabelInstanceTenancy:  m.Tenancy,
		awsv1.LabelPlacementGroupID: m.GroupID,
	} {
		if value != "" {
			labels[key] = value
		}
	}
	if m.GroupID != "" && m.Partition > 0 {
		labels[awsv1.LabelPlacementGroupPartition] = strconv.Itoa(int(m.Partition))
	}
	if m.Reservation != "" {
		labels[awsv1.LabelCapacityReservationID] = m.Reservation
		labels[awsv1.LabelCapacityReservationType] = m.ReservationKind
		labels[awsv1.LabelCapacityReservationInterruptible] = strconv.FormatBool(m.Interruptible)
	}
	return labels
}
