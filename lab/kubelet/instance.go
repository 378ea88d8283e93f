package kubelet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Instance is a machine that boots and joins, described by its type and its user data. It is a plain value
// and can travel as JSON.
type Instance struct {
	Name       string `json:"name"` // of the Node, such as ip-10-0-1-7.ec2.internal
	ProviderID string `json:"providerID"`

	InstanceType string `json:"instanceType,omitempty"`
	Architecture string `json:"architecture,omitempty"` // amd64 if empty
	OS           string `json:"os,omitempty"`           // linux if empty
	Region       string `json:"region,omitempty"`
	Zone         string `json:"zone,omitempty"`
	ZoneID       string `json:"zoneID,omitempty"`

	// Labels and Taints are those of the user data, including the unregistered and start-up taints.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Taints      []v1.Taint        `json:"taints,omitempty"`

	// Capacity is the machine's capacity, with the number of pods that its network interfaces allow.
	Capacity v1.ResourceList `json:"capacity,omitempty"`
	// Allocatable is computed from Capacity and Kubelet when it is nil.
	Allocatable v1.ResourceList  `json:"allocatable,omitempty"`
	Kubelet     KubeletConfig    `json:"kubelet,omitzero"`
	Addresses   []v1.NodeAddress `json:"addresses,omitempty"`
	VolumeLimit int32            `json:"volumeLimit,omitempty"`
	Image       string           `json:"image,omitempty"` // the operating system's name

	// BootDelay replaces the configured one when it is positive.
	BootDelay time.Duration `json:"bootDelay,omitempty"`
	Fault     Fault         `json:"fault,omitzero"`
}

// KubeletConfig is the part of a kubelet's configuration that has effects outside the machine.
type KubeletConfig struct {
	MaxPods        *int32            `json:"maxPods,omitempty"`
	PodsPerCore    int32             `json:"podsPerCore,omitempty"`
	SystemReserved map[string]string `json:"systemReserved,omitempty"`
	KubeReserved   map[string]string `json:"kubeReserved,omitempty"`
	EvictionHard   map[string]string `json:"evictionHard,omitempty"`
}

func (i Instance) validate() error {
	switch {
	case i.Name == "":
		return errors.New("instance without a node name")
	case i.ProviderID == "":
		return fmt.Errorf("instance %s without a provider ID", i.Name)
	}
	return nil
}

// clone copies the maps and slices, so that later changes by the caller have no effect here.
func (i Instance) clone() Instance {
	i.Labels = maps.Clone(i.Labels)
	i.Annotations = maps.Clone(i.Annotations)
	i.Taints = slices.Clone(i.Taints)
	i.Capacity = i.Capacity.DeepCopy()
	i.Allocatable = i.Allocatable.DeepCopy()
	i.Addresses = slices.Clone(i.Addresses)
	i.Kubelet.SystemReserved = maps.Clone(i.Kubelet.SystemReserved)
	i.Kubelet.KubeReserved = maps.Clone(i.Kubelet.KubeReserved)
	i.Kubelet.EvictionHard = maps.Clone(i.Kubelet.EvictionHard)
	return i
}

// HandMadeNode returns a Node as a user would create it with kubectl: the simulator adopts it and fills in
// the rest. A nil capacity means the configured default.
func HandMadeNode(name string, capacity v1.ResourceList) *v1.Node {
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{AnnotationSimulated: "true"},
		},
		Spec:   v1.NodeSpec{ProviderID: "lab:///" + name},
		Status: v1.NodeStatus{Capacity: capacity.DeepCopy()},
	}
}

// nodeOf returns the Node that an instance registers: complete, but not Ready yet.
func nodeOf(i Instance, address string, c Config, now time.Time) (*v1.Node, error) {
	capacity, allocatable, err := resourcesOf(i, c.DefaultCapacity)
	if err != nil {
		return nil, fmt.Errorf("resources of instance %s: %w", i.Name, err)
	}
	n := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: i.Name, Labels: labelsOf(i), Annotations: annotationsOf(i, c)},
		Spec:       v1.NodeSpec{ProviderID: i.ProviderID, Taints: slices.Clone(i.Taints)},
		Status: v1.NodeStatus{
			Capacity:        capacity,
			Allocatable:     allocatable,
			Addresses:       addressesOf(i, address),
			NodeInfo:        nodeInfo(i.Name, i.OS, i.Architecture, i.Image, c),
			DaemonEndpoints: v1.NodeDaemonEndpoints{KubeletEndpoint: v1.DaemonEndpoint{Port: kubeletPort}},
			Conditions:      conditionsOf(nil, readyNotYet, now),
		},
	}
	return n, nil
}

// The former names of two labels that kubelets set.
const (
	labelOSBeta   = "beta.kubernetes.io/os"
	labelArchBeta = "beta.kubernetes.io/arch"
)

// labelsOf adds to the user data's labels those that a kubelet and the cloud's controllers set. Both still
// set the labels' former names as well.
func labelsOf(i Instance) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, i.Labels)
	for name, value := range map[string]string{
		v1.LabelHostname:                i.Name,
		v1.LabelOSStable:                orElse(i.OS, "linux"),
		v1.LabelArchStable:              orElse(i.Architecture, "amd64"),
		labelOSBeta:                     orElse(i.OS, "linux"),
		labelArchBeta:                   orElse(i.Architecture, "amd64"),
		v1.LabelInstanceTypeStable:      i.InstanceType,
		v1.LabelInstanceType:            i.InstanceType,
		v1.LabelTopologyRegion:          i.Region,
		v1.LabelFailureDomainBetaRegion: i.Region,
		v1.LabelTopologyZone:            i.Zone,
		v1.LabelFailureDomainBetaZone:   i.Zone,
		"topology.k8s.aws/zone-id":      i.ZoneID,
		"topology.ebs.csi.aws.com/zone": i.Zone,
	} {
		if value != "" {
			labels[name] = value
		}
	}
	return labels
}

// annotationsOf returns what this simulator must know after its own restart.
func annotationsOf(i Instance, c Config) map[string]string {
	annotations := map[string]string{}
	maps.Copy(annotations, i.Annotations)
	annotations[AnnotationSimulated] = "true"
	annotations[annotationControllerAttach] = "true"
	if _, set := annotations[AnnotationReadyAfter]; !set {
		annotations[AnnotationReadyAfter] = c.ReadyDelay.String()
	}
	if i.VolumeLimit > 0 {
		annotations[AnnotationVolumeLimit] = strconv.Itoa(int(i.VolumeLimit))
	}
	return annotations
}

func addressesOf(i Instance, address string) []v1.NodeAddress {
	if len(i.Addresses) > 0 {
		return slices.Clone(i.Addresses)
	}
	return machineAddresses(i.Name, address)
}

func machineAddresses(name, address string) []v1.NodeAddress {
	return []v1.NodeAddress{
		{Type: v1.NodeInternalIP, Address: address},
		{Type: v1.NodeHostName, Address: name},
	}
}

func nodeInfo(name, os, architecture, image string, c Config) v1.NodeSystemInfo {
	return v1.NodeSystemInfo{
		MachineID:               name,
		SystemUUID:              name,
		BootID:                  name,
		KernelVersion:           "6.12.0-lab",
		OSImage:                 orElse(image, "Tenon lab"),
		ContainerRuntimeVersion: "sim://1.0.0",
		KubeletVersion:          c.KubeletVersion,
		OperatingSystem:         orElse(os, "linux"),
		Architecture:            orElse(architecture, "amd64"),
	}
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
