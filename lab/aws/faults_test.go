package aws_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"tenon/lab/aws"
	"tenon/lab/kubelet"
)

// notice holds the parts of a queued message that tests look at.
type notice struct {
	Kind   string `json:"detail-type"`
	Source string
	Time   time.Time
	Detail struct {
		ID       string `json:"instance-id"`
		State    string
		Service  string
		Category string `json:"eventTypeCategory"`
		Affected []struct {
			Value string `json:"entityValue"`
		} `json:"affectedEntities"`
	}
}

// notices takes all messages out of the queue, and leaves out state changes unless the test asks for
// them.
func (e *emulator) notices(states bool) (list []notice) {
	e.t.Helper()
	client := sqs.NewFromConfig(e.config(account, region))
	url := sdk.String("lab")
	for {
		out := got(client.ReceiveMessage(e.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 10}))(e.t)
		if len(out.Messages) == 0 {
			return list
		}
		for _, m := range out.Messages {
			var n notice
			if err := json.Unmarshal([]byte(*m.Body), &n); err != nil {
				e.t.Fatalf("%s: %v", *m.Body, err)
			}
			if states || n.Detail.State == "" {
				list = append(list, n)
			}
			got(client.DeleteMessage(e.t.Context(), &sqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: m.ReceiptHandle}))(e.t)
		}
	}
}

// runningFleet launches instances and waits until they run.
func (e *emulator) runningFleet(capacityType string, count int32) []string {
	e.t.Helper()
	w := e.discover()
	e.template(w, "nodes")
	made := ids(got(e.ec2().CreateFleet(e.t.Context(), e.fleet(w, "nodes", capacityType, count, "m5.large a", "c5.large b")))(e.t))
	e.pass(10 * time.Second)
	return made
}

// EC2 User Guide, "Spot Instance interruption notices": "a warning that is issued two minutes before Amazon EC2 stops or terminates your
// Spot Instance".
func TestSpotInterruption(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	made := e.runningFleet("spot", 10)
	struck := e.cause(`{"kind": "spot-interruption", "share": 0.2, "instances": ["i-*"]}`)
	if len(made) != 10 || len(struck) != 2 {
		t.Fatalf("%d of %d instances are struck, want 2 of 10", len(struck), len(made))
	}
	told := map[string]bool{}
	for _, n := range e.notices(false) {
		if n.Kind != "EC2 Spot Instance Interruption Warning" || n.Source != "aws.ec2" || !n.Time.Equal(start.Add(10*time.Second)) {
			t.Errorf("notice = %+v", n)
		}
		told[n.Detail.ID] = true
	}
	if len(told) != 2 || !told[struck[0]] || !told[struck[1]] {
		t.Errorf("told %v, struck %v", told, struck)
	}
	e.pass(2*time.Minute - time.Second)
	if s := e.instance(struck[0]).State.Name; s != "running" {
		t.Errorf("a second before the end it is %s", s)
	}
	e.pass(time.Second)
	i := e.instance(struck[0])
	if i.State.Name != "shutting-down" || *i.StateReason.Code != "Server.SpotInstanceTermination" {
		t.Errorf("at the end it is %s because of %+v", i.State.Name, i.StateReason)
	}
	states := map[string]bool{}
	for _, n := range e.notices(true) {
		states[n.Detail.ID+n.Detail.State] = true
	}
	if !states[struck[0]+"shutting-down"] {
		t.Errorf("no state change in the queue: %v", states)
	}
}

