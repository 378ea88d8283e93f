package accounts

import "tenon/lab/aws/wire"

// Spec describes an instance: the data of a launch template, and the parameters of RunInstances. The
// names are EC2's.
type Spec struct {
	ImageID         string          `query:"ImageId" xml:"imageId,omitempty"`
	InstanceType    string          `xml:"instanceType,omitempty"`
	UserData        string          `xml:"userData,omitempty"`
	KeyName         string          `xml:"keyName,omitempty"`
	EbsOptimized    *bool           `xml:"ebsOptimized"`
	Profile         ProfileRef      `query:"IamInstanceProfile" xml:"iamInstanceProfile"`
	Monitoring      Toggle          `xml:"monitoring"`
	EnclaveOptions  Toggle          `xml:"enclaveOptions"`
	Devices         []DeviceSpec    `query:"BlockDeviceMapping" xml:"blockDeviceMappingSet>item"`
	CPU             CPUOptions      `query:"CpuOptions" xml:"cpuOptions"`
	Metadata        MetadataOptions `query:"MetadataOptions" xml:"metadataOptions"`
	Interfaces      []InterfaceSpec `query:"NetworkInterface" xml:"networkInterfaceSet>item"`
	GroupIDs        []string        `query:"SecurityGroupId" xml:"securityGroupIdSet>item"`
	TagSpecs        []TagSpec       `query:"TagSpecification" xml:"tagSpecificationSet>item"`
	Placement       PlacementSpec   `xml:"placement"`
	Reservation     ReservationSpec `query:"CapacityReservationSpecification" xml:"capacityReservationSpecification"`
	Market          MarketSpec      `query:"InstanceMarketOptions" xml:"instanceMarketOptions"`
	ShutdownAction  string          `query:"InstanceInitiatedShutdownBehavior" xml:"instanceInitiatedShutdownBehavior,omitempty"`
	KeepFromTheEnd  *bool           `query:"DisableApiTermination" xml:"disableApiTermination"`
	KeepFromTheStop *bool           `query:"DisableApiStop" xml:"disableApiStop"`
}

// ProfileRef names an instance profile.
type ProfileRef struct {
	Arn  string `xml:"arn,omitempty"`
	Name string `xml:"name,omitempty"`
}

// Toggle is a setting that is on or off.
type Toggle struct {
	Enabled bool `xml:"enabled"`
}

// DeviceSpec is a volume that comes with the instance.
type DeviceSpec struct {
	DeviceName  string `xml:"deviceName,omitempty"`
	VirtualName string `xml:"virtualName,omitempty"`
	NoDevice    string `xml:"noDevice,omitempty"`
	Ebs         *Ebs   `xml:"ebs"`
}

// Ebs is a volume of EBS.
type Ebs struct {
	DeleteOnTermination      *bool  `xml:"deleteOnTermination"`
	Encrypted                *bool  `xml:"encrypted"`
	Iops                     int    `xml:"iops,omitempty"`
	KmsKeyID                 string `query:"KmsKeyId" xml:"kmsKeyId,omitempty"`
	SnapshotID               string `query:"SnapshotId" xml:"snapshotId,omitempty"`
	Throughput               int    `xml:"throughput,omitempty"`
	VolumeInitializationRate int    `xml:"volumeInitializationRate,omitempty"`
	VolumeSize               int    `xml:"volumeSize,omitempty"`
	VolumeType               string `xml:"volumeType,omitempty"`
}

// CPUOptions are the options of the processor.
type CPUOptions struct {
	CoreCount            int    `xml:"coreCount,omitempty"`
	ThreadsPerCore       int    `xml:"threadsPerCore,omitempty"`
	AmdSevSnp            string `xml:"amdSevSnp,omitempty"`
	NestedVirtualization string `xml:"nestedVirtualization,omitempty"`
}

