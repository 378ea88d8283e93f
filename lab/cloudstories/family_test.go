package cloudstories

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/lab/labtest"
)

// Nodes of every family that has images for the cluster's version launch, read their user data, join, and
// run pods; a family without images says so. (AL2 ends with Kubernetes 1.32; tests in lab/aws let AL2
// nodes join a cluster of that version.)
func TestEveryFamilyJoins(t *testing.T) {
	s := tell(t)
	families := map[string]struct{ alias, os, image string }{
		"al2023":       {"al2023@latest", "linux", "amazon-eks-node-al2023-x86_64-standard"},
		"bottlerocket": {"bottlerocket@latest", "linux", "bottlerocket-aws-k8s"},
		"windows2019":  {"windows2019@latest", "windows", "Windows_Server-2019"},
		"windows2022":  {"windows2022@latest", "windows", "Windows_Server-2022"},
		"windows2025":  {"windows2025@latest", "windows", "Windows_Server-2025"},
		"custom":       {"", "linux", "amazon-eks-node-al2023-x86_64-standard"},
	}
	for name, f := range families {
		s.class(name, f.alias, func(spec *awsv1.EC2NodeClassSpec) {
			if f.alias == "" {
				own, data := awsv1.FamilyCustom, nodeConfig(s.Lab)
				spec.AMIFamily, spec.UserData = &own, &data
				spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Name: "amazon-eks-node-al2023-x86_64-standard-1.36-*", Owner: "amazon"}}
			}
		})
		s.pool(name, and(small, v1.LabelOSStable, f.os))
		s.deploy(name, 1)
	}
	old := s.class("al2", "al2@latest")
	for name, f := range families {
		node := s.Running(name, 1)[0].Spec.NodeName
		for _, i := range s.alive() {
			if i.Node == node && !strings.HasPrefix(i.Image, f.image) {
				t.Errorf("%s has booted %s, want %s", name, i.Image, f.image)
			}
		}
	}
	s.AwaitCondition(old, awsv1.ConditionAMIsReady, metav1.ConditionFalse, "AL2")
}

// nodeConfig returns the user data of a user with custom images.
func nodeConfig(lab *labtest.Lab) string {
	return fmt.Sprintf(`MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: demo
    apiServerEndpoint: %s
    certificateAuthority: %s
    cidr: 10.96.0.0/16
  kubelet:
    config:
      registerWithTaints:
      - {key: karpenter.sh/unregistered, effect: NoExecute}

--//--
`, lab.Config.Host, base64.StdEncoding.EncodeToString(lab.Config.CAData))
}