func TestOtherNotices(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	made := e.runningFleet("on-demand", 1)
	if struck := e.cause(`{"kind": "spot-interruption"}`); len(struck) != 0 {
		t.Errorf("an on-demand instance was interrupted: %v", struck)
	}
	e.cause(`{"kind": "scheduled-change", "instances": ["` + made[0] + `"], "after": "1m"}`)
	if early := e.notices(false); len(early) != 0 {
		t.Errorf("before its time: %+v", early)
	}
	e.pass(time.Minute)
	list := e.notices(false)
	if len(list) != 1 || list[0].Source != "aws.health" || list[0].Detail.Service != "EC2" || list[0].Detail.Category != "scheduledChange" || list[0].Detail.Affected[0].Value != made[0] {
		t.Errorf("notices = %+v", list)
	}
	planned := got(e.ec2().DescribeInstanceStatus(t.Context(), &ec2.DescribeInstanceStatusInput{Filters: []types.Filter{filter("event.code", "instance-retirement", "system-reboot")}}))(t)
	if len(planned.InstanceStatuses) != 1 || planned.InstanceStatuses[0].Events[0].Code != "instance-retirement" {
		t.Errorf("planned = %+v", planned.InstanceStatuses)
	}
}

// Instances lose the tags that a fault names, and no other tags.
func TestTagRemoval(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	id := e.runningFleet("on-demand", 1)[0]
	tags := []types.Tag{{Key: sdk.String("karpenter.sh/nodepool"), Value: sdk.String("default")}, {Key: sdk.String("team"), Value: sdk.String("shop")}}
	got(e.ec2().CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{id}, Tags: tags}))(t)
	if struck := e.cause(`{"kind": "tag-removal", "tags": ["karpenter.sh/*"]}`); len(struck) != 1 || struck[0] != id {
		t.Errorf("struck %v, want %s", struck, id)
	}
	left := map[string]string{}
	for _, tag := range e.instance(id).Tags {
		left[*tag.Key] = *tag.Value
	}
	if _, has := left["karpenter.sh/nodepool"]; has || left["team"] != "shop" {
		t.Errorf("tags left are %v, want team alone of the two", left)
	}
}

func TestInstanceFailures(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		state types.InstanceStateName
		check string
		fault kubelet.Fault
	}{
		"terminates": {state: "shutting-down"},
		"stops":      {state: "stopping"},
		"impaired":   {state: "running", check: "impaired", fault: kubelet.Fault{Silent: true}},
		"silent":     {state: "running", fault: kubelet.Fault{Silent: true}},
		"not-ready":  {state: "running", fault: kubelet.Fault{NotReady: true}},
	}
	for how, tc := range cases {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			e := newEmulator(t)
			id := e.runningFleet("on-demand", 1)[0]
			e.cause(`{"kind": "instance-failure", "how": "` + how + `"}`)
			i := e.instance(id)
			if i.State.Name != tc.state {
				t.Errorf("state = %s, want %s", i.State.Name, tc.state)
			}
			impaired := got(e.ec2().DescribeInstanceStatus(t.Context(), &ec2.DescribeInstanceStatusInput{Filters: []types.Filter{filter("instance-status.status", "impaired")}}))(t)
			if (len(impaired.InstanceStatuses) == 1) != (tc.check == "impaired") {
				t.Errorf("impaired = %+v", impaired.InstanceStatuses)
			}
			if tc.check == "impaired" {
				if d := impaired.InstanceStatuses[0].InstanceStatus.Details[0]; d.Status != "failed" || !d.ImpairedSince.Equal(e.clock.Now()) {
					t.Errorf("detail = %+v", d)
				}
			}
			if f := e.machines.faults["aws:///us-west-2b/"+id]; f != tc.fault {
				t.Errorf("machine has %+v, want %+v", e.machines.faults, tc.fault)
			}
		})
	}
}

func TestThrottling(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	e.cause(`{"id": "slow", "kind": "throttle", "service": "ec2", "operations": ["Describe*"], "rate": 2, "burst": 3}`)
	ask := func() string {
		_, err := e.ec2().DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
		return code(err)
	}
	var codes []string
	for range 4 {
		codes = append(codes, ask())
	}
	if want := "[no error no error no error RequestLimitExceeded]"; fmt.Sprint(codes) != want {
		t.Errorf("codes = %v, want %s", codes, want)
	}
	if _, err := e.ec2().DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}); err != nil {
		t.Errorf("another operation is throttled as well: %v", err)
	}
	e.clock.Step(500 * time.Millisecond)
	if c := ask(); c != "no error" {
		t.Errorf("after half a second: %s", c)
	}
	if e.Calls().Count("ec2:DescribeInstances") != 5 {
		t.Errorf("calls = %v", e.Calls().Counts())
	}
	if err := e.Faults().Remove("slow"); err != nil || ask() != "no error" {
		t.Errorf("the fault does not go away: %v", err)
	}
}