// MetadataOptions are the options of the instance metadata service.
type MetadataOptions struct {
	HttpEndpoint            string `xml:"httpEndpoint,omitempty"`
	HttpProtocolIpv6        string `xml:"httpProtocolIpv6,omitempty"`
	HttpPutResponseHopLimit int    `xml:"httpPutResponseHopLimit,omitempty"`
	HttpTokens              string `xml:"httpTokens,omitempty"`
	InstanceMetadataTags    string `xml:"instanceMetadataTags,omitempty"`
}

// InterfaceSpec is a network interface that comes with the instance.
type InterfaceSpec struct {
	DeviceIndex                    int             `xml:"deviceIndex"`
	NetworkCardIndex               int             `xml:"networkCardIndex"`
	InterfaceType                  string          `xml:"interfaceType,omitempty"`
	Description                    string          `xml:"description,omitempty"`
	SubnetID                       string          `query:"SubnetId" xml:"subnetId,omitempty"`
	GroupIDs                       []string        `query:"SecurityGroupId" xml:"groupSet>groupId"`
	AssociatePublicIpAddress       *bool           `xml:"associatePublicIpAddress"`
	DeleteOnTermination            *bool           `xml:"deleteOnTermination"`
	SecondaryPrivateIpAddressCount int             `xml:"secondaryPrivateIpAddressCount,omitempty"`
	Ipv4PrefixCount                int             `xml:"ipv4PrefixCount,omitempty"`
	Ipv6AddressCount               int             `xml:"ipv6AddressCount,omitempty"`
	Ipv6PrefixCount                int             `xml:"ipv6PrefixCount,omitempty"`
	PrimaryIpv6                    *bool           `xml:"primaryIpv6"`
	ConnectionTracking             *TrackingLimits `query:"ConnectionTrackingSpecification" xml:"connectionTrackingSpecification"`
}

// TrackingLimits are idle timeouts of tracked connections, in seconds.
type TrackingLimits struct {
	TcpEstablishedTimeout int `xml:"tcpEstablishedTimeout,omitempty"`
	UdpStreamTimeout      int `xml:"udpStreamTimeout,omitempty"`
	UdpTimeout            int `xml:"udpTimeout,omitempty"`
}

// TagSpec holds the tags for one kind of resource that a request makes.
type TagSpec struct {
	ResourceType string     `xml:"resourceType"`
	Tags         []wire.Tag `query:"Tag" xml:"tagSet>item"`
}

// PlacementSpec says where the instance goes.
type PlacementSpec struct {
	AvailabilityZone string `xml:"availabilityZone,omitempty"`
	GroupID          string `query:"GroupId" xml:"groupId,omitempty"`
	GroupName        string `xml:"groupName,omitempty"`
	PartitionNumber  int    `xml:"partitionNumber,omitempty"`
	Tenancy          string `xml:"tenancy,omitempty"`
}

// ReservationSpec says whether reserved capacity is used.
type ReservationSpec struct {
	Preference string            `query:"CapacityReservationPreference" xml:"capacityReservationPreference,omitempty"`
	Target     ReservationTarget `query:"CapacityReservationTarget" xml:"capacityReservationTarget"`
}

// ReservationTarget names a reservation.
type ReservationTarget struct {
	ID string `query:"CapacityReservationId" xml:"capacityReservationId,omitempty"`
}

// MarketSpec says how the instance is paid for.
type MarketSpec struct {
	MarketType  string `xml:"marketType,omitempty"`
	SpotOptions struct {
		MaxPrice                     string `xml:"maxPrice,omitempty"`
		SpotInstanceType             string `xml:"spotInstanceType,omitempty"`
		InstanceInterruptionBehavior string `xml:"instanceInterruptionBehavior,omitempty"`
	} `xml:"spotOptions"`
}

// tagsFor returns the tags that specifications have for a kind of resource; later specifications win.
func tagsFor(kind string, lists ...[]TagSpec) []wire.Tag {
	var tags []wire.Tag
	for _, list := range lists {
		for _, s := range list {
			if s.ResourceType == kind {
				tags = putTags(tags, s.Tags)
			}
		}
	}
	return tags
}
