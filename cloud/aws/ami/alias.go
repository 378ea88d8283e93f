package ami

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/core/requirement"
)

// parameter names an SSM parameter that holds the ID of an image, and lists the kinds of machines that the
// image is for.
type parameter struct {
	name  string
	kinds [][]corev1.NodeSelectorRequirement
	// moves says that the parameter follows new releases.
	moves bool
}

// Kinds of machines, by their hardware. Every machine with a GPU boots the image with GPU drivers, even if
// NVIDIA did not make the GPU.
var (
	standard = []corev1.NodeSelectorRequirement{
		{Key: awsv1.LabelInstanceAcceleratorCount, Operator: corev1.NodeSelectorOpDoesNotExist},
		{Key: awsv1.LabelInstanceGPUCount, Operator: corev1.NodeSelectorOpDoesNotExist},
	}
	nvidia = []corev1.NodeSelectorRequirement{{Key: awsv1.LabelInstanceGPUCount, Operator: corev1.NodeSelectorOpExists}}
	neuron = []corev1.NodeSelectorRequirement{{Key: awsv1.LabelInstanceAcceleratorCount, Operator: corev1.NodeSelectorOpExists}}
)

// parametersOf lists the parameters of an alias for a version of Kubernetes, such as 1.34.
func parametersOf(alias awsv1.Alias, kubernetes string) []parameter {
	var list []parameter
	switch alias.Family {
	case awsv1.FamilyAL2:
		list = al2(alias.Version, kubernetes)
	case awsv1.FamilyAL2023:
		list = al2023(alias.Version, kubernetes)
	case awsv1.FamilyBottlerocket:
		list = bottlerocket(alias.Version, kubernetes)
	default:
		list = windows(alias.Family, kubernetes)
	}
	for i := range list {
		list[i].moves = alias.Version == awsv1.VersionLatest
	}
	return list
}

const eksImages = "/aws/service/eks/optimized-ami/"

func al2(version, kubernetes string) []parameter {
	name := func(suffix string) string {
		release := "recommended"
		if version != awsv1.VersionLatest {
			release = "amazon-eks" + suffix + "-node-" + kubernetes + "-" + version
		}
		return eksImages + kubernetes + "/amazon-linux-2" + suffix + "/" + release + "/image_id"
	}
	return []parameter{
		of(name(""), standard),
		of(name("-arm64"), standard),
		of(name("-gpu"), neuron, nvidia),
	}
}

func al2023(version, kubernetes string) []parameter {
	name := func(arch, variant string) string {
		release := "recommended"
		if version != awsv1.VersionLatest {
			release = "amazon-eks-node-al2023-" + arch + "-" + variant + "-" + kubernetes + "-" + version
		}
		return eksImages + kubernetes + "/amazon-linux-2023/" + arch + "/" + variant + "/" + release + "/image_id"
	}
	return []parameter{
		of(name("x86_64", "standard"), standard),
		of(name("x86_64", "nvidia"), nvidia),
		of(name("x86_64", "neuron"), neuron),
		of(name("arm64", "standard"), standard),
		of(name("arm64", "nvidia"), nvidia),
	}
}

func bottlerocket(version, kubernetes string) []parameter {
	version = strings.TrimPrefix(version, "v")
	name := func(suffix, arch string) string {
		return "/aws/service/bottlerocket/aws-k8s-" + kubernetes + suffix + "/" + arch + "/" + version + "/image_id"
	}
	return []parameter{
		of(name("", "x86_64"), standard, neuron),
		of(name("", "arm64"), standard),
		of(name("-nvidia", "x86_64"), nvidia),
		of(name("-nvidia", "arm64"), nvidia),
	}
}

// windowsBuilds maps the releases of Windows Server to the builds by which Kubernetes names them.
var windowsBuilds = map[string]string{
	awsv1.FamilyWindows2019: "10.0.17763",
	awsv1.FamilyWindows2022: "10.0.20348",
	awsv1.FamilyWindows2025: "10.0.26100",
}

func windows(family, kubernetes string) []parameter {
	name := fmt.Sprintf("/aws/service/ami-windows-latest/Windows_Server-%s-English-Core-EKS_Optimized-%s/image_id",
		strings.TrimPrefix(family, "Windows"), kubernetes)
	return []parameter{of(name, []corev1.NodeSelectorRequirement{
		{Key: requirement.KeyOS, Operator: corev1.NodeSelectorOpIn, Values: []string{"windows"}},
		{Key: requirement.KeyWindowsBuild, Operator: corev1.NodeSelectorOpIn, Values: []string{windowsBuilds[family]}},
	})}
}

func of(name string, kinds ...[]corev1.NodeSelectorRequirement) parameter {
	return parameter{name: name, kinds: kinds}
}

// Unsupported says why an alias has no images for a version of Kubernetes; empty if it has some.
func Unsupported(alias awsv1.Alias, kubernetes string) string {
	minor, known := minorOf(kubernetes)
	switch {
	case !known:
		return ""
	case alias.Family == awsv1.FamilyAL2 && minor >= 33:
		return "AL2 aliases are not supported on EKS 1.33+: there are no AL2 images for these versions, " +
			"see https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html"
	case alias.Family == awsv1.FamilyWindows2025 && minor < 35:
		return "Windows2025 aliases need Kubernetes 1.35 or later, the cluster's version is " + kubernetes
	}
	return ""
}

func minorOf(kubernetes string) (minor int, known bool) {
	n, err := fmt.Sscanf(kubernetes, "1.%d", &minor)
	return minor, n == 1 && err == nil
}
