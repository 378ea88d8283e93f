// Package crds holds the CustomResourceDefinitions of the API as the product ships them. The files
// are generated from the Go types: controller-gen writes what markers can say, and refine adds
// what they cannot.
//
// The package has no dependency, so that the controller, the lab and the chart can all use it.
package crds

import (
	"embed"
	"fmt"
)

//go:generate go tool -modfile=../../tools/go.mod controller-gen object crd paths=../... output:crd:dir=.
//go:generate go run ./refine .

//go:embed *.yaml
var files embed.FS

// Definition is one CustomResourceDefinition.
type Definition struct {
	// Name of the object, as nodepools.karpenter.sh.
	Name string
	// YAML is the whole object.
	YAML []byte
}

// Names of the definitions.
const (
	NodePool       = "nodepools.karpenter.sh"
	NodeClaim      = "nodeclaims.karpenter.sh"
	NodeOverlay    = "nodeoverlays.karpenter.sh"
	EC2NodeClass   = "ec2nodeclasses.karpenter.k8s.aws"
	CapacityBuffer = "capacitybuffers.autoscaling.x-k8s.io"
	NodeGroup      = "nodegroups.tenon.sh"

	ProvisioningRequest = "provisioningrequests.autoscaling.x-k8s.io"
)

// All returns the definitions in the order in which they are best installed.
func All() []Definition {
	return []Definition{
		{NodePool, read("karpenter.sh_nodepools.yaml")},
		{NodeClaim, read("karpenter.sh_nodeclaims.yaml")},
		{NodeOverlay, read("karpenter.sh_nodeoverlays.yaml")},
		{EC2NodeClass, read("karpenter.k8s.aws_ec2nodeclasses.yaml")},
		{CapacityBuffer, read("autoscaling.x-k8s.io_capacitybuffers.yaml")},
		{NodeGroup, read("tenon.sh_nodegroups.yaml")},
		{ProvisioningRequest, read("autoscaling.x-k8s.io_provisioningrequests.yaml")},
	}
}

func read(file string) []byte {
	text, err := files.ReadFile(file)
	if err != nil {
		panic(fmt.Sprintf("crds: %v", err)) // the file was embedded when the program was built
	}
	return text
}
