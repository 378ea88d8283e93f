package v1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
)

// EC2NodeClass holds the settings of nodes that are particular to EC2.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ec2nodeclasses,scope=Cluster,categories=karpenter,shortName={ec2nc,ec2ncs}
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description=""
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
// +kubebuilder:printcolumn:name="Role",type="string",JSONPath=".spec.role",priority=1,description=""
// +kubebuilder:subresource:status
type EC2NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="has(self.role) != has(self.instanceProfile)",message="must specify exactly one of ['role', 'instanceProfile']"
	// +kubebuilder:validation:XValidation:rule="has(self.amiFamily) || self.amiSelectorTerms.exists(x, has(x.alias))",message="must specify amiFamily if amiSelectorTerms does not contain an alias"
	// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily in ['AL2', 'Custom'] || !self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.startsWith('al2@'))",message="if set, amiFamily must be 'AL2' or 'Custom' when using an AL2 alias"
	// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily in ['AL2023', 'Custom'] || !self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.startsWith('al2023@'))",message="if set, amiFamily must be 'AL2023' or 'Custom' when using an AL2023 alias"
	// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily in ['Bottlerocket', 'Custom'] || !self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.startsWith('bottlerocket@'))",message="if set, amiFamily must be 'Bottlerocket' or 'Custom' when using a Bottlerocket alias"
	// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily in ['Windows2019', 'Custom'] || !self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.startsWith('windows2019@'))",message="if set, amiFamily must be 'Windows2019' or 'Custom' when using a Windows2019 alias"
	// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily in ['Windows2022', 'Custom'] || !self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.startsWith('windows2022@'))",message="if set, amiFamily must be 'Windows2022' or 'Custom' when using a Windows2022 alias"
	// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily in ['Windows2025', 'Custom'] || !self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.startsWith('windows2025@'))",message="if set, amiFamily must be 'Windows2025' or 'Custom' when using a Windows2025 alias"
	// +required
	Spec   EC2NodeClassSpec   `json:"spec"`
	Status EC2NodeClassStatus `json:"status,omitempty"`
}

