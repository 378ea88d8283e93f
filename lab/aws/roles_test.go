package aws_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

const (
	trust      = `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]}`
	document   = `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"}]}`
	workerNode = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
)

// IAM API, DeleteRole: "Before attempting to delete a role, remove the following attached items: Inline
// policies (DeleteRolePolicy), Attached managed policies (DetachRolePolicy), Instance profile
// (RemoveRoleFromInstanceProfile)". GetRole, GetRolePolicy: documents are "URL-encoded compliant with RFC 3986".
func TestRoles(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, client := t.Context(), iam.NewFromConfig(e.config(account, region))
	name := sdk.String("nodes")
	create := func() error {
		_, err := client.CreateRole(ctx, &iam.CreateRoleInput{RoleName: name, AssumeRolePolicyDocument: sdk.String(trust), Path: sdk.String("/a/")})
		return err
	}
	remove := func() error { _, err := client.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: name}); return err }
	if err := create(); err != nil {
		t.Fatal(err)
	}
	role := got(client.GetRole(ctx, &iam.GetRoleInput{RoleName: name}))(t).Role
	if *role.Arn != "arn:aws:iam::"+account+":role/a/nodes" || got(url.PathUnescape(*role.AssumeRolePolicyDocument))(t) != trust || strings.Contains(*role.AssumeRolePolicyDocument, " ") {
		t.Errorf("role = %s, trusts %s", *role.Arn, *role.AssumeRolePolicyDocument)
	}
	for range 2 { // to attach again changes nothing
		got(client.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: name, PolicyArn: sdk.String(workerNode)}))(t)
	}
	got(client.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: name, PolicyName: sdk.String("own"), PolicyDocument: sdk.String(document)}))(t)
	profile := sdk.String("nodes")
	got(client.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: profile}))(t)
	got(client.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: profile, RoleName: name}))(t)
	attached := got(client.ListAttachedRolePolicies(ctx, &iam.ListAttachedRolePoliciesInput{RoleName: name}))(t).AttachedPolicies
	inline := got(client.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: name}))(t).PolicyNames
	profiles := got(client.ListInstanceProfilesForRole(ctx, &iam.ListInstanceProfilesForRoleInput{RoleName: name}))(t).InstanceProfiles
	if len(attached) != 1 || *attached[0].PolicyName != "AmazonEKSWorkerNodePolicy" || !slices.Equal(inline, []string{"own"}) || len(profiles) != 1 {
		t.Errorf("attached %+v, inline %v, profiles %+v", attached, inline, profiles)
	}
	if own := got(client.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: name, PolicyName: sdk.String("own")}))(t); got(url.PathUnescape(*own.PolicyDocument))(t) != document {
		t.Errorf("document = %s", *own.PolicyDocument)
	}
	codes(t, map[string]func() error{
		"created twice: EntityAlreadyExists":   create,
		"has managed policies: DeleteConflict": remove,
		"a bad name: ValidationError": func() error {
			_, err := client.CreateRole(ctx, &iam.CreateRoleInput{RoleName: sdk.String("a/b"), AssumeRolePolicyDocument: sdk.String(trust)})
			return err
		},
		"no JSON: MalformedPolicyDocument": func() error {
			_, err := client.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: name, PolicyDocument: sdk.String("{")})
			return err
		},
		"an unknown policy: NoSuchEntity": func() error {
			_, err := client.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: name, PolicyArn: sdk.String("arn:aws:iam::aws:policy/None")})
			return err
		},
		"too long: LimitExceeded": func() error {
			long := strings.Replace(document, "*", strings.Repeat("x", 11000), 1)
			_, err := client.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: name, PolicyName: sdk.String("long"), PolicyDocument: &long})
			return err
		},
	})
	got(client.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: name, PolicyArn: sdk.String(workerNode)}))(t)
	codes(t, map[string]func() error{
		"has inline policies: DeleteConflict": remove,
		"detached twice: NoSuchEntity": func() error {
			_, err := client.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: name, PolicyArn: sdk.String(workerNode)})
			return err
		},
	})
	got(client.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: name, PolicyName: sdk.String("own")}))(t)
	codes(t, map[string]func() error{"is in a profile: DeleteConflict": remove})
	got(client.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: profile, RoleName: name}))(t)
	if err := remove(); err != nil {
		t.Error(err)
	}
	codes(t, map[string]func() error{"gone: NoSuchEntity": remove})
	pages := iam.NewListRolesPaginator(client, &iam.ListRolesInput{MaxItems: sdk.Int32(1)})
	var names []string
	for pages.HasMorePages() {
		for _, r := range got(pages.NextPage(ctx))(t).Roles {
			names = append(names, *r.RoleName)
		}
	}
	if !slices.Equal(names, []string{"KarpenterNodeRole-lab", "StrangerRole-lab"}) {
		t.Errorf("roles = %v", names)
	}
}

