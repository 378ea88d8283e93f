package iampolicy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tenon/cloud/aws/api"
	"tenon/cloud/aws/iampolicy"
)

var options = iampolicy.Options{
	Partition: "aws", Region: "us-west-2", Account: "000000000001", Cluster: "lab",
	NodeRole: "arn:aws:iam::000000000001:role/KarpenterNodeRole-lab", Queue: "arn:aws:sqs:us-west-2:000000000001:lab",
}

// services maps the names of services in IAM to the interfaces through which Tenon calls AWS.
var services = map[string][]reflect.Type{
	"ec2": {reflect.TypeFor[api.EC2](), reflect.TypeFor[api.EC2GroupTemplates]()}, "ssm": {reflect.TypeFor[api.SSM]()}, "pricing": {reflect.TypeFor[api.Pricing]()},
	"iam": {reflect.TypeFor[api.IAM]()}, "eks": {reflect.TypeFor[api.EKS](), reflect.TypeFor[api.EKSGroups]()}, "sqs": {reflect.TypeFor[api.SQS]()},
	"arc-zonal-shift": {reflect.TypeFor[api.ZonalShift]()}, "autoscaling": {reflect.TypeFor[api.AutoScaling]()},
}

// implied maps permissions that AWS requires during another call to that call.
var implied = map[string]string{
	"iam:PassRole":           "ec2:CreateFleet",           // for an instance with a profile
	"iam:TagInstanceProfile": "iam:CreateInstanceProfile", // with tags
}

func granted() map[string]bool {
	actions := map[string]bool{}
	for _, p := range append(iampolicy.Policies(options), iampolicy.Groups(options)) {
		for _, s := range p.Statements {
			for _, action := range s.Action {
				actions[action] = true
			}
		}
	}
	return actions
}

// operations maps the name of each operation that the code can call to its IAM action.
func operations() map[string]string {
	byName := map[string]string{}
	for service, interfaces := range services {
		for _, of := range interfaces {
			for m := range of.Methods() {
				byName[m.Name] = service + ":" + m.Name
			}
		}
	}
	return byName
}

// called returns the operations that the provider's code calls, directly or page by page.
func called(t *testing.T) map[string]bool {
	t.Helper()
	known, found := operations(), map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../api/") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			if selector, is := call.Fun.(*ast.SelectorExpr); is {
				name := strings.TrimSuffix(strings.TrimPrefix(selector.Sel.Name, "New"), "Paginator")
				if action, does := known[name]; does {
					found[action] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every call has its permission, and every permission has its call.
func TestBothDirections(t *testing.T) {
	t.Parallel()
	may, does := granted(), called(t)
	for action := range does {
		if !may[action] {
			t.Errorf("%s is called and not permitted", action)
		}
	}
	for action := range may {
		if by, is := implied[action]; is {
			if !does[by] {
				t.Errorf("%s is permitted for the sake of %s, which is never called", action, by)
			}
			continue
		}
		if !does[action] {
			t.Errorf("%s is permitted and not called", action)
		}
	}
	for name, action := range operations() {
		if !does[action] {
			t.Errorf("%s is in an interface and not called", name)
		}
	}
}

// Conditions limit every action that changes something to resources of the cluster.
func TestScoped(t *testing.T) {
	t.Parallel()
	for _, p := range iampolicy.Policies(options) {
		text, err := p.JSON()
		if err != nil || !strings.HasSuffix(p.Name, "Policy-lab") {
			t.Errorf("%s: %v", p.Name, err)
		}
		if size := len(strings.Join(strings.Fields(string(text)), "")); size > 6144 {
			t.Errorf("%s has %d characters, more than IAM takes", p.Name, size)
		}
		for _, s := range p.Statements {
			reads := !slices.ContainsFunc(s.Action, func(action string) bool {
				_, operation, _ := strings.Cut(action, ":")
				return !strings.HasPrefix(operation, "Describe") && !strings.HasPrefix(operation, "Get") && !strings.HasPrefix(operation, "List")
			})
			if !reads && slices.Contains(s.Resource, "*") {
				t.Errorf("%s changes anything", s.Sid)
			}
		}
	}
}

// ofClusterAutoscaler are the actions of the policy that the documentation of Cluster Autoscaler recommends on AWS.
var ofClusterAutoscaler = []string{
	"autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeAutoScalingInstances", "autoscaling:DescribeLaunchConfigurations",
	"autoscaling:DescribeScalingActivities", "autoscaling:DescribeTags", "ec2:DescribeImages", "ec2:DescribeInstanceTypes", "ec2:DescribeLaunchTemplateVersions",
	"ec2:GetInstanceTypesFromInstanceRequirements", "eks:DescribeNodegroup", "autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup",
}

// The policy for node groups allows nothing that one for Cluster Autoscaler does not, and the page about them shows the whole policy.
func TestNodeGroupPolicy(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/reference/node-groups.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range iampolicy.Groups(options).Statements {
		for _, action := range s.Action {
			if !slices.Contains(ofClusterAutoscaler, action) {
				t.Errorf("a policy that was made for Cluster Autoscaler does not allow %s", action)
			}
			if !strings.Contains(string(page), `"`+action+`"`) {
				t.Errorf("the page does not name %s", action)
			}
		}
	}
}
