package launchtemplate

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/userdata"
	"tenon/core/model"
	"tenon/core/order"
)

// Prefix begins the names of all templates.
const Prefix = "karpenter.k8s.aws/"

// Options is everything that a template depends on.
type Options struct {
	Region  string
	Cluster userdata.Cluster
	// Class must be ready: its status says which groups and which profile instances get.
	Class *awsv1.EC2NodeClass
	// Tags go on everything that a launch makes.
	Tags    map[string]string
	ImageID string
	// MaxPods is how many pods the type holds; the node starts with Labels and Taints.
	MaxPods int64
	Labels  map[string]string
	Taints  []model.Taint

	CapacityType string
	Tenancy      string // default if empty
	// EFA is how many EFA interfaces the claim asks for.
	EFA int64
	// Enclave is set for claims that ask for a resource of enclaves.
	Enclave bool
	// Reservation is nil for capacity that is not reserved.
	Reservation *Reservation
	// ReservedCapacity is the feature gate of that name: with it, launches that name no reservation use none.
	ReservedCapacity bool
	Placement        Placement
}

// Reservation is capacity that the account already pays for.
type Reservation struct {
	ID            string
	Kind          string // default or capacity-block
	Interruptible bool
}

// Placement is the group that instances go into; it is unset if the ID is empty.
type Placement struct {
	GroupID   string
	Partition int32 // 0 leaves it to EC2
}

// Template is a launch template that the store can make.
type Template struct {
	Name string
	// Class is the name of the class that needs the template.
	Class string
	Input *ec2.CreateLaunchTemplateInput
	// Bytes is the size of the user data before it is encoded.
	Bytes int
	// Ignored lists settings in the class's user data that its images do not know.
	Ignored []string
}

// Build makes a template.
func Build(o Options) (Template, error) {
	family, err := o.Class.Spec.Family()
	if err != nil {
		return Template{}, err
	}
	user, err := userdata.Render(o.userData(family))
	if err != nil {
		return Template{}, err
	}
	data := o.data(family)
	data.UserData = aws.String(base64.StdEncoding.EncodeToString([]byte(user.Text)))
	t := Template{
		Class: o.Class.Name,
		Input: &ec2.CreateLaunchTemplateInput{
			LaunchTemplateData: data,
			TagSpecifications:  []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: Tags(o.Tags)}},
		},
		Bytes: len(user.Text), Ignored: user.Ignored,
	}
	t.Name, err = nameOf(t.Input)
	t.Input.LaunchTemplateName = &t.Name
	return t, err
}

// nameOf hashes everything: the request has no maps, so the same request always gives the same text.
func nameOf(in *ec2.CreateLaunchTemplateInput) (string, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("hash the launch template: %w", err)
	}
	sum := sha256.Sum256(text)
	return Prefix + strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]), 10), nil
}

func (o Options) userData(family string) userdata.Input {
	spec := &o.Class.Spec
	return userdata.Input{
		Family: family, Cluster: o.Cluster, Kubelet: spec.Kubelet, MaxPods: o.MaxPods,
		Labels: userdata.Labels(o.Labels, o.CapacityType, family), Taints: o.Taints,
		RAID0: aws.ToString(spec.InstanceStorePolicy) == "RAID0", Custom: aws.ToString(spec.UserData),
		Release: userdata.ReleaseOf(o.Class),
	}
}

func (o Options) data(family string) *types.RequestLaunchTemplateData {
	spec := &o.Class.Spec
	data := &types.RequestLaunchTemplateData{
		ImageId:             &o.ImageID,
		IamInstanceProfile:  &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: &o.Class.Status.InstanceProfile},
		Monitoring:          &types.LaunchTemplatesMonitoringRequest{Enabled: aws.Bool(aws.ToBool(spec.DetailedMonitoring))},
		BlockDeviceMappings: blockDevices(spec.BlockDeviceMappings, family),
		MetadataOptions:     metadataOptions(spec.MetadataOptions, o.Cluster.IPv6(), o.Region),
		NetworkInterfaces:   o.interfaces(),
		TagSpecifications:   o.tagSpecifications(),
		Placement:           o.placement(),
	}
	if cpu := spec.CPUOptions; cpu != nil && cpu.NestedVirtualization != nil {
		data.CpuOptions = &types.LaunchTemplateCpuOptionsRequest{NestedVirtualization: types.NestedVirtualizationSpecification(*cpu.NestedVirtualization)}
	}
	if o.Enclave {
		data.EnclaveOptions = &types.LaunchTemplateEnclaveOptionsRequest{Enabled: aws.Bool(true)}
	}
	o.reserve(data)
	return data
}

// Tags converts a map to EC2's form, sorted by key.
func Tags(tags map[string]string) []types.Tag {
	list := make([]types.Tag, 0, len(tags))
	for _, key := range order.Keys(tags) {
		list = append(list, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return list
}

func (o Options) tagSpecifications() []types.LaunchTemplateTagSpecificationRequest {
	kinds := []types.ResourceType{types.ResourceTypeNetworkInterface}
	if o.CapacityType == "spot" {
		kinds = append(kinds, types.ResourceTypeSpotInstancesRequest)
	}
	var list []types.LaunchTemplateTagSpecificationRequest
	for _, kind := range kinds {
		list = append(list, types.LaunchTemplateTagSpecificationRequest{ResourceType: kind, Tags: Tags(o.Tags)})
	}
	return list
}

func (o Options) placement() *types.LaunchTemplatePlacementRequest {
	tenancy := o.Tenancy
	if tenancy == "" {
		tenancy = awsv1.TenancyDefault
	}
	p := &types.LaunchTemplatePlacementRequest{Tenancy: types.Tenancy(tenancy)}
	if o.Placement.GroupID != "" {
		p.GroupId = aws.String(o.Placement.GroupID)
		if o.Placement.Partition > 0 {
			p.PartitionNumber = aws.Int32(o.Placement.Partition)
		}
	}
	return p
}

// reserve names the reservation, or keeps the instance out of reservations that are open to every instance:
// it would use up capacity that the plan does not count.
func (o Options) reserve(data *types.RequestLaunchTemplateData) {
	if !o.ReservedCapacity {
		return
	}
	if o.Reservation == nil {
		data.CapacityReservationSpecification = &types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: types.CapacityReservationPreferenceNone,
		}
		return
	}
	data.CapacityReservationSpecification = &types.LaunchTemplateCapacityReservationSpecificationRequest{
		CapacityReservationPreference: types.CapacityReservationPreferenceCapacityReservationsOnly,
		CapacityReservationTarget:     &types.CapacityReservationTarget{CapacityReservationId: aws.String(o.Reservation.ID)},
	}
	switch {
	case o.Reservation.Kind == awsv1.ReservationCapacityBlock:
		data.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: types.MarketTypeCapacityBlock}
	case o.Reservation.Interruptible:
		data.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: marketInterruptible}
	}
}

// marketInterruptible is EC2's name for reserved capacity that it may reclaim.
const marketInterruptible types.MarketType = "interruptible-capacity-reservation"

// Close reports whether the size of the user data is near EC2's limit.
func (t Template) Close() bool { return t.Bytes >= userdata.Close }
