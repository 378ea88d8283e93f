package aws_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

func TestInstanceProfiles(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx := t.Context()
	client := iam.NewFromConfig(e.config(account, region))
	name, role := sdk.String("lab_123"), sdk.String("KarpenterNodeRole-lab")
	if _, err := client.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: name}); code(err) != "NoSuchEntity" {
		t.Errorf("before: %s", code(err))
	}
	create := &iam.CreateInstanceProfileInput{InstanceProfileName: name, Path: sdk.String("/karpenter/us-west-2/lab/uid/"),
		Tags: []iamtypes.Tag{{Key: sdk.String("karpenter.k8s.aws/ec2nodeclass"), Value: sdk.String("default")}}}
	got(client.CreateInstanceProfile(ctx, create))(t)
	if _, err := client.CreateInstanceProfile(ctx, create); code(err) != "EntityAlreadyExists" {
		t.Errorf("twice: %s", code(err))
	}
	_, err := client.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: sdk.String("nobody")})
	if code(err) != "NoSuchEntity" || !strings.Contains(err.Error(), "role") {
		t.Errorf("a role that does not exist: %v", err)
	}
	got(client.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: role}))(t)
	p := got(client.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: name}))(t).InstanceProfile
	if *p.Roles[0].RoleName != *role || *p.Path != *create.Path || *p.Tags[0].Value != "default" {
		t.Errorf("profile = %+v", p)
	}
	list := got(client.ListInstanceProfiles(ctx, &iam.ListInstanceProfilesInput{PathPrefix: sdk.String("/karpenter/us-west-2/lab/")}))(t)
	if len(list.InstanceProfiles) != 1 || list.IsTruncated {
		t.Errorf("list = %+v", list)
	}
	all := iam.NewListInstanceProfilesPaginator(client, &iam.ListInstanceProfilesInput{MaxItems: sdk.Int32(1)})
	count := 0
	for all.HasMorePages() {
		count += len(got(all.NextPage(ctx))(t).InstanceProfiles)
	}
	if count != 3 {
		t.Errorf("%d profiles on pages of one, want 3", count)
	}
	remove := &iam.DeleteInstanceProfileInput{InstanceProfileName: name}
	if _, err := client.DeleteInstanceProfile(ctx, remove); code(err) != "DeleteConflict" {
		t.Errorf("deleted with a role in it: %s", code(err))
	}
	got(client.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: name, RoleName: role}))(t)
	got(client.DeleteInstanceProfile(ctx, remove))(t)
}

func TestClusterAndCaller(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	clusters := eks.NewFromConfig(e.config(account, region))
	c := got(clusters.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: sdk.String("lab")}))(t).Cluster
	if *c.Endpoint != "https://127.0.0.1:6443" || *c.Version != "1.36" || *c.KubernetesNetworkConfig.ServiceIpv4Cidr != "10.96.0.0/12" || *c.Arn != "arn:aws:eks:us-west-2:000000000001:cluster/lab" {
		t.Errorf("cluster = %+v", c)
	}
	if _, err := clusters.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: sdk.String("prod")}); code(err) != "ResourceNotFoundException" {
		t.Errorf("another cluster: %s", code(err))
	}
	tokens := sts.NewFromConfig(e.config("123456789012", region))
	if me := got(tokens.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}))(t); *me.Account != "123456789012" {
		t.Errorf("account = %s", *me.Account)
	}
	web := got(tokens.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{RoleArn: sdk.String("arn:aws:iam::210987654321:role/controller"),
		RoleSessionName: sdk.String("s"), WebIdentityToken: sdk.String("jwt")}))(t)
	if *web.Credentials.AccessKeyId != "210987654321" || !web.Credentials.Expiration.Equal(start.Add(time.Hour)) {
		t.Errorf("credentials = %+v", web.Credentials)
	}
}

func TestParametersThatDoNotExist(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	_, err := ssm.NewFromConfig(e.config(account, region)).GetParameter(t.Context(), &ssm.GetParameterInput{Name: sdk.String("/none")})
	if code(err) != "ParameterNotFound" {
		t.Errorf("%s, want ParameterNotFound", code(err))
	}
}

func TestAccountsAndRegionsAreApart(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	vpc := func(account, region string) string {
		out := got(ec2.NewFromConfig(e.config(account, region)).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("tag-key", "karpenter.sh/discovery")}}))(t)
		if !strings.HasPrefix(*out.Subnets[0].AvailabilityZone, region) || *out.Subnets[0].OwnerId != account {
			t.Errorf("%s in %s sees %+v", account, region, out.Subnets[0])
		}
		return *out.Subnets[0].VpcId
	}
	seen := []string{vpc(account, "us-west-2"), vpc(account, "eu-west-1"), vpc("000000000002", "us-west-2")}
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 3 {
		t.Errorf("networks = %v, want three", seen)
	}
}

