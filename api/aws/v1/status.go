package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EC2NodeClassStatus is what the selectors found.
type EC2NodeClassStatus struct {
	// Subnets that instances may be launched into.
	// +optional
	Subnets []Subnet `json:"subnets,omitempty"`
	// SecurityGroups that instances get.
	// +optional
	SecurityGroups []SecurityGroup `json:"securityGroups,omitempty"`
	// CapacityReservations that instances may use.
	// +optional
	CapacityReservations []CapacityReservation `json:"capacityReservations,omitempty"`
	// AMIs that instances may boot.
	// +optional
	AMIs []AMI `json:"amis,omitempty"`
	// InstanceProfile that instances get.
	// +optional
	InstanceProfile string `json:"instanceProfile,omitempty"`
	// Conditions say whether instances can be launched with the class.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Subnet that instances may be launched into.
type Subnet struct {
	// ID of the subnet.
	// +required
	ID string `json:"id"`
	// Zone of the subnet.
	// +required
	Zone string `json:"zone"`
	// ZoneID is the zone's name that is the same in all accounts.
	// +optional
	ZoneID string `json:"zoneID,omitempty"`
}

// SecurityGroup that instances get.
type SecurityGroup struct {
	// ID of the group.
	// +required
	ID string `json:"id"`
	// Name of the group.
	// +optional
	Name string `json:"name,omitempty"`
}

// Values of the fields of a capacity reservation.
const (
	ReservationOpen          = "open"
	ReservationTargeted      = "targeted"
	ReservationDefault       = "default"
	ReservationCapacityBlock = "capacity-block"
	ReservationActive        = "active"
	ReservationExpiring      = "expiring"
)

// CapacityReservation is capacity that is paid for already.
type CapacityReservation struct {
	// AvailabilityZone of the capacity.
	// +required
	AvailabilityZone string `json:"availabilityZone"`
	// EndTime is when the reservation ends. Absent, it has no end.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
	// ID of the reservation.
	// +kubebuilder:validation:Pattern:="^cr-[0-9a-z]+$"
	// +required
	ID string `json:"id"`
	// InstanceMatchCriteria is open if any instance that fits uses the reservation, targeted if only
	// those that name it.
	// +kubebuilder:validation:Enum:={open,targeted}
	// +required
	InstanceMatchCriteria string `json:"instanceMatchCriteria"`
	// InstanceType of the capacity.
	// +required
	InstanceType string `json:"instanceType"`
	// Interruptible says whether EC2 may take the capacity back early.
	// +optional
	Interruptible bool `json:"interruptible,omitempty"`
	// OwnerID is the account that owns the reservation.
	// +kubebuilder:validation:Pattern:="^[0-9]{12}$"
	// +required
	OwnerID string `json:"ownerID"`
	// ReservationType tells ordinary reservations from capacity blocks.
	// +kubebuilder:default=default
	// +kubebuilder:validation:Enum:={default,capacity-block}
	// +optional
	ReservationType string `json:"reservationType,omitempty"`
	// State is expiring when a capacity block is about to end.
	// +kubebuilder:default=active
	// +kubebuilder:validation:Enum:={active,expiring}
	// +optional
	State string `json:"state,omitempty"`
}

// AMI that instances may boot.
type AMI struct {
	// ID of the image.
	// +required
	ID string `json:"id"`
	// Deprecated says that its owner wants the image to be no longer used.
	// +optional
	Deprecated bool `json:"deprecated,omitempty"`
	// Name of the image.
	// +optional
	Name string `json:"name,omitempty"`
	// Requirements say which instances can boot the image.
	// +required
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
}
