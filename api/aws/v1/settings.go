package v1

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"tenon/api/scalar"
)

// KubeletConfiguration is the part of the kubelet's configuration that a class can set.
type KubeletConfiguration struct {
	// ClusterDNS are the addresses of the cluster's name servers.
	// +optional
	ClusterDNS []string `json:"clusterDNS,omitempty"`
	// MaxPods is how many pods a node takes at most.
	// +kubebuilder:validation:Minimum:=0
	// +optional
	MaxPods *int32 `json:"maxPods,omitempty"`
	// PodsPerCore is how many pods a node takes at most for each of its cores.
	// +kubebuilder:validation:Minimum:=0
	// +optional
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`
	// SystemReserved are resources kept for the operating system.
	// +kubebuilder:validation:XValidation:rule="self.all(x, x in ['cpu', 'memory', 'ephemeral-storage', 'pid'])",message="valid keys for systemReserved are ['cpu','memory','ephemeral-storage','pid']"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !self[x].startsWith('-'))",message="systemReserved value cannot be a negative resource quantity"
	// +optional
	SystemReserved map[string]string `json:"systemReserved,omitempty"`
	// KubeReserved are resources kept for Kubernetes itself.
	// +kubebuilder:validation:XValidation:rule="self.all(x, x in ['cpu', 'memory', 'ephemeral-storage', 'pid'])",message="valid keys for kubeReserved are ['cpu','memory','ephemeral-storage','pid']"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !self[x].startsWith('-'))",message="kubeReserved value cannot be a negative resource quantity"
	// +optional
	KubeReserved map[string]string `json:"kubeReserved,omitempty"`
	// EvictionHard are the thresholds below which pods are evicted at once.
	// +kubebuilder:validation:XValidation:rule="self.all(x, x in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",message="valid keys for evictionHard are ['memory.available','nodefs.available','nodefs.inodesFree','imagefs.available','imagefs.inodesFree','pid.available']"
	// +optional
	EvictionHard map[string]string `json:"evictionHard,omitempty"`
	// EvictionSoft are the thresholds below which pods are evicted after a grace period.
	// +kubebuilder:validation:XValidation:rule="self.all(x, x in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",message="valid keys for evictionSoft are ['memory.available','nodefs.available','nodefs.inodesFree','imagefs.available','imagefs.inodesFree','pid.available']"
	// +optional
	EvictionSoft map[string]string `json:"evictionSoft,omitempty"`
	// EvictionSoftGracePeriod is, for each soft threshold, how long it may be passed.
	// +kubebuilder:validation:XValidation:rule="self.all(x, x in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",message="valid keys for evictionSoftGracePeriod are ['memory.available','nodefs.available','nodefs.inodesFree','imagefs.available','imagefs.inodesFree','pid.available']"
	// +optional
	EvictionSoftGracePeriod map[string]scalar.Duration `json:"evictionSoftGracePeriod,omitempty"`
	// EvictionMaxPodGracePeriod is how many seconds a pod gets at most when a soft threshold is passed.
	// +optional
	EvictionMaxPodGracePeriod *int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// ImageGCHighThresholdPercent of disk usage is where images begin to be removed.
	// +kubebuilder:validation:Minimum:=0
	// +kubebuilder:validation:Maximum:=100
	// +optional
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty"`
	// ImageGCLowThresholdPercent of disk usage is where images stop being removed.
	// +kubebuilder:validation:Minimum:=0
	// +kubebuilder:validation:Maximum:=100
	// +optional
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty"`
	// CPUCFSQuota enforces CPU limits of containers.
	// +optional
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`
}

// BlockDeviceMapping is a volume of an instance.
type BlockDeviceMapping struct {
	// DeviceName is where the instance sees the volume, as /dev/xvda.
	// +optional
	DeviceName *string `json:"deviceName,omitempty"`
	// EBS settings of the volume.
	// +kubebuilder:validation:XValidation:rule="has(self.snapshotID) || has(self.volumeSize)",message="snapshotID or volumeSize must be defined"
	// +kubebuilder:validation:XValidation:rule="!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')",message="snapshotID must be set when volumeInitializationRate is set"
	// +optional
	EBS *BlockDevice `json:"ebs,omitempty"`
	// RootVolume marks the volume that holds the kubelet's files, whose size is the node's ephemeral storage.
	// +optional
	RootVolume bool `json:"rootVolume,omitempty"`
}

// BlockDevice is how a volume is made.
type BlockDevice struct {
	// DeleteOnTermination removes the volume together with the instance.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
	// Encrypted says whether the volume is encrypted.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
	// IOPS is how many operations a second the volume does.
	// +optional
	IOPS *int64 `json:"iops,omitempty"`
	// KMSKeyID is the key by which the volume is encrypted.
	// +optional
	KMSKeyID *string `json:"kmsKeyID,omitempty"`
	// SnapshotID is the snapshot from which the volume is made.
	// +optional
	SnapshotID *string `json:"snapshotID,omitempty"`
	// Throughput in MiB a second.
	// +optional
	Throughput *int64 `json:"throughput,omitempty"`
	// VolumeInitializationRate in MiB a second at which the snapshot is read.
	// +kubebuilder:validation:Minimum:=100
	// +kubebuilder:validation:Maximum:=300
	// +optional
	VolumeInitializationRate *int32 `json:"volumeInitializationRate,omitempty"`
	// VolumeSize with its unit, as 20Gi.
	// +kubebuilder:validation:Pattern:="^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$"
	// +kubebuilder:validation:Type:=string
	// +kubebuilder:validation:Schemaless
	// +optional
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty" hash:"string"`
	// VolumeType of EBS.
	// +kubebuilder:validation:Enum:={standard,io1,io2,gp2,sc1,st1,gp3}
	// +optional
	VolumeType *string `json:"volumeType,omitempty"`
}