// The AWS SDK says (sqs v1.52.9, ReceiveMessageInput.VisibilityTimeout): "If the message is not deleted or its visibility timeout is not
// extended before the timeout expires, it becomes visible again".
func TestQueue(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx := t.Context()
	client := sqs.NewFromConfig(e.config(account, region))
	if _, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: sdk.String("none")}); code(err) != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("a queue that does not exist: %s", code(err))
	}
	url := got(client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: sdk.String("lab")}))(t).QueueUrl
	if !strings.HasSuffix(*url, "/000000000001/lab") {
		t.Errorf("url = %s", *url)
	}
	for range 12 {
		got(client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url, MessageBody: sdk.String("{}")}))(t)
	}
	receive := func() []sqstypes.Message {
		return got(client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 10, VisibilityTimeout: 20,
			MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"SentTimestamp"}, MessageAttributeNames: []string{"All"}}))(t).Messages
	}
	first := receive()
	if len(first) != 10 || first[0].Attributes["SentTimestamp"] == "" || *first[0].Body != "{}" {
		t.Fatalf("received %d: %+v", len(first), first)
	}
	if rest := receive(); len(rest) != 2 {
		t.Errorf("then received %d, want 2", len(rest))
	}
	for _, m := range first {
		got(client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: m.ReceiptHandle}))(t)
	}
	e.pass(20 * time.Second)
	if again := receive(); len(again) != 2 {
		t.Errorf("after the visibility timeout received %d, want the 2 that were not deleted", len(again))
	}
	e.pass(5 * time.Minute)
	if old := receive(); len(old) != 0 {
		t.Errorf("after the retention received %d", len(old))
	}
}

// A message wakes a waiting receiver, and so does the end of its patience. (AWS SDK, sqs v1.52.9, WaitTimeSeconds: "If no messages are
// available and the wait time expires, the call does not return a message list.")
func TestQueueLongPoll(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	client := sqs.NewFromConfig(e.config(account, region))
	in := &sqs.ReceiveMessageInput{QueueUrl: sdk.String(e.url + "/000000000001/lab"), WaitTimeSeconds: 20}
	answers := make(chan int, 1)
	poll := func() {
		out, err := client.ReceiveMessage(context.WithoutCancel(t.Context()), in)
		if err != nil {
			t.Error(err)
			answers <- -1
			return
		}
		answers <- len(out.Messages)
	}
	go poll()
	e.awaitTimers(1)
	got(client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: in.QueueUrl, MessageBody: sdk.String("x")}))(t)
	if n := <-answers; n != 1 {
		t.Errorf("woken with %d messages, want 1", n)
	}
	go poll()
	e.awaitTimers(1)
	e.clock.Step(20 * time.Second)
	if n := <-answers; n != 0 {
		t.Errorf("patience ended with %d messages, want 0", n)
	}
}

// awaitTimers yields until a goroutine waits on the clock.
func (e *emulator) awaitTimers(n int) {
	for e.clock.Waiters() < n {
		runtime.Gosched()
	}
}

// do sends a request without an SDK.
func (e *emulator) do(h *http.Request) string {
	e.t.Helper()
	r := got(http.DefaultClient.Do(h))(e.t)
	defer func() { _ = r.Body.Close() }()
	return string(got(io.ReadAll(r.Body))(e.t))
}

// Older clients speak the query protocol with SQS.
func TestQueueInXML(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ask := func(form string) string {
		h, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url, strings.NewReader(form+"&Version=2012-11-05"))
		if err != nil {
			t.Fatal(err)
		}
		h.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		h.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=000000000001/20260821/us-west-2/sqs/aws4_request, SignedHeaders=host, Signature=0")
		return e.do(h)
	}
	ask("Action=SendMessage&QueueUrl=lab&MessageBody=hello")
	if body := ask("Action=ReceiveMessage&QueueUrl=lab&AttributeName.1=All"); !strings.Contains(body, "<Body>hello</Body>") || !strings.Contains(body, "<Attribute><Name>SentTimestamp</Name>") {
		t.Errorf("received %s", body)
	}
	if body := ask("Action=GetQueueUrl&QueueName=none"); !strings.Contains(body, "<Code>AWS.SimpleQueueService.NonExistentQueue</Code>") {
		t.Errorf("error = %s", body)
	}
	if body := ask("Action=ReceiveMessage&QueueUrl=lab&Colour=red"); !strings.Contains(body, "UnknownParameter") {
		t.Errorf("a parameter that is not modelled is taken: %s", body)
	}
}

func TestZonalShift(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	client := arczonalshift.NewFromConfig(e.config(account, region))
	in := &arczonalshift.GetManagedResourceInput{ResourceIdentifier: sdk.String("arn:aws:eks:us-west-2:000000000001:cluster/lab")}
	if before := got(client.GetManagedResource(t.Context(), in))(t); len(before.ZonalShifts) != 0 {
		t.Errorf("shifts = %+v", before.ZonalShifts)
	}
	e.cause(`{"kind": "zonal-shift", "zones": ["us-west-2a"], "for": "1h"}`)
	shifts := got(client.GetManagedResource(t.Context(), in))(t).ZonalShifts
	if len(shifts) != 1 || *shifts[0].AwayFrom != "usw2-az2" || shifts[0].AppliedStatus != "APPLIED" || !shifts[0].ExpiryTime.Equal(start.Add(time.Hour)) {
		t.Errorf("shifts = %+v", shifts)
	}
}