// EC2NodeClassSpec is what the user wants of instances. The names and the order of the fields of
// this type and of those in it take part in the drift hash and must not change.
type EC2NodeClassSpec struct {
	// SubnetSelectorTerms find the subnets for instances: all that match any of the terms.
	// +kubebuilder:validation:XValidation:rule="self.size() != 0",message="subnetSelectorTerms cannot be empty"
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) || has(x.id))",message="expected at least one, got none, ['tags', 'id']"
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || !self.all(x, has(x.id) && has(x.tags))",message="'id' is mutually exclusive, cannot be set with a combination of other fields in a subnet selector term"
	// +kubebuilder:validation:MaxItems=30
	// +required
	SubnetSelectorTerms []SubnetSelectorTerm `json:"subnetSelectorTerms" hash:"ignore"`
	// SecurityGroupSelectorTerms find the security groups of instances: all that match any of the terms.
	// +kubebuilder:validation:XValidation:rule="self.size() != 0",message="securityGroupSelectorTerms cannot be empty"
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) || has(x.id) || has(x.name))",message="expected at least one, got none, ['tags', 'id', 'name']"
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || !self.all(x, has(x.id) && (has(x.tags) || has(x.name)))",message="'id' is mutually exclusive, cannot be set with a combination of other fields in a security group selector term"
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || !self.all(x, has(x.name) && (has(x.tags) || has(x.id)))",message="'name' is mutually exclusive, cannot be set with a combination of other fields in a security group selector term"
	// +kubebuilder:validation:MaxItems=30
	// +required
	SecurityGroupSelectorTerms []SecurityGroupSelectorTerm `json:"securityGroupSelectorTerms" hash:"ignore"`
	// CapacityReservationSelectorTerms find the capacity reservations that instances may use.
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) || has(x.id) || has(x.instanceMatchCriteria))",message="expected at least one, got none, ['tags', 'id', 'instanceMatchCriteria']"
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || !self.all(x, has(x.id) && (has(x.tags) || has(x.ownerID) || has(x.instanceMatchCriteria)))",message="'id' is mutually exclusive, cannot be set along with other fields in a capacity reservation selector term"
	// +kubebuilder:validation:MaxItems=30
	// +optional
	CapacityReservationSelectorTerms []CapacityReservationSelectorTerm `json:"capacityReservationSelectorTerms,omitempty" hash:"ignore"`
	// PlacementGroupSelector finds the placement group that instances are launched into.
	// +kubebuilder:validation:XValidation:rule="has(self.name) || has(self.id)",message="expected at least one, got none, ['name', 'id']"
	// +kubebuilder:validation:XValidation:rule="!(has(self.name) && has(self.id))",message="'name' and 'id' are mutually exclusive"
	// +optional
	PlacementGroupSelector *PlacementGroupSelector `json:"placementGroupSelector,omitempty"`
	// AssociatePublicIPAddress says whether instances get a public address. Absent, the subnet decides.
	// +optional
	AssociatePublicIPAddress *bool `json:"associatePublicIPAddress,omitempty"`
	// IPPrefixCount is how many address prefixes each network interface gets at launch.
	// +kubebuilder:validation:Minimum=0
	// +optional
	IPPrefixCount *int32 `json:"ipPrefixCount,omitempty" hash:"ignore"`
	// AMISelectorTerms find the machine images: all that match any of the terms.
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) || has(x.id) || has(x.name) || has(x.alias) || has(x.ssmParameter))",message="expected at least one, got none, ['tags', 'id', 'name', 'alias', 'ssmParameter']"
	// +kubebuilder:validation:XValidation:rule="!self.exists(x, has(x.id) && (has(x.alias) || has(x.tags) || has(x.name) || has(x.owner)))",message="'id' is mutually exclusive, cannot be set with a combination of other fields in amiSelectorTerms"
	// +kubebuilder:validation:XValidation:rule="!self.exists(x, has(x.alias) && (has(x.id) || has(x.tags) || has(x.name) || has(x.owner)))",message="'alias' is mutually exclusive, cannot be set with a combination of other fields in amiSelectorTerms"
	// +kubebuilder:validation:XValidation:rule="!(self.exists(x, has(x.alias)) && self.size() != 1)",message="'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms"
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=30
	// +required
	AMISelectorTerms []AMISelectorTerm `json:"amiSelectorTerms" hash:"ignore"`
	// AMIFamily says how nodes of these images are made to join. Absent, it is the alias's.
	// +kubebuilder:validation:Enum:={AL2,AL2023,Bottlerocket,Custom,Windows2019,Windows2022,Windows2025}
	// +optional
	AMIFamily *string `json:"amiFamily,omitempty" hash:"ignore"`
	// UserData is run by instances when they boot, merged with what the family needs.
	// +optional
	UserData *string `json:"userData,omitempty"`
	// Role is the IAM role of the nodes, for which an instance profile is made.
	// +kubebuilder:validation:XValidation:rule="self != ''",message="role cannot be empty"
	// +optional
	Role string `json:"role,omitempty"`
	// InstanceProfile is the IAM instance profile of the nodes.
	// +kubebuilder:validation:XValidation:rule="self != ''",message="instanceProfile cannot be empty"
	// +optional
	InstanceProfile *string `json:"instanceProfile,omitempty"`
	// Tags are put on everything that is made in EC2 for the class.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '')",message="empty tag keys aren't supported"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'eks:eks-cluster-name')",message="tag contains a restricted tag matching eks:eks-cluster-name"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('kubernetes.io/cluster'))",message="tag contains a restricted tag matching kubernetes.io/cluster/"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.sh/nodepool')",message="tag contains a restricted tag matching karpenter.sh/nodepool"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.sh/nodeclaim')",message="tag contains a restricted tag matching karpenter.sh/nodeclaim"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.k8s.aws/ec2nodeclass')",message="tag contains a restricted tag matching karpenter.k8s.aws/ec2nodeclass"
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// Kubelet settings of the nodes.
	// +kubebuilder:validation:XValidation:rule="has(self.imageGCHighThresholdPercent) && has(self.imageGCLowThresholdPercent) ? self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent : true",message="imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent"
	// +kubebuilder:validation:XValidation:rule="!has(self.evictionSoft) || self.evictionSoft.all(e, has(self.evictionSoftGracePeriod) && e in self.evictionSoftGracePeriod)",message="evictionSoft OwnerKey does not have a matching evictionSoftGracePeriod"
	// +kubebuilder:validation:XValidation:rule="!has(self.evictionSoftGracePeriod) || self.evictionSoftGracePeriod.all(e, has(self.evictionSoft) && e in self.evictionSoft)",message="evictionSoftGracePeriod OwnerKey does not have a matching evictionSoft"
	// +optional
	Kubelet *KubeletConfiguration `json:"kubelet,omitempty"`
	// BlockDeviceMappings are the volumes of the nodes. They replace those of the family entirely.
	// +kubebuilder:validation:XValidation:rule="self.filter(x, has(x.rootVolume) && x.rootVolume).size() <= 1",message="must have only one blockDeviceMappings with rootVolume"
	// +kubebuilder:validation:MaxItems=50
	// +optional
	BlockDeviceMappings []*BlockDeviceMapping `json:"blockDeviceMappings,omitempty"`
	// InstanceStorePolicy says what is done with the disks that are part of an instance.
	// +kubebuilder:validation:Enum:={RAID0}
	// +optional
	InstanceStorePolicy *string `json:"instanceStorePolicy,omitempty"`
	// NetworkInterfaces of the instances. Absent, there is one.
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || self.exists(x, x.networkCardIndex == 0 && x.deviceIndex == 0 && x.interfaceType == 'interface')",message="networkInterfaces must include a primary interface with interfaceType='interface'"
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.networkCardIndex == y.networkCardIndex && (x.deviceIndex == y.deviceIndex || (x.interfaceType == 'efa-only' && y.interfaceType == 'efa-only'))))",message="networkInterfaces must not have duplicate networkCardIndex and deviceIndex pairs, and can have at most one efa device per network card"
	// +kubebuilder:validation:MaxItems=150
	// +optional
	NetworkInterfaces []*NetworkInterface `json:"networkInterfaces,omitempty"`
	// DetailedMonitoring turns on monitoring of instances by the minute.
	// +optional
	DetailedMonitoring *bool `json:"detailedMonitoring,omitempty"`
	// MetadataOptions say how the metadata service of instances can be reached.
	// +kubebuilder:default:={"httpEndpoint":"enabled","httpProtocolIPv6":"disabled","httpPutResponseHopLimit":1,"httpTokens":"required"}
	// +optional
	MetadataOptions *MetadataOptions `json:"metadataOptions,omitempty"`
	// ConnectionTracking says how long the security groups remember idle connections.
	// +kubebuilder:validation:XValidation:rule="has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)",message="at least one of tcpEstablishedTimeout, udpStreamTimeout, or udpTimeout must be set"
	// +optional
	ConnectionTracking *ConnectionTracking `json:"connectionTracking,omitempty"`
	// Context is passed on to EC2 with every request for a fleet.
	// +optional
	Context *string `json:"context,omitempty"`
	// CPUOptions of the instances.
	// +optional
	CPUOptions *CPUOptions `json:"cpuOptions,omitempty"`
}

