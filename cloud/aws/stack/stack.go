// Package stack writes what an AWS account has before Tenon runs there: the roles of the controller and of the
// nodes, the controller's policies, the interruption queue with its rules, and who may join the cluster. It
// writes the same for CloudFormation, for Terraform and for eksctl, out of the policies of iampolicy and the
// events of instanceevents, so that none of the three can differ from what the code needs.
//
// It calls no API, and makes nothing.
package stack

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"tenon/cloud/aws/iampolicy"
	"tenon/cloud/aws/instanceevents"
)

//go:generate go test . -run ^TestFilesAreCurrent$ -rewrite

//go:embed templates/*
var templates embed.FS

// File is one file for users, by its path below deploy/aws.
type File struct {
	Path string
	Text string
}

// CloudFormation is the path of the template.
const CloudFormation = "cloudformation/tenon.yaml"

// Files are all of them.
func Files() ([]File, error) {
	var files []File
	for _, f := range []struct{ path, template string }{
		{CloudFormation, "cloudformation.yaml"},
		{"terraform/main.tf", "main.tf"},
		{"eksctl/cluster.yaml", "eksctl.yaml"},
	} {
		text, err := write(f.template, languages[f.template])
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", f.path, err)
		}
		files = append(files, File{f.path, text})
	}
	return files, nil
}

// languages are how each template names what is known only in an account.
var languages = map[string]names{
	"cloudformation.yaml": {suffix: "${AWS::URLSuffix}", Options: iampolicy.Options{
		Partition: "${AWS::Partition}", Region: "${AWS::Region}", Account: "${AWS::AccountId}", Cluster: "${ClusterName}",
		NodeRole: "${NodeRole.Arn}", Queue: "${InterruptionQueue.Arn}",
	}},
	"main.tf": {suffix: "${data.aws_partition.current.dns_suffix}", Options: iampolicy.Options{
		Partition: "${data.aws_partition.current.partition}", Region: "${data.aws_region.current.id}",
		Account: "${data.aws_caller_identity.current.account_id}", Cluster: "${var.cluster_name}",
		NodeRole: "${aws_iam_role.node.arn}", Queue: "${aws_sqs_queue.interruption.arn}",
	}},
	"eksctl.yaml": {Options: iampolicy.Options{
		Partition: "${AWS_PARTITION}", Region: "${AWS_REGION}", Account: "${AWS_ACCOUNT_ID}", Cluster: "${CLUSTER_NAME}",
	}},
}

// names are what stands for an account in one language. The suffix is that of names of services.
type names struct {
	iampolicy.Options
	suffix string
}

// content is what templates are filled with.
type content struct {
	iampolicy.Options
	Policies        []iampolicy.Policy
	Events          []Event
	NodePolicies    []string
	NodeTrust       Document
	ControllerTrust Document
	QueuePolicy     Document
}

func write(name string, in names) (string, error) {
	parsed, err := template.New(name).Funcs(template.FuncMap{"json": indented, "short": short}).ParseFS(templates, "templates/"+name)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = parsed.Execute(&text, content{
		Options: in.Options, Policies: iampolicy.Policies(in.Options), Events: Events(), NodePolicies: nodePolicies,
		NodeTrust: nodeTrust(in.suffix), ControllerTrust: controllerTrust(), QueuePolicy: queuePolicy(in.Options),
	})
	return text.String(), err
}

// indented is a document as JSON, its lines after the first by so many blanks.
func indented(blanks int, document any) (string, error) {
	text, err := json.MarshalIndent(document, strings.Repeat(" ", blanks), "  ")
	return string(text), err
}

// short is the name of a policy without the cluster, and with letters alone.
func short(p iampolicy.Policy) string {
	name, _, _ := strings.Cut(p.Name, "-")
	return strings.TrimSuffix(strings.TrimPrefix(name, "KarpenterController"), "Policy")
}

// Event is a kind of event that a rule leads to the queue.
type Event struct {
	Name, Source, DetailType string
}

// Events are those that the controller reads.
func Events() []Event {
	var list []Event
	for _, e := range instanceevents.Events() {
		list = append(list, Event{strings.NewReplacer(" ", "", "-", "").Replace(e.DetailType), e.Source, e.DetailType})
	}
	return list
}
