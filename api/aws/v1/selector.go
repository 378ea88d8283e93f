package v1

// SubnetSelectorTerm finds subnets. The fields of a term all have to match.
type SubnetSelectorTerm struct {
	// Tags that the subnet has. The value "*" is any value.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="empty tag keys or values aren't supported"
	// +kubebuilder:validation:MaxProperties:=20
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// ID of the subnet.
	// +kubebuilder:validation:Pattern:="subnet-[0-9a-z]+"
	// +optional
	ID string `json:"id,omitempty"`
}

// SecurityGroupSelectorTerm finds security groups. The fields of a term all have to match.
type SecurityGroupSelectorTerm struct {
	// Tags that the group has. The value "*" is any value.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="empty tag keys or values aren't supported"
	// +kubebuilder:validation:MaxProperties:=20
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// ID of the group.
	// +kubebuilder:validation:Pattern:="sg-[0-9a-z]+"
	// +optional
	ID string `json:"id,omitempty"`
	// Name of the group, which is not its Name tag.
	// +optional
	Name string `json:"name,omitempty"`
}

// CapacityReservationSelectorTerm finds capacity reservations. The fields of a term all have to match.
type CapacityReservationSelectorTerm struct {
	// Tags that the reservation has. The value "*" is any value.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="empty tag keys or values aren't supported"
	// +kubebuilder:validation:MaxProperties:=20
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// ID of the reservation.
	// +kubebuilder:validation:Pattern:="^cr-[0-9a-z]+$"
	// +optional
	ID string `json:"id,omitempty"`
	// OwnerID is the account that owns the reservation.
	// +kubebuilder:validation:Pattern:="^[0-9]{12}$"
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// InstanceMatchCriteria is open if any instance that fits uses the reservation, targeted if only
	// those that name it.
	// +kubebuilder:validation:Enum:={open,targeted}
	// +optional
	InstanceMatchCriteria string `json:"instanceMatchCriteria,omitempty"`
}

// PlacementGroupSelector finds one placement group.
type PlacementGroupSelector struct {
	// Name of the placement group.
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name string `json:"name,omitempty"`
	// ID of the placement group.
	// +kubebuilder:validation:Pattern:="^pg-[0-9a-z]+$"
	// +optional
	ID string `json:"id,omitempty"`
}

// AMISelectorTerm finds machine images. The fields of a term all have to match.
type AMISelectorTerm struct {
	// Alias names a family's published images and a version, as al2023@latest.
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9]+@.+$')",message="'alias' is improperly formatted, must match the format 'family@version'"
	// +kubebuilder:validation:XValidation:rule="self.find('^[^@]+') in ['al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025']",message="family is not supported, must be one of the following: 'al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025'"
	// +kubebuilder:validation:XValidation:rule="self.find('^[^@]+') in ['windows2019', 'windows2022', 'windows2025'] ? self.find('@.*$') == '@latest' : true",message="windows families may only specify version 'latest'"
	// +kubebuilder:validation:MaxLength=30
	// +optional
	Alias string `json:"alias,omitempty"`
	// Tags that the image has. The value "*" is any value.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="empty tag keys or values aren't supported"
	// +kubebuilder:validation:MaxProperties:=20
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// ID of the image.
	// +kubebuilder:validation:Pattern:="ami-[0-9a-z]+"
	// +optional
	ID string `json:"id,omitempty"`
	// Name of the image, in which "*" and "?" stand for any text and any character.
	// +optional
	Name string `json:"name,omitempty"`
	// Owner of the image: an account, self, or amazon.
	// +optional
	Owner string `json:"owner,omitempty"`
	// SSMParameter is the name or ARN of a parameter that holds an image's ID.
	// +optional
	SSMParameter string `json:"ssmParameter,omitempty"`
}
