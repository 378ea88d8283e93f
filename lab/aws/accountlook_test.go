package aws_test

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"

	"tenon/lab/aws/accounts"
)

// The account tells its quota of vCPUs, and no other than those of standard instances.
func TestServiceQuotas(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, func(c *configuration) { c.Resources.Quotas = accounts.Quotas{OnDemandVCPUs: 16} })
	client := servicequotas.NewFromConfig(e.config(account, region))
	of := func(code string) *servicequotas.GetServiceQuotaInput {
		return &servicequotas.GetServiceQuotaInput{ServiceCode: sdk.String("ec2"), QuotaCode: sdk.String(code)}
	}
	if q := got(client.GetServiceQuota(t.Context(), of("L-1216C47A")))(t).Quota; *q.Value != 16 {
		t.Errorf("on demand = %v, want 16", *q.Value)
	}
	if q := got(client.GetServiceQuota(t.Context(), of("L-34B43A08")))(t).Quota; *q.Value < 1000 {
		t.Errorf("spot = %v, want no limit", *q.Value)
	}
	if _, err := client.GetServiceQuota(t.Context(), of("L-0")); code(err) != "NoSuchResourceException" {
		t.Errorf("an unknown quota: %v", err)
	}
}

// Rules send every kind of notice to the queue of notices, and nothing to another one.
func TestEventRules(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	client := eventbridge.NewFromConfig(e.config(account, region))
	of := func(queue string) []string {
		arn := sdk.String("arn:aws:sqs:" + region + ":" + account + ":" + queue)
		return got(client.ListRuleNamesByTarget(t.Context(), &eventbridge.ListRuleNamesByTargetInput{TargetArn: arn}))(t).RuleNames
	}
	names := of("lab")
	if len(names) != 5 || len(of("other")) != 0 {
		t.Errorf("rules = %v, want five; of another queue %v, want none", names, of("other"))
	}
	for _, name := range names {
		if rule := got(client.DescribeRule(t.Context(), &eventbridge.DescribeRuleInput{Name: sdk.String(name)}))(t); rule.State != "ENABLED" || *rule.EventPattern == "" {
			t.Errorf("rule %s = %+v", name, rule)
		}
	}
	if _, err := client.DescribeRule(t.Context(), &eventbridge.DescribeRuleInput{Name: sdk.String("other")}); code(err) != "ResourceNotFoundException" {
		t.Errorf("an unknown rule: %v", err)
	}
}