// NetworkInterface is one of an instance's network interfaces.
type NetworkInterface struct {
	// NetworkCardIndex is the card that the interface is on.
	// +kubebuilder:validation:Minimum:=0
	// +required
	NetworkCardIndex int32 `json:"networkCardIndex"`
	// DeviceIndex is the interface's place on its card.
	// +kubebuilder:validation:Minimum:=0
	// +required
	DeviceIndex int32 `json:"deviceIndex"`
	// InterfaceType is interface, or efa-only for one that carries no IP traffic.
	// +kubebuilder:validation:Enum:={interface,efa-only}
	// +required
	InterfaceType string `json:"interfaceType"`
}

// MetadataOptions say how the metadata service of an instance can be reached.
type MetadataOptions struct {
	// HTTPEndpoint turns the service on or off.
	// +kubebuilder:default=enabled
	// +kubebuilder:validation:Enum:={enabled,disabled}
	// +optional
	HTTPEndpoint *string `json:"httpEndpoint,omitempty"`
	// HTTPProtocolIPv6 turns the service's IPv6 address on or off.
	// +kubebuilder:default=disabled
	// +kubebuilder:validation:Enum:={enabled,disabled}
	// +optional
	HTTPProtocolIPv6 *string `json:"httpProtocolIPv6,omitempty"`
	// HTTPPutResponseHopLimit is how many hops an answer may travel: 1 keeps pods from it.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum:=1
	// +kubebuilder:validation:Maximum:=64
	// +optional
	HTTPPutResponseHopLimit *int64 `json:"httpPutResponseHopLimit,omitempty"`
	// HTTPTokens says whether requests need a token.
	// +kubebuilder:default=required
	// +kubebuilder:validation:Enum:={required,optional}
	// +optional
	HTTPTokens *string `json:"httpTokens,omitempty"`
}

// ConnectionTracking says how many seconds security groups remember idle connections.
type ConnectionTracking struct {
	// TCPEstablishedTimeout of TCP connections.
	// +kubebuilder:validation:Minimum:=60
	// +kubebuilder:validation:Maximum:=432000
	// +optional
	TCPEstablishedTimeout *int32 `json:"tcpEstablishedTimeout,omitempty"`
	// UDPStreamTimeout of UDP flows that saw more than one request and answer.
	// +kubebuilder:validation:Minimum:=60
	// +kubebuilder:validation:Maximum:=180
	// +optional
	UDPStreamTimeout *int32 `json:"udpStreamTimeout,omitempty"`
	// UDPTimeout of UDP flows with traffic in one direction, or a single request and answer.
	// +kubebuilder:validation:Minimum:=30
	// +kubebuilder:validation:Maximum:=60
	// +optional
	UDPTimeout *int32 `json:"udpTimeout,omitempty"`
}

// CPUOptions of an instance.
type CPUOptions struct {
	// NestedVirtualization lets the instance run virtual machines itself.
	// +kubebuilder:validation:Enum:={enabled,disabled}
	// +optional
	NestedVirtualization *string `json:"nestedVirtualization,omitempty"`
}

// Validate checks what no pattern of the definition checks.
func (k *KubeletConfiguration) Validate() error {
	if k == nil {
		return nil
	}
	for _, signal := range slices.Sorted(maps.Keys(k.EvictionSoftGracePeriod)) {
		if !k.EvictionSoftGracePeriod[signal].Readable() {
			return fmt.Errorf("kubelet.evictionSoftGracePeriod[%s] is no duration such as 90s or 2m", signal)
		}
	}
	return nil
}