func TestErrorsByConfiguration(t *testing.T) {
	t.Parallel()
	cases := []struct {
		fault, ec2, iam, ssm string
	}{
		{`{"kind": "unauthorized"}`, "UnauthorizedOperation", "AccessDenied", "AccessDeniedException"},
		{`{"kind": "expired-credentials"}`, "RequestExpired", "ExpiredToken", "ExpiredTokenException"},
		{`{"kind": "throttle", "rate": 0.001, "burst": 1, "share": 0}`, "RequestLimitExceeded", "Throttling", "ThrottlingException"},
		{`{"kind": "api-error", "code": "InternalError", "message": "An internal error has occurred", "status": 500}`, "InternalError", "InternalError", "InternalError"},
		{`{"kind": "unauthorized", "service": "ec2", "operations": ["DescribeInstances"]}`, "UnauthorizedOperation", "no error", "no error"},
		{`{"kind": "unreachable", "service": "ec2"}`, "no answer", "no error", "no error"},
		{`{"kind": "unauthorized", "region": "eu-west-1"}`, "no error", "no error", "no error"},
		{`{"kind": "unauthorized", "after": "1m"}`, "no error", "no error", "no error"},
	}
	for _, tc := range cases {
		t.Run(tc.fault, func(t *testing.T) {
			t.Parallel()
			e := newEmulator(t)
			e.cause(tc.fault)
			ask := func() [3]string {
				_, a := e.ec2().DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
				_, b := iam.NewFromConfig(e.config(account, region)).ListInstanceProfiles(t.Context(), &iam.ListInstanceProfilesInput{})
				_, c := ssm.NewFromConfig(e.config(account, region)).GetParameters(t.Context(), &ssm.GetParametersInput{Names: []string{"/a"}})
				return [3]string{code(a), code(b), code(c)}
			}
			answers := ask()
			if strings.Contains(tc.fault, "throttle") {
				answers = ask() // the first calls emptied the bucket
			}
			for i, want := range [3]string{tc.ec2, tc.iam, tc.ssm} {
				if !strings.HasPrefix(answers[i], want) {
					t.Errorf("answers = %q, want %q", answers, []string{tc.ec2, tc.iam, tc.ssm})
				}
			}
		})
	}
}

func TestPricingUnreachable(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, func(c *configuration) {
		c.Faults = got(aws.ReadFaults(strings.NewReader(`[{"kind": "unreachable", "service": "pricing", "for": "1h"}]`)))(t)
	})
	client := pricing.NewFromConfig(e.config(account, "us-east-1"))
	in := &pricing.GetProductsInput{ServiceCode: sdk.String("AmazonEC2")}
	if _, err := client.GetProducts(t.Context(), in); !strings.HasPrefix(code(err), "no answer") {
		t.Errorf("%s, want no answer", code(err))
	}
	e.clock.Step(time.Hour)
	if _, err := client.GetProducts(t.Context(), in); err != nil {
		t.Errorf("after the fault's time: %v", err)
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	e.cause(`{"kind": "latency", "operations": ["DescribeInstances"], "delay": "5s"}`)
	answered := make(chan error, 1)
	go func() {
		_, err := e.ec2().DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
		answered <- err
	}()
	e.awaitTimers(1)
	select {
	case err := <-answered:
		t.Fatalf("answered at once: %v", err)
	default:
	}
	e.clock.Step(5 * time.Second)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if last := e.Calls().Last(); last[len(last)-1].Took != 5*time.Second {
		t.Errorf("calls = %+v", last)
	}
}

