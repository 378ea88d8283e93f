package ami

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/core/requirement"
)

var now = time.Date(2026, time.August, 21, 12, 0, 0, 0, time.UTC)

// found is an image created some days ago and, unless deprecated is zero, deprecated some days ago.
func found(name, arch string, days, deprecated int, kinds ...[]corev1.NodeSelectorRequirement) image {
	i := image{kinds: kinds, Image: types.Image{
		ImageId: aws.String("ami-" + name), Name: aws.String(name), Architecture: types.ArchitectureValues(arch),
		CreationDate: aws.String(now.AddDate(0, 0, -days).Format(time.RFC3339)),
	}}
	if deprecated != 0 {
		i.DeprecationTime = aws.String(now.AddDate(0, 0, -deprecated).Format(time.RFC3339))
	}
	return i
}

// reduce keeps one image for each kind of machine: it prefers images that are not deprecated, then the
// newest, then the last by name. It sorts them by age.
func TestReduce(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		found []image
		want  []string
	}{
		"the newest of an architecture":        {[]image{found("a", "x86_64", 2, 0), found("b", "x86_64", 1, 0), found("c", "arm64", 3, 0)}, []string{"b", "c"}},
		"an older one that is not deprecated":  {[]image{found("a", "x86_64", 2, 0), found("b", "x86_64", 1, 1)}, []string{"a"}},
		"deprecated from tomorrow on":          {[]image{found("a", "x86_64", 2, 0), found("b", "x86_64", 1, -1)}, []string{"b"}},
		"only deprecated ones":                 {[]image{found("a", "x86_64", 2, 1), found("b", "x86_64", 1, 1)}, []string{"b"}},
		"of the same age the last by name":     {[]image{found("b", "x86_64", 1, 0), found("a", "x86_64", 1, 0)}, []string{"b"}},
		"a Mac":                                {[]image{found("a", "x86_64_mac", 1, 0)}, nil},
		"one image for two kinds":              {[]image{found("a", "x86_64", 1, 0, neuron, nvidia)}, []string{"a", "a"}},
		"kinds of one architecture, all apart": {[]image{found("a", "x86_64", 1, 0, standard), found("b", "x86_64", 2, 0, nvidia)}, []string{"a", "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, i := range reduce(tc.found, now) {
				got = append(got, i.Name)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("images %v, want %v", got, tc.want)
			}
		})
	}
}

// Machines boot the image of their kind.
func TestChoose(t *testing.T) {
	t.Parallel()
	images := reduce([]image{
		found("plain", "x86_64", 1, 0, standard), found("gpu", "x86_64", 1, 0, nvidia), found("neuron", "x86_64", 1, 0, neuron), found("arm", "arm64", 1, 0, standard),
	}, now)
	machine := func(arch, gpus, accelerators string) requirement.Set {
		label := func(key, value string) requirement.Requirement {
			if value == "" {
				return requirement.New(key, requirement.DoesNotExist)
			}
			return requirement.New(key, requirement.In, value)
		}
		return requirement.NewSet(label(requirement.KeyArch, arch), label(awsv1.LabelInstanceGPUCount, gpus), label(awsv1.LabelInstanceAcceleratorCount, accelerators))
	}
	c := NewChooser(images)
	for name, tc := range map[string]struct {
		machine requirement.Set
		want    string
	}{
		"m5": {machine("amd64", "", ""), "plain"}, "g5": {machine("amd64", "1", ""), "gpu"}, "a part of a GPU": {machine("amd64", "0", ""), "gpu"},
		"inf2": {machine("amd64", "", "1"), "neuron"}, "m7g": {machine("arm64", "", ""), "arm"}, "g5g, for which there is none": {machine("arm64", "1", ""), ""},
	} {
		got, there := c.For(tc.machine)
		if got.Name != tc.want || there != (tc.want != "") {
			t.Errorf("%s boots %q, want %q", name, got.Name, tc.want)
		}
	}
}