// IAM API, DeletePolicy: "Before you can delete a managed policy, you must first detach the policy from all
// users, groups, and roles that it is attached to." A managed policy has at most 6,144 characters.
func TestPolicies(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, client := t.Context(), iam.NewFromConfig(e.config(account, region))
	create := func(text string) (*iam.CreatePolicyOutput, error) {
		return client.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: sdk.String("reads"), PolicyDocument: &text})
	}
	arn := got(create(document))(t).Policy.Arn
	role := sdk.String("KarpenterNodeRole-lab")
	got(client.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: role, PolicyArn: arn}))(t)
	if p := got(client.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: arn}))(t).Policy; *p.AttachmentCount != 1 || *p.DefaultVersionId != "v1" || !p.IsAttachable {
		t.Errorf("policy = %+v", p)
	}
	version := got(client.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{PolicyArn: arn, VersionId: sdk.String("v1")}))(t).PolicyVersion
	if got(url.PathUnescape(*version.Document))(t) != document || !version.IsDefaultVersion {
		t.Errorf("version = %+v", version)
	}
	if own := got(client.ListPolicies(ctx, &iam.ListPoliciesInput{Scope: "Local"}))(t).Policies; len(own) != 1 || *own[0].PolicyName != "reads" {
		t.Errorf("the account's own = %+v", own)
	}
	remove := func() error { _, err := client.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: arn}); return err }
	codes(t, map[string]func() error{
		"twice: EntityAlreadyExists":            func() error { _, err := create(document); return err },
		"no statement: MalformedPolicyDocument": func() error { _, err := create(`{"Version": "2012-10-17"}`); return err },
		"attached: DeleteConflict":              remove,
	})
	got(client.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: role, PolicyArn: arn}))(t)
	if err := remove(); err != nil {
		t.Error(err)
	}
	codes(t, map[string]func() error{
		"gone: NoSuchEntity": remove,
		"too long: LimitExceeded": func() error {
			_, err := create(strings.Replace(document, "*", strings.Repeat("x", 6144), 1))
			return err
		},
	})
}