// Conditions of an EC2NodeClass.
const (
	ConditionAMIsReady                 = "AMIsReady"
	ConditionSubnetsReady              = "SubnetsReady"
	ConditionSecurityGroupsReady       = "SecurityGroupsReady"
	ConditionInstanceProfileReady      = "InstanceProfileReady"
	ConditionValidationSucceeded       = "ValidationSucceeded"
	ConditionPlacementGroupReady       = "PlacementGroupReady"
	ConditionCapacityReservationsReady = "CapacityReservationsReady"
)

// EC2NodeClassConditions says when a class is ready. Reservations count only if they are in use.
func EC2NodeClassConditions(reservedCapacity bool) condition.Kind {
	dependents := []string{
		ConditionAMIsReady,
		ConditionSubnetsReady,
		ConditionSecurityGroupsReady,
		ConditionInstanceProfileReady,
		ConditionValidationSucceeded,
		ConditionPlacementGroupReady,
	}
	if reservedCapacity {
		dependents = append(dependents, ConditionCapacityReservationsReady)
	}
	return condition.Kind{Root: condition.Ready, Dependents: dependents}
}

// Conditions reads the class's conditions at a time. The result goes back into status.conditions.
func (c *EC2NodeClass) Conditions(reservedCapacity bool, now time.Time) condition.Set {
	return EC2NodeClassConditions(reservedCapacity).Read(c.Status.Conditions, condition.SubjectOf(c), now)
}

// EC2NodeClassList is a list of EC2NodeClasses.
//
// +kubebuilder:object:root=true
type EC2NodeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EC2NodeClass `json:"items"`
}
