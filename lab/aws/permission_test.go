package aws_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/iampolicy"
	"tenon/core/requirement"
	"tenon/internal/reconcile"
	"tenon/lab/aws"
	"tenon/lab/aws/policy"
)

// controllerKey is the access key of the controller, which has the policies that we hand out.
const controllerKey = "AKIACONTROLLER"

// granted returns those policies, as IAM reads them.
func granted(t *testing.T) []policy.Document {
	t.Helper()
	return got(aws.Documented(account, region, "lab", ""))(t)
}

// The template that users apply grants what iampolicy lists, and no more.
func TestTheTemplateGrantsWhatIsListed(t *testing.T) {
	t.Parallel()
	var listed []policy.Document
	for _, p := range iampolicy.Policies(iampolicy.Options{
		Partition: "aws", Region: region, Account: account, Cluster: "lab",
		NodeRole: "arn:aws:iam::" + account + ":role/KarpenterNodeRole-lab", Queue: "arn:aws:sqs:" + region + ":" + account + ":lab",
	}) {
		listed = append(listed, got(policy.Parse(got(p.JSON())(t)))(t))
	}
	if diff := cmp.Diff(listed, granted(t)); diff != "" {
		t.Errorf("policies (-listed +granted):\n%s", diff)
	}
}

func actionsOf(documents []policy.Document) (actions []string) {
	for _, d := range documents {
		for _, s := range d.Statement {
			actions = append(actions, s.Action...)
		}
	}
	slices.Sort(actions)
	return slices.Compact(actions)
}

// without returns the documents as they would be without an action.
func without(documents []policy.Document, action string) (fewer []policy.Document) {
	for _, d := range documents {
		d.Statement = slices.Clone(d.Statement)
		for i, s := range d.Statement {
			d.Statement[i].Action = slices.DeleteFunc(slices.Clone(s.Action), func(a string) bool { return a == action })
		}
		fewer = append(fewer, d)
	}
	return fewer
}

// guarded returns an emulator that enforces policies on the controller alone.
func guarded(t *testing.T, documents []policy.Document) *emulator {
	t.Helper()
	return newEmulator(t, func(c *configuration) {
		c.Accounts = map[string]string{controllerKey: account}
		c.Policies = map[string][]policy.Document{controllerKey: documents}
	})
}

// From the first look to the end of a class, the controller does only what its policies allow, and needs
// each action that they grant: without that action some call would be denied.
func TestPoliciesAreEnoughAndNeeded(t *testing.T) {
	t.Parallel()
	documents := granted(t)
	e := guarded(t, documents)
	ctx := t.Context()
	defer func() {
		for _, r := range e.Asked() {
			if !policy.Allows(documents, r) {
				t.Errorf("denied: %s on %s with %v", r.Action, r.Resource, r.Keys)
			}
		}
	}()
	e.reserve(`{"instanceType":"m5.large","zone":"us-west-2b","count":1,"criteria":"targeted","tags":{"team":"a"}}`)
	got(e.ec2().CreatePlacementGroup(ctx, &ec2.CreatePlacementGroupInput{GroupName: sdk.String("near"), Strategy: "cluster"}))(t)
	class := roleClass()
	class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: "near"}
	class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "a"}}}
	b := e.backend(controllerKey, class)
	b.becomeReady()
	claim := request("1")
	claim.Requirements = requirement.NewSet(requirement.New(requirement.KeyInstanceType, requirement.In, "m5.large"))
	bought := got(b.Provider.Create(ctx, claim))(t)
	e.pass(10 * time.Second)
	got(b.Provider.Get(ctx, bought.ProviderID))(t)
	labeller := b.Provider.(interface {
		Label(context.Context, string, map[string]string) error
	})
	if err := labeller.Label(ctx, bought.ProviderID, map[string]string{"Name": "node-1", "karpenter.sh/nodeclaim": "claim-1"}); err != nil {
		t.Error(err)
	}
	e.cause(`{"kind":"scheduled-change"}`)
	for _, name := range []string{"interruption", "interruption.instancestatus", "providers.launchtemplate", "instanceprofile.garbagecollection"} {
		b.run(name, "")
	}
	if err := b.Provider.Delete(ctx, bought.ProviderID); err != nil {
		t.Error(err)
	}
	e.pass(time.Hour)
	made := &awsv1.EC2NodeClass{}
	if err := b.server.Get(ctx, client.ObjectKey{Name: "ready"}, made); err != nil {
		t.Fatal(err)
	}
	if err := b.server.Delete(ctx, made); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b.run("nodeclass", "ready")
	}
	asked := e.Asked()
	for _, action := range actionsOf(documents) {
		fewer := without(documents, action)
		if !slices.ContainsFunc(asked, func(r policy.Request) bool { return !policy.Allows(fewer, r) }) {
			t.Errorf("%s is granted, and nothing needs it", action)
		}
	}
}

// Without an action that it needs, a launch is refused in EC2's words. Resources of others, or of no
// cluster, are out of reach. Callers without policies may do everything.
func TestPoliciesAreEnforced(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := guarded(t, granted(t))
	stranger := e.runningFleet("on-demand", 1)[0] // an administrator made it: no tag says that the cluster owns it
	controller := ec2.NewFromConfig(e.config(controllerKey, region))
	codes(t, map[string]func() error{
		"another's instance: UnauthorizedOperation": func() error {
			_, err := controller.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{stranger}})
			return err
		},
		"another's instance, rehearsed: UnauthorizedOperation": func() error {
			_, err := controller.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{stranger}, DryRun: sdk.Bool(true)})
			return err
		},
		"tags on it: UnauthorizedOperation": func() error {
			_, err := controller.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{stranger}, Tags: tags("kubernetes.io/cluster/lab", "owned")})
			return err
		},
		"an action that is not granted: UnauthorizedOperation": func() error {
			_, err := controller.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
			return err
		},
		"another region: UnauthorizedOperation": func() error {
			_, err := ec2.NewFromConfig(e.config(controllerKey, "eu-west-1")).DescribeImages(ctx, &ec2.DescribeImagesInput{})
			return err
		},
	})
	for _, action := range []string{"iam:PassRole", "ec2:CreateTags", "ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"} {
		e := guarded(t, without(granted(t), action))
		b := e.backend(controllerKey, roleClass())
		if action != "iam:PassRole" {
			made := b.becomeReady()
			if _, err := b.Provider.Create(ctx, request("1")); err == nil {
				t.Errorf("without %s something is launched; the class says %+v", action, made.Status.Conditions)
			}
			continue
		}
		for _, name := range []string{"providers.instancetype", "providers.pricing"} {
			b.run(name, "")
		}
		for range 2 {
			_, err := b.controllers["nodeclass"].Reconcile(ctx, reconcile.Key{Name: "ready"})
			if err != nil && !strings.Contains(err.Error(), "AccessDenied") {
				t.Errorf("without %s: %v", action, err)
			}
		}
		if instances := e.World().Survey(); len(instances) != 0 {
			t.Errorf("without %s there are instances: %+v", action, instances)
		}
	}
}
