package accounts

import (
	"fmt"
	"strings"
	"time"

	"tenon/lab/aws/boot"
)

// build is an image that is published for a version of Kubernetes.
type build struct {
	family       boot.Family
	architecture string
	variant      string
}

// builds returns the images that exist for a version: AL2 ends with 1.32, Windows 2025 begins with 1.34.
func builds(version string) []build {
	list := []build{
		{boot.AL2023, "x86_64", "standard"}, {boot.AL2023, "x86_64", "nvidia"}, {boot.AL2023, "x86_64", "neuron"},
		{boot.AL2023, "arm64", "standard"}, {boot.AL2023, "arm64", "nvidia"},
		{boot.Bottlerocket, "x86_64", "standard"}, {boot.Bottlerocket, "arm64", "standard"},
		{boot.Bottlerocket, "x86_64", "nvidia"}, {boot.Bottlerocket, "arm64", "nvidia"},
		{boot.Windows2019, "x86_64", "standard"}, {boot.Windows2022, "x86_64", "standard"},
	}
	if version <= "1.32" {
		list = append(list, build{boot.AL2, "x86_64", "standard"}, build{boot.AL2, "arm64", "standard"}, build{boot.AL2, "x86_64", "gpu"})
	}
	if version >= "1.34" {
		list = append(list, build{boot.Windows2025, "x86_64", "standard"})
	}
	return list
}

// owner is the account that publishes the images.
func (b build) owner() string {
	switch {
	case b.family == boot.Bottlerocket:
		return "149721548608"
	case b.family.Windows():
		return "801119661308"
	default:
		return "602401143452"
	}
}

// releaseName returns the family's name for a release: a date or a version.
func releaseName(family boot.Family, number int, at time.Time) string {
	switch {
	case family == boot.Bottlerocket:
		return fmt.Sprintf("1.%d.0", 49+number)
	case family.Windows():
		return at.Format("2006.01.02")
	default:
		return "v" + at.Format("20060102")
	}
}

func (b build) imageName(version, release string) string {
	switch {
	case b.family == boot.AL2:
		return fmt.Sprintf("amazon-eks-%s%s-%s", map[string]string{"x86_64standard": "", "arm64standard": "arm64-", "x86_64gpu": "gpu-"}[b.architecture+b.variant], "node-"+version, release)
	case b.family == boot.AL2023:
		return fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-%s", b.architecture, b.variant, version, release)
	case b.family == boot.Bottlerocket:
		return fmt.Sprintf("bottlerocket-aws-k8s-%s%s-%s-v%s-%s", version, b.accelerated(), b.architecture, release, "0b1ab1e5")
	default:
		return fmt.Sprintf("Windows_Server-%s-English-Core-EKS_Optimized-%s-%s", b.year(), version, release)
	}
}

func (b build) accelerated() string {
	if b.variant == "nvidia" {
		return "-nvidia"
	}
	return ""
}

func (b build) year() string { return strings.TrimPrefix(string(b.family), "Windows") }

// parameters returns the names under which SSM knows the image. Some of them move on with each release.
func (b build) parameters(version, release string) []string {
	eks := "/aws/service/eks/optimized-ami/" + version
	switch {
	case b.family == boot.AL2:
		suffix := map[string]string{"x86_64standard": "", "arm64standard": "-arm64", "x86_64gpu": "-gpu"}[b.architecture+b.variant]
		return []string{
			eks + "/amazon-linux-2" + suffix + "/recommended/image_id",
			eks + "/amazon-linux-2" + suffix + "/" + b.imageName(version, release) + "/image_id",
		}
	case b.family == boot.AL2023:
		path := fmt.Sprintf("%s/amazon-linux-2023/%s/%s/", eks, b.architecture, b.variant)
		return []string{path + "recommended/image_id", path + b.imageName(version, release) + "/image_id"}
	case b.family == boot.Bottlerocket:
		path := fmt.Sprintf("/aws/service/bottlerocket/aws-k8s-%s%s/%s/", version, b.accelerated(), b.architecture)
		return []string{path + "latest/image_id", path + release + "/image_id"}
	default:
		return []string{fmt.Sprintf("/aws/service/ami-windows-latest/Windows_Server-%s-English-Core-EKS_Optimized-%s/image_id", b.year(), version)}
	}
}

// devices returns the root device's name and the volumes that the image brings.
func devices(family boot.Family) (root string, list []Device) {
	switch {
	case family == boot.Bottlerocket:
		return "/dev/xvda", []Device{{"/dev/xvda", 2}, {"/dev/xvdb", 20}}
	case family.Windows():
		return "/dev/sda1", []Device{{"/dev/sda1", 50}}
	default:
		return "/dev/xvda", []Device{{"/dev/xvda", 20}}
	}
}

// podDevice returns the volume that holds the pods' ephemeral storage.
func podDevice(family boot.Family) string {
	switch {
	case family == boot.Bottlerocket:
		return "/dev/xvdb"
	case family.Windows():
		return "/dev/sda1"
	default:
		return "/dev/xvda"
	}
}