// EKS API, AccessEntry: "If you don't delete the access entry and ever recreate the IAM principal, even if
// it has the same ARN, the access entry won't work." CreateAccessEntry: "You can't specify the same ARN in
// more than one access entry"; with EC2_LINUX "you can't specify values for kubernetesGroups".
func TestAccessEntries(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, w := t.Context(), e.discover()
	roles, clusters := iam.NewFromConfig(e.config(account, region)), eks.NewFromConfig(e.config(account, region))
	name, cluster := sdk.String("fresh"), sdk.String("lab")
	newRole := func() *string {
		return got(roles.CreateRole(ctx, &iam.CreateRoleInput{RoleName: name, AssumeRolePolicyDocument: sdk.String(trust)}))(t).Role.Arn
	}
	arn := newRole()
	got(roles.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: name}))(t)
	got(roles.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: name}))(t)
	e.template(w, "nodes", func(d *types.RequestLaunchTemplateData) { d.IamInstanceProfile.Name = name })
	joins := func(when string, want bool) {
		t.Helper()
		before := len(e.machines.all())
		id := ids(got(e.ec2().CreateFleet(ctx, e.fleet(w, "nodes", "on-demand", 1, "m5.large a")))(t))[0]
		e.pass(10 * time.Second)
		if joined := len(e.machines.all()) > before; joined != want {
			t.Errorf("%s: joins %t, want %t; %s", when, joined, want, e.console(id))
		}
		got(e.ec2().TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}}))(t)
	}
	create := func(change ...func(*eks.CreateAccessEntryInput)) (*eks.CreateAccessEntryOutput, error) {
		in := &eks.CreateAccessEntryInput{ClusterName: cluster, PrincipalArn: arn, Type: sdk.String("EC2_LINUX"), ClientRequestToken: sdk.String("1"), Tags: map[string]string{"team": "a"}}
		for _, f := range change {
			f(in)
		}
		return clusters.CreateAccessEntry(ctx, in)
	}
	joins("without an entry", false)
	made := got(create())(t).AccessEntry
	if *made.Username != "system:node:{{EC2PrivateDNSName}}" || !slices.Equal(made.KubernetesGroups, []string{"system:nodes"}) || made.Tags["team"] != "a" || !made.CreatedAt.Equal(start.Add(10*time.Second)) {
		t.Errorf("entry = %+v", made)
	}
	got(create())(t) // the same token
	joins("with an entry", true)
	seen := got(clusters.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: cluster, PrincipalArn: arn}))(t).AccessEntry
	list := got(clusters.ListAccessEntries(ctx, &eks.ListAccessEntriesInput{ClusterName: cluster}))(t).AccessEntries
	if *seen.Type != "EC2_LINUX" || !slices.Equal(list, []string{"arn:aws:iam::" + account + ":role/KarpenterNodeRole-lab", *arn}) {
		t.Errorf("described as %+v, listed %v", seen, list)
	}
	failing := func(change func(*eks.CreateAccessEntryInput)) func() error {
		return func() error { _, err := create(change); return err }
	}
	codes(t, map[string]func() error{
		"another request: ResourceInUseException": failing(func(in *eks.CreateAccessEntryInput) { in.ClientRequestToken = sdk.String("2") }),
		"no such role: InvalidParameterException": failing(func(in *eks.CreateAccessEntryInput) {
			in.PrincipalArn = sdk.String("arn:aws:iam::" + account + ":role/none")
		}),
		"groups: InvalidRequestException":            failing(func(in *eks.CreateAccessEntryInput) { in.KubernetesGroups = []string{"a"} }),
		"another type: InvalidParameterException":    failing(func(in *eks.CreateAccessEntryInput) { in.Type = sdk.String("LAPTOP") }),
		"another cluster: ResourceNotFoundException": failing(func(in *eks.CreateAccessEntryInput) { in.ClusterName = sdk.String("prod") }),
	})
	got(roles.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: name, RoleName: name}))(t)
	got(roles.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: name}))(t)
	newRole()
	got(roles.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: name}))(t)
	joins("with a role that was made again", false)
	remove := func() error {
		_, err := clusters.DeleteAccessEntry(ctx, &eks.DeleteAccessEntryInput{ClusterName: cluster, PrincipalArn: arn})
		return err
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	codes(t, map[string]func() error{"deleted: ResourceNotFoundException": remove})
	standard := got(create(func(in *eks.CreateAccessEntryInput) { in.Type = nil }))(t).AccessEntry
	if *standard.Type != "STANDARD" || *standard.Username != "arn:aws:sts::"+account+":assumed-role/fresh/{{SessionName}}" {
		t.Errorf("standard entry = %+v", standard)
	}
	joins("with an entry for people", false)
	changed := got(clusters.UpdateAccessEntry(ctx, &eks.UpdateAccessEntryInput{ClusterName: cluster, PrincipalArn: arn, KubernetesGroups: []string{"viewers"}}))(t).AccessEntry
	if !slices.Equal(changed.KubernetesGroups, []string{"viewers"}) {
		t.Errorf("changed = %+v", changed)
	}
}
