package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"

	"tenon/cloud/aws/network"
	"tenon/internal/preflight"
)

const (
	checkQuotas = "aws-quotas"
	// fewCPUs is the number of vCPUs that a burst of nodes may use up.
	fewCPUs = 64
)

// standard are the families that share the quotas of standard instances, without their generation.
// (EC2 User Guide, "Amazon EC2 instance type quotas": "Standard (A, C, D, H, I, M, R, T, Z)".)
var standard = []string{"a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"}

// vCPUQuota is a quota of EC2 that is counted in vCPUs.
type vCPUQuota struct {
	code, name string
	lifecycle  types.InstanceLifecycle
}

// The quotas of standard instances. On-demand instances have no lifecycle in EC2's answers.
var vCPUQuotas = []vCPUQuota{
	{"L-1216C47A", "Running On-Demand Standard instances", ""},
	{"L-34B43A08", "All Standard Spot Instance Requests", types.InstanceLifecycleSpot},
}

// quotas compares the quotas of standard instances with what runs in the account.
func (l *inspection) quotas(ctx context.Context) []preflight.Finding {
	used, err := l.usedCPUs(ctx)
	if err != nil {
		return []preflight.Finding{{Check: checkQuotas, Level: preflight.Skipped, Text: "the instances of the account could not be counted: " + l.why(err)}}
	}
	var findings []preflight.Finding
	for _, q := range vCPUQuotas {
		findings = append(findings, l.quota(ctx, q, used[q.lifecycle]))
	}
	return findings
}

func (l *inspection) quota(ctx context.Context, q vCPUQuota, used int) preflight.Finding {
	answer, err := l.clients.Quotas.GetServiceQuota(ctx, &servicequotas.GetServiceQuotaInput{ServiceCode: aws.String("ec2"), QuotaCode: aws.String(q.code)})
	if err != nil || answer.Quota == nil || answer.Quota.Value == nil {
		return preflight.Finding{Check: checkQuotas, Level: preflight.Skipped, Text: fmt.Sprintf("the quota %q (%s) could not be read: %s", q.name, q.code, l.unread(err)),
			Means: "launches beyond the quota fail", Remedy: "run it with credentials that are allowed servicequotas:GetServiceQuota; the controller does not need that permission"}
	}
	limit := int(*answer.Quota.Value)
	if limit-used < fewCPUs {
		return preflight.Finding{Check: checkQuotas, Level: preflight.Warning, Text: fmt.Sprintf("%d of %d vCPUs of the quota %q (%s) are in use in %s", used, limit, q.name, q.code, l.clients.Region),
			Means: fmt.Sprintf("launches fail once the other %d vCPUs are in use", max(0, limit-used)),
			Remedy: fmt.Sprintf("ask for more: aws service-quotas request-service-quota-increase --service-code ec2 --quota-code %s --desired-value %d; AWS may take hours to answer",
				q.code, max(2*limit, used+4*fewCPUs))}
	}
	return ok(checkQuotas, "%d of %d vCPUs of the quota %q are in use", used, limit, q.name)
}

// unread says why there is no answer that can be used.
func (l *inspection) unread(err error) string {
	if err == nil {
		return "AWS gives no value"
	}
	return l.why(err)
}

// usedCPUs counts the vCPUs of the standard instances of the whole account, as the quotas do.
func (l *inspection) usedCPUs(ctx context.Context) (map[types.InstanceLifecycle]int, error) {
	used := map[types.InstanceLifecycle]int{}
	var token *string
	for {
		answer, err := l.clients.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{
			Filters: []types.Filter{network.Filter("instance-state-name", "pending", "running")}, MaxResults: aws.Int32(1000), NextToken: token,
		})
		if err != nil {
			return nil, err
		}
		for _, r := range answer.Reservations {
			for _, i := range r.Instances {
				used[lifecycle(i)] += standardCPUs(i)
			}
		}
		if token = answer.NextToken; aws.ToString(token) == "" {
			return used, nil
		}
	}
}

// lifecycle puts all that are not spot instances together.
func lifecycle(i types.Instance) types.InstanceLifecycle {
	if i.InstanceLifecycle == types.InstanceLifecycleTypeSpot {
		return types.InstanceLifecycleSpot
	}
	return ""
}

// standardCPUs returns 0 for the families that have quotas of their own.
func standardCPUs(i types.Instance) int {
	family := string(i.InstanceType)
	if digit := strings.IndexAny(family, "0123456789"); digit >= 0 {
		family = family[:digit]
	}
	if i.CpuOptions == nil || !slices.Contains(standard, family) {
		return 0
	}
	return int(aws.ToInt32(i.CpuOptions.CoreCount) * aws.ToInt32(i.CpuOptions.ThreadsPerCore))
}
