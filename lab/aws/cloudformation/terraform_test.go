package cloudformation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// module returns the blocks of the Terraform module.
func module(t *testing.T) []*hclsyntax.Block {
	t.Helper()
	file, problems := hclparse.NewParser().ParseHCLFile("../../../deploy/aws/terraform/main.tf")
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return file.Body.(*hclsyntax.Body).Blocks
}

// address returns the address by which other blocks refer to a block.
func address(b *hclsyntax.Block) string {
	switch b.Type {
	case "resource":
		return b.Labels[0] + "." + b.Labels[1]
	case "data":
		return "data." + b.Labels[0] + "." + b.Labels[1]
	case "variable":
		return "var." + b.Labels[0]
	}
	return b.Type
}

// Every reference leads to a declaration in the module, and each variable is used.
func TestReferencesLeadSomewhere(t *testing.T) {
	t.Parallel()
	declared, used := map[string]bool{"each": true}, map[string]bool{}
	blocks := module(t)
	for _, b := range blocks {
		if b.Type == "locals" {
			for name := range b.Body.Attributes {
				declared["local."+name] = true
			}
		}
		declared[address(b)] = true
	}
	for _, b := range blocks {
		if b.Type == "variable" {
			continue // its validation refers to the variable, which does not count as use
		}
		hclsyntax.VisitAll(b.Body, func(node hclsyntax.Node) hcl.Diagnostics {
			if v, is := node.(*hclsyntax.ScopeTraversalExpr); is {
				used[named(v.Traversal)] = true
				if !declared[named(v.Traversal)] {
					t.Errorf("%s refers to %s, which is not declared", address(b), named(v.Traversal))
				}
			}
			return nil
		})
	}
	for name := range declared {
		if strings.HasPrefix(name, "var.") && !used[name] {
			t.Errorf("%s is not used", name)
		}
	}
}

// named returns the address to which a reference leads.
func named(v hcl.Traversal) string {
	parts, name := 2, v.RootName()
	switch name {
	case "each":
		return name
	case "data":
		parts = 3
	}
	for _, step := range v[1:min(parts, len(v))] {
		name += "." + step.(hcl.TraverseAttr).Name
	}
	return name
}

// In the same account the module makes the policies, trusts and rules that the CloudFormation template makes.
func TestTerraformMakesTheSameStack(t *testing.T) {
	t.Parallel()
	made := stackOf(t, demo)
	blocks, scope := map[string]*hclsyntax.Block{}, surroundings()
	for _, b := range module(t) {
		blocks[address(b)] = b
	}
	text := func(address, attribute string) any {
		return object(t, evaluated(t, blocks[address], attribute, scope).AsString())
	}
	document := func(resource, property string) any {
		if text, is := made.Resources[resource].Properties[property].(string); is {
			return object(t, text)
		}
		return made.Resources[resource].Properties[property]
	}
	policies := map[string]any{}
	for name, value := range evaluated(t, blocks["locals"], "controller_policies", scope).AsValueMap() {
		policies[name] = object(t, value.AsString())
	}
	want := map[string]any{}
	for _, r := range made.Resources {
		if r.Type == managedPolicy {
			want[r.Properties["ManagedPolicyName"].(string)] = object(t, r.Properties["PolicyDocument"].(string))
		}
	}
	rules := 0
	for name, r := range made.Resources {
		if r.Type != "AWS::Events::Rule" {
			continue
		}
		rules++
		event := evaluated(t, blocks["locals"], "events", scope).GetAttr(name[:len(name)-len("Rule")])
		encoded, err := stdlib.JSONEncode(event)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Properties["EventPattern"], object(t, encoded.AsString())); diff != "" {
			t.Errorf("%s (-CloudFormation +Terraform):\n%s", name, diff)
		}
	}
	if events := evaluated(t, blocks["locals"], "events", scope).LengthInt(); events != rules {
		t.Errorf("%d events, and %d rules in CloudFormation", events, rules)
	}
	for name, pair := range map[string][2]any{
		"policies of the controller": {want, policies},
		"trust of the controller":    {document("ControllerRole", "AssumeRolePolicyDocument"), text("aws_iam_role.controller", "assume_role_policy")},
		"trust of nodes":             {document("NodeRole", "AssumeRolePolicyDocument"), text("aws_iam_role.node", "assume_role_policy")},
		"policy of the queue":        {document("InterruptionQueuePolicy", "PolicyDocument"), text("aws_sqs_queue_policy.interruption", "policy")},
		"policies of nodes":          {fmt.Sprint(len(made.Resources["NodeRole"].Properties["ManagedPolicyArns"].([]any))), fmt.Sprint(evaluated(t, blocks["aws_iam_role_policy_attachment.node"], "for_each", scope).LengthInt())},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s (-CloudFormation +Terraform):\n%s", name, diff)
		}
	}
}

func evaluated(t *testing.T, b *hclsyntax.Block, attribute string, scope *hcl.EvalContext) cty.Value {
	t.Helper()
	value, problems := b.Body.Attributes[attribute].Expr.Value(scope)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return value
}

// surroundings returns what Terraform would know after the roles and the queue are made.
func surroundings() *hcl.EvalContext {
	texts := func(pairs map[string]string) cty.Value {
		values := map[string]cty.Value{}
		for name, text := range pairs {
			values[name] = cty.StringVal(text)
		}
		return cty.ObjectVal(values)
	}
	one := func(name string, value cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{name: value}) }
	return &hcl.EvalContext{
		Functions: map[string]function.Function{"jsonencode": stdlib.JSONEncodeFunc, "toset": stdlib.MakeToFunc(cty.Set(cty.String))},
		Variables: map[string]cty.Value{
			"var": texts(map[string]string{"cluster_name": "demo", "node_role_name": ""}),
			"data": cty.ObjectVal(map[string]cty.Value{
				"aws_partition":       one("current", texts(map[string]string{"partition": account.Partition, "dns_suffix": account.Suffix})),
				"aws_region":          one("current", texts(map[string]string{"id": account.Region})),
				"aws_caller_identity": one("current", texts(map[string]string{"account_id": account.ID})),
			}),
			"aws_iam_role":  one("node", texts(map[string]string{"arn": "arn:aws:iam::000000000001:role/KarpenterNodeRole-demo"})),
			"aws_sqs_queue": one("interruption", texts(map[string]string{"arn": "arn:aws:sqs:us-west-2:000000000001:demo"})),
		},
	}
}
