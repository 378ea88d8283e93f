package stack

import "tenon/cloud/aws/iampolicy"

// Document is a policy of a resource: it says whom it concerns.
type Document struct {
	Version    string      `json:"Version"`
	Statements []Statement `json:"Statement"`
}

// Statement allows or denies actions to a principal.
type Statement struct {
	Sid       string               `json:"Sid"`
	Effect    string               `json:"Effect"`
	Principal any                  `json:"Principal"`
	Action    []string             `json:"Action"`
	Resource  string               `json:"Resource,omitempty"`
	Condition iampolicy.Conditions `json:"Condition,omitempty"`
}

// nodePolicies are those of AWS that a node's role has: joining, addresses of pods, images, and sessions
// without SSH. ("Amazon EKS node IAM role".)
var nodePolicies = []string{
	"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore",
}

func service(name string) map[string]string { return map[string]string{"Service": name} }

func document(statements ...Statement) Document { return Document{"2012-10-17", statements} }

func nodeTrust(suffix string) Document {
	return document(Statement{Sid: "AllowInstances", Effect: "Allow", Principal: service("ec2." + suffix), Action: []string{"sts:AssumeRole"}})
}

// controllerTrust lets a ServiceAccount that is associated with the role assume it. ("How EKS Pod Identity works".)
func controllerTrust() Document {
	return document(Statement{
		Sid: "AllowPodIdentity", Effect: "Allow", Principal: service("pods.eks.amazonaws.com"), Action: []string{"sts:AssumeRole", "sts:TagSession"},
	})
}

// queuePolicy lets the rules of this account send, and refuses what is not encrypted on its way.
func queuePolicy(o iampolicy.Options) Document {
	return document(
		Statement{
			Sid: "AllowRules", Effect: "Allow", Principal: service("events.amazonaws.com"), Action: []string{"sqs:SendMessage"}, Resource: o.Queue,
			Condition: iampolicy.Conditions{"ArnLike": {"aws:SourceArn": "arn:" + o.Partition + ":events:" + o.Region + ":" + o.Account + ":rule/*"}},
		},
		Statement{
			Sid: "DenyUnencrypted", Effect: "Deny", Principal: "*", Action: []string{"sqs:*"}, Resource: o.Queue,
			Condition: iampolicy.Conditions{"Bool": {"aws:SecureTransport": "false"}},
		},
	)
}
