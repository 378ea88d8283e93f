// Package eventbridge is the wire interface of EventBridge: it tells which events the account's rules send to the
// queue of notices.
package eventbridge

import (
	"slices"

	"tenon/core/order"
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// rules are the patterns of all rules, by name.
var rules = map[string]string{
	"HealthEvent":              `{"source":["aws.health"],"detail-type":["AWS Health Event"]}`,
	"InstanceStateChange":      `{"source":["aws.ec2"],"detail-type":["EC2 Instance State-change Notification"]}`,
	"RebalanceRecommendation":  `{"source":["aws.ec2"],"detail-type":["EC2 Instance Rebalance Recommendation"]}`,
	"ReservationInterruption":  `{"source":["aws.ec2"],"detail-type":["EC2 Capacity Reservation Instance Interruption Warning"]}`,
	"SpotInstanceInterruption": `{"source":["aws.ec2"],"detail-type":["EC2 Spot Instance Interruption Warning"]}`,
}

// Service serves EventBridge on the given world.
func Service(w *accounts.World) *wire.Service {
	return &wire.Service{
		Name: "events", Protocol: wire.JSON11, Target: "AWSEvents",
		Operations: map[string]wire.Handler{
			"ListRuleNamesByTarget": wire.Operation(func(c *wire.Call, in *listInput) (*listOutput, error) {
				out := &listOutput{RuleNames: []string{}}
				return out, w.Do(c.Account, c.Region, func(r *accounts.Region) error {
					if slices.Contains(r.QueueNames(), r.NoticeQueue()) && in.TargetArn == r.ARN("sqs", r.NoticeQueue()) {
						out.RuleNames = order.Keys(rules)
					}
					return nil
				})
			}),
			"DescribeRule": wire.Operation(func(_ *wire.Call, in *ruleInput) (*ruleOutput, error) {
				pattern, known := rules[in.Name]
				if !known {
					return nil, wire.Errorf("ResourceNotFoundException", "Rule %s does not exist on EventBus default.", in.Name)
				}
				return &ruleOutput{in.Name, pattern, "ENABLED"}, nil
			}),
		},
	}
}

type listInput struct{ TargetArn string }

type listOutput struct{ RuleNames []string }

type ruleInput struct{ Name string }

type ruleOutput struct{ Name, EventPattern, State string }
