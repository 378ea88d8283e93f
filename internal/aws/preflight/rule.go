package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"tenon/internal/preflight"
)

const checkRules = "aws-rules"

// notices are the events that the queue has to get, as EventBridge names them, with what happens without them.
var notices = []struct{ name, means string }{
	{"EC2 Spot Instance Interruption Warning", "spot machines end without their pods being moved first"},
	{"EC2 Instance Rebalance Recommendation", "recommendations to leave a spot machine are not reported"},
	{"EC2 Instance State-change Notification", "pods of a machine that was stopped or ended by others wait until Kubernetes misses it"},
	{"EC2 Capacity Reservation Instance Interruption Warning", "machines of an interruptible reservation end without their pods being moved first"},
	{"AWS Health Event", "scheduled maintenance ends machines without their pods being moved first"},
}

// rules says which notices EventBridge does not send to the queue with this ARN.
func (l *inspection) rules(ctx context.Context, queue string) []preflight.Finding {
	sent, err := l.sent(ctx, queue)
	if err != nil {
		return []preflight.Finding{{Check: checkRules, Level: preflight.Skipped, Text: "the EventBridge rules of the queue could not be read: " + l.why(err),
			Means:  "whether notices reach the queue is not known",
			Remedy: "run it with credentials that are allowed events:ListRuleNamesByTarget and events:DescribeRule; the controller does not need those permissions"}}
	}
	var findings []preflight.Finding
	for _, n := range notices {
		if !slices.Contains(sent, n.name) {
			findings = append(findings, preflight.Finding{Check: checkRules, Level: preflight.Warning, Text: fmt.Sprintf("no enabled EventBridge rule sends %q to the queue %s", n.name, l.Queue),
				Means: n.means, Remedy: "apply deploy/aws, which makes the rules, or: " + ruleCommand(n.name, queue)})
		}
	}
	if len(findings) == 0 {
		findings = append(findings, ok(checkRules, "EventBridge sends all %d kinds of notices to the queue %s", len(notices), l.Queue))
	}
	return findings
}

// ruleCommand makes the rule that is missing.
func ruleCommand(notice, queue string) string {
	name := strings.ReplaceAll(notice, " ", "")
	return fmt.Sprintf(`aws events put-rule --name %s --event-pattern '{"detail-type":["%s"]}' && aws events put-targets --rule %s --targets Id=InterruptionQueue,Arn=%s`, name, notice, name, queue)
}

// sent returns the events that enabled rules send to the queue.
func (l *inspection) sent(ctx context.Context, queue string) ([]string, error) {
	var sent []string
	var token *string
	for {
		page, err := l.clients.Events.ListRuleNamesByTarget(ctx, &eventbridge.ListRuleNamesByTargetInput{TargetArn: aws.String(queue), NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, name := range page.RuleNames {
			rule, err := l.clients.Events.DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: aws.String(name)})
			if err != nil {
				return nil, err
			}
			if rule.State != types.RuleStateDisabled {
				sent = append(sent, eventsOf(aws.ToString(rule.EventPattern))...)
			}
		}
		if token = page.NextToken; aws.ToString(token) == "" {
			return sent, nil
		}
	}
}

// eventsOf returns the names of the events that a pattern selects. A pattern without names selects every
// event of its sources.
func eventsOf(pattern string) []string {
	var p struct {
		Source []string `json:"source"`
		Detail []string `json:"detail-type"`
	}
	if err := json.Unmarshal([]byte(pattern), &p); err != nil {
		return nil // a rule with a schedule, or with a prefix instead of names: it does not count
	}
	if len(p.Detail) > 0 {
		return p.Detail
	}
	var all []string
	for _, n := range notices {
		source := "aws.ec2"
		if n.name == "AWS Health Event" {
			source = "aws.health"
		}
		if slices.Contains(p.Source, source) {
			all = append(all, n.name)
		}
	}
	return all
}
