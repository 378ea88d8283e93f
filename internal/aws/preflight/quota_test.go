package preflight

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	quotatypes "github.com/aws/aws-sdk-go-v2/service/servicequotas/types"
	"github.com/aws/smithy-go"

	"tenon/cloud/aws/api"
	"tenon/internal/preflight"
)

// denied is the answer of a service to a caller without the permission.
var denied = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized"}

// machines lists instances in pages of one.
type machines struct {
	api.EC2
	running []types.Instance
}

func (m machines) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...api.EC2Options) (*ec2.DescribeInstancesOutput, error) {
	at := len(aws.ToString(in.NextToken))
	if at >= len(m.running) {
		return &ec2.DescribeInstancesOutput{}, nil
	}
	return &ec2.DescribeInstancesOutput{
		NextToken: aws.String(strings.Repeat("x", at+1)), Reservations: []types.Reservation{{Instances: m.running[at : at+1]}},
	}, nil
}

func instance(kind types.InstanceType, lifecycle types.InstanceLifecycleType, cores int32) types.Instance {
	return types.Instance{InstanceType: kind, InstanceLifecycle: lifecycle, CpuOptions: &types.CpuOptions{CoreCount: aws.Int32(cores), ThreadsPerCore: aws.Int32(2)}}
}

// limits holds the value of every quota, or the error of every call.
type limits struct {
	values map[string]float64
	err    error
}

func (l limits) GetServiceQuota(_ context.Context, in *servicequotas.GetServiceQuotaInput, _ ...func(*servicequotas.Options)) (*servicequotas.GetServiceQuotaOutput, error) {
	if l.err != nil {
		return nil, l.err
	}
	return &servicequotas.GetServiceQuotaOutput{Quota: &quotatypes.ServiceQuota{Value: aws.Float64(l.values[*in.QuotaCode])}}, nil
}

// A quota of which little is left is a warning with a remedy; one that cannot be read is skipped.
func TestQuotas(t *testing.T) {
	t.Parallel()
	running := machines{running: []types.Instance{
		instance("m5.4xlarge", "", 8), instance("im4gn.xlarge", "", 2), instance("c7g.large", "spot", 1),
		instance("g5.xlarge", "", 2), instance("inf2.xlarge", "", 2), instance("p4d.24xlarge", "spot", 48), {InstanceType: "m5.large"},
	}}
	for name, tc := range map[string]struct {
		quotas limits
		levels [2]preflight.Level
		texts  [2]string
	}{
		"much is left":       {limits{values: map[string]float64{"L-1216C47A": 640, "L-34B43A08": 640}}, [2]preflight.Level{preflight.OK, preflight.OK}, [2]string{"20 of 640", "2 of 640"}},
		"a new account":      {limits{values: map[string]float64{"L-1216C47A": 16, "L-34B43A08": 5}}, [2]preflight.Level{preflight.Warning, preflight.Warning}, [2]string{"20 of 16", "2 of 5"}},
		"just enough":        {limits{values: map[string]float64{"L-1216C47A": 84, "L-34B43A08": 65}}, [2]preflight.Level{preflight.OK, preflight.Warning}, [2]string{"20 of 84", "2 of 65"}},
		"it may not be read": {limits{err: denied}, [2]preflight.Level{preflight.Skipped, preflight.Skipped}, [2]string{"L-1216C47A", "L-34B43A08"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &inspection{clients: api.Clients{Region: "us-west-2", EC2: running, Quotas: tc.quotas}}
			got := l.quotas(t.Context())
			if len(got) != 2 {
				t.Fatalf("%d findings, want 2: %+v", len(got), got)
			}
			for i, f := range got {
				if f.Check != checkQuotas || f.Level != tc.levels[i] || !strings.Contains(f.Text, tc.texts[i]) {
					t.Errorf("%+v, want %s %q", f, tc.levels[i], tc.texts[i])
				}
				if f.Level != preflight.OK && (f.Means == "" || f.Remedy == "") {
					t.Errorf("%+v: want what follows from it, and a remedy", f)
				}
			}
		})
	}
}

// patterns holds the rules of a queue: disabled ones begin with "off ".
type patterns struct {
	api.Events
	list []string
	err  error
}

func (p patterns) ListRuleNamesByTarget(_ context.Context, in *eventbridge.ListRuleNamesByTargetInput, _ ...func(*eventbridge.Options)) (*eventbridge.ListRuleNamesByTargetOutput, error) {
	if p.err != nil {
		return nil, p.err
	}
	if *in.TargetArn != "arn:aws-cn:sqs:cn-north-1:000000000001:demo" {
		return nil, errors.New("another queue: " + *in.TargetArn)
	}
	return &eventbridge.ListRuleNamesByTargetOutput{RuleNames: p.list}, nil
}

func (p patterns) DescribeRule(_ context.Context, in *eventbridge.DescribeRuleInput, _ ...func(*eventbridge.Options)) (*eventbridge.DescribeRuleOutput, error) {
	pattern, off := strings.CutPrefix(*in.Name, "off ")
	state := eventtypes.RuleStateEnabled
	if off {
		state = eventtypes.RuleStateDisabled
	}
	return &eventbridge.DescribeRuleOutput{EventPattern: aws.String(pattern), State: state}, nil
}

// Each kind of notice that no enabled rule sends to the queue is a warning that names it, with the command that makes the rule.
func TestRules(t *testing.T) {
	t.Parallel()
	const health, machine = `{"source":["aws.health"]}`, `{"source":["aws.ec2"]}`
	const spot = `{"source":["aws.ec2"],"detail-type":["EC2 Spot Instance Interruption Warning"]}`
	for name, tc := range map[string]struct {
		rules    patterns
		level    preflight.Level
		findings int
		text     string
	}{
		"all are there":         {patterns{list: []string{health, machine}}, preflight.OK, 1, "all 5 kinds"},
		"there are none":        {patterns{}, preflight.Warning, 5, "EC2 Spot Instance Interruption Warning"},
		"one is there":          {patterns{list: []string{spot}}, preflight.Warning, 4, "EC2 Instance Rebalance Recommendation"},
		"a disabled one":        {patterns{list: []string{health, "off " + machine}}, preflight.Warning, 4, "EC2 Spot Instance Interruption Warning"},
		"one without a pattern": {patterns{list: []string{""}}, preflight.Warning, 5, "EC2 Spot Instance Interruption Warning"},
		"one that has prefixes": {patterns{list: []string{`{"detail-type":[{"prefix":"EC2"}]}`}}, preflight.Warning, 5, "EC2 Spot Instance Interruption Warning"},
		"they may not be read":  {patterns{err: denied}, preflight.Skipped, 1, "could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &inspection{Options: Options{Queue: "demo"}, partition: "aws-cn", account: "000000000001", clients: api.Clients{Region: "cn-north-1", Events: tc.rules}}
			got := l.rules(t.Context(), l.queueARN())
			if len(got) != tc.findings || got[0].Level != tc.level || !strings.Contains(got[0].Text, tc.text) {
				t.Fatalf("%+v, want %d findings, the first %s %q", got, tc.findings, tc.level, tc.text)
			}
			for _, f := range got {
				if f.Level != preflight.OK && (f.Means == "" || f.Remedy == "") {
					t.Errorf("%+v: want what follows from it, and a remedy", f)
				}
			}
		})
	}
}