// The AWS SDK says (ec2 v1.344.0, DescribeInstances): "the result of an API command you run that creates or modifies resources might not
// be immediately available to all subsequent commands you run"; and: "If you specify an instance ID that is not valid, an error is returned."
func TestEventualConsistency(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	e.template(w, "nodes")
	e.cause(`{"kind": "eventual-consistency", "resources": ["instance", "launch-template"], "delay": "5s"}`)
	id := ids(got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "nodes", "on-demand", 1, "m5.large a")))(t))[0]
	e.template(w, "late")
	ask := func() string {
		_, err := e.ec2().DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		list := got(e.ec2().DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{}))(t)
		_, late := e.ec2().DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{"late"}})
		return fmt.Sprintf("%s, %d listed, %s", code(err), len(list.Reservations), code(late))
	}
	if s := ask(); s != "InvalidInstanceID.NotFound, 0 listed, InvalidLaunchTemplateName.NotFoundException" {
		t.Errorf("at first: %s", s)
	}
	e.pass(5 * time.Second)
	if s := ask(); s != "no error, 1 listed, no error" {
		t.Errorf("later: %s", s)
	}
}

func TestBootFaults(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	e.cause(`{"kind": "boot-never-finishes", "zones": ["us-west-2b"], "times": 1}`)
	e.cause(`{"kind": "slow-boot", "factor": 3}`)
	made := e.runningFleet("on-demand", 2)
	booted := e.machines.all()
	if len(booted) != 1 || booted[0].BootDelay != 66*time.Second {
		t.Errorf("machines = %+v", booted)
	}
	if text := e.console(made[0]); !strings.Contains(text, "does not finish") {
		t.Errorf("console = %q", text)
	}
}

func TestControlRefusesNonsense(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	for _, text := range []string{`{}`, `{"kind": "rain"}`, `{"kind": "throttle"}`, `{"kind": "no-capacity", "zone": "a"}`, `{"kind": "latency", "delay": 5}`, `[`, `{"kind": "no-capacity", "share": 2}`} {
		if status, body := e.post("/lab/faults", text); status != http.StatusBadRequest || !strings.Contains(body, "error") {
			t.Errorf("%s: %d %s", text, status, body)
		}
	}
	if list := e.Faults().List(start); len(list) != 0 {
		t.Errorf("faults = %+v", list)
	}
}

func TestUnsignedAndUnknownCalls(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	for name, tc := range map[string]struct{ authorization, form, want string }{
		"no signature":                      {"", "Action=DescribeInstances&Version=2016-11-15", "<Code>MissingAuthenticationToken</Code>"},
		"a strange region":                  {"Credential=a/20260821/moon/ec2/aws4_request", "Action=DescribeInstances&Version=2016-11-15", "<Code>SignatureDoesNotMatch</Code>"},
		"not a credential":                  {"Credential=a", "Action=DescribeInstances&Version=2016-11-15", "<Code>IncompleteSignature</Code>"},
		"an operation that is not modelled": {"Credential=a/20260821/us-west-2/ec2/aws4_request", "Action=DescribeHosts&Version=2016-11-15", "<Code>InvalidAction</Code>"},
		"a parameter that is not modelled":  {"Credential=a/20260821/us-west-2/ec2/aws4_request", "Action=DescribeInstances&Version=2016-11-15&Colour=red", "<Code>UnknownParameter</Code>"},
	} {
		h, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url, strings.NewReader(tc.form))
		if err != nil {
			t.Fatal(err)
		}
		h.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		if tc.authorization != "" {
			h.Header.Set("Authorization", "AWS4-HMAC-SHA256 "+tc.authorization+", SignedHeaders=host, Signature=0")
		}
		if body := e.do(h); !strings.Contains(body, tc.want) {
			t.Errorf("%s: %s, want %s", name, body, tc.want)
		}
	}
}