// The names of parameters as AWS publishes them.
//
// AL2023 (EKS User Guide, "Retrieve recommended Amazon Linux AMI IDs"): "--name
// /aws/service/eks/optimized-ami/<kubernetes-version>/<ami-type>/recommended/image_id", where ami-type is
// "amazon-linux-2023/x86_64/standard for Amazon Linux 2023 (AL2023) x86 based instances", and so on.
//
// AL2 (the same page): "Use amazon-linux-2 for Amazon Linux 2 (AL2) x86 based instances. Use amazon-linux-2-arm64 for AL2 ARM
// instances, such as AWS Graviton based instances." The third is amazon-linux-2-gpu. (awslabs/amazon-eks-ami, release v20210621,
// names the releases that a version leads to: "amazon-eks-gpu-node-1.20-v20210621", "amazon-eks-arm64-node-1.20-v20210621",
// "amazon-eks-node-1.20-v20210621".)
//
// Bottlerocket (EKS User Guide, "Retrieve recommended Bottlerocket AMI IDs"): "--name
// /aws/service/bottlerocket/aws-k8s-kubernetes-version-flavor/architecture/latest/image_id"; "Use -nvidia for GPU-enabled variants";
// "Use x86_64 for x86 based instances. Use arm64 for ARM instances." (bottlerocket-os/bottlerocket, QUICKSTART-EKS.md: "if you know a
// specific Bottlerocket version you'd like to use, for example 1.0.6, you can replace latest with that version".) Instances with
// Inferentia and Trainium have no flavor of their own (EKS User Guide, "Use EKS-optimized accelerated AMIs for GPU instances": the
// variant "Bottlerocket x86_64 aws-k8s" has the types "inf1, inf2, trn1, trn2").
//
// Windows (EKS User Guide, "Retrieve recommended Microsoft Windows AMI IDs"): "--name
// /aws/service/ami-windows-latest/Windows_Server-release-English-installation-option-EKS_Optimized-kubernetes-version/image_id";
// "Use 2025 for Windows Server 2025. Use 2022 for Windows Server 2022. Use 2019 for Windows Server 2019"; "Use Core for a minimal
// installation with a smaller attack surface".
func TestParameters(t *testing.T) {
	t.Parallel()
	const eks = "/aws/service/eks/optimized-ami/1.34/"
	cases := map[string][]string{
		"al2@latest": {
			eks + "amazon-linux-2/recommended/image_id", eks + "amazon-linux-2-arm64/recommended/image_id", eks + "amazon-linux-2-gpu/recommended/image_id",
		},
		"al2@v20240625": {
			eks + "amazon-linux-2/amazon-eks-node-1.34-v20240625/image_id", eks + "amazon-linux-2-arm64/amazon-eks-arm64-node-1.34-v20240625/image_id",
			eks + "amazon-linux-2-gpu/amazon-eks-gpu-node-1.34-v20240625/image_id",
		},
		"al2023@v20240625": {
			eks + "amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.34-v20240625/image_id",
			eks + "amazon-linux-2023/x86_64/nvidia/amazon-eks-node-al2023-x86_64-nvidia-1.34-v20240625/image_id",
			eks + "amazon-linux-2023/x86_64/neuron/amazon-eks-node-al2023-x86_64-neuron-1.34-v20240625/image_id",
			eks + "amazon-linux-2023/arm64/standard/amazon-eks-node-al2023-arm64-standard-1.34-v20240625/image_id",
			eks + "amazon-linux-2023/arm64/nvidia/amazon-eks-node-al2023-arm64-nvidia-1.34-v20240625/image_id",
		},
		"bottlerocket@latest": {
			"/aws/service/bottlerocket/aws-k8s-1.34/x86_64/latest/image_id", "/aws/service/bottlerocket/aws-k8s-1.34/arm64/latest/image_id",
			"/aws/service/bottlerocket/aws-k8s-1.34-nvidia/x86_64/latest/image_id", "/aws/service/bottlerocket/aws-k8s-1.34-nvidia/arm64/latest/image_id",
		},
		"bottlerocket@v1.10.0": {
			"/aws/service/bottlerocket/aws-k8s-1.34/x86_64/1.10.0/image_id", "/aws/service/bottlerocket/aws-k8s-1.34/arm64/1.10.0/image_id",
			"/aws/service/bottlerocket/aws-k8s-1.34-nvidia/x86_64/1.10.0/image_id", "/aws/service/bottlerocket/aws-k8s-1.34-nvidia/arm64/1.10.0/image_id",
		},
		"windows2019@latest": {"/aws/service/ami-windows-latest/Windows_Server-2019-English-Core-EKS_Optimized-1.34/image_id"},
		"windows2025@latest": {"/aws/service/ami-windows-latest/Windows_Server-2025-English-Core-EKS_Optimized-1.34/image_id"},
		"windows2022@latest": {"/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.34/image_id"},
	}
	for text, want := range cases {
		alias, err := awsv1.ParseAlias(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range parametersOf(alias, "1.34") {
			got = append(got, p.name)
			if p.moves != strings.HasSuffix(text, "@latest") {
				t.Errorf("%s moves: %t", p.name, p.moves)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
