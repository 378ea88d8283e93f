package preflight

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/network"
	"tenon/internal/preflight"
	"tenon/internal/provider"
)

// Options say what is looked at.
type Options struct {
	// ClusterName, Endpoint, Queue, ZonalShift and Isolated are settings.
	ClusterName string
	Endpoint    string
	Queue       string
	ZonalShift  bool
	Isolated    bool
}

// inspection is one preflight, with what it has found out so far.
type inspection struct {
	Options
	provider.Ground
	clients api.Clients
	classes []awsv1.EC2NodeClass
	finder  *network.Finder
	// partition and account are those of the caller.
	partition, account string
	subnet             string
	groups             []string
	image              string
}

// With looks at the account with the options of the time when it is asked.
func With(options func() Options) provider.Preflight {
	return func(ctx context.Context, g provider.Ground) []preflight.Finding {
		clients, err := api.Connect(ctx, api.Options{Version: g.Build, Clock: clock.RealClock{}})
		if err != nil {
			return []preflight.Finding{{Check: "aws-region", Level: preflight.Failed, Text: err.Error(),
				Means: "the controller does not start", Remedy: "set AWS_REGION; pods reach the metadata service of their machine only where its hop limit is 2"}}
		}
		return account(ctx, options(), g, clients)
	}
}

// account looks at the account that clients belong to.
func account(ctx context.Context, o Options, g provider.Ground, clients api.Clients) []preflight.Finding {
	l := &inspection{Options: o, Ground: g, clients: clients, finder: network.New(clients.EC2, clock.RealClock{}, 0, network.NewAddresses())}
	findings := l.identity(ctx)
	if findings[0].Level == preflight.Failed {
		return findings // every further call would say the same
	}
	findings = append(findings, l.settings(ctx), l.instanceMetadata(ctx))
	findings = append(findings, l.network(ctx)...)
	findings = append(findings, run(ctx, l.trials(ctx))...)
	findings = append(findings, l.untried())
	findings = append(findings, l.quotas(ctx)...)
	return append(findings, l.queue(ctx)...)
}

func ok(check, format string, values ...any) preflight.Finding {
	return preflight.Finding{Check: check, Level: preflight.OK, Text: fmt.Sprintf(format, values...)}
}

// identity is whose permissions everything else is about.
func (l *inspection) identity(ctx context.Context) []preflight.Finding {
	const check = "aws-identity"
	answer, err := l.clients.STS.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return []preflight.Finding{{Check: check, Level: preflight.Failed, Text: "AWS does not know the caller: " + l.why(err),
			Means:  "nothing else of the account can be looked at, and the controller could do nothing in it",
			Remedy: "run it where the controller's credentials are: in its pod, or with AWS_PROFILE or AWS_ROLE_ARN set"}}
	}
	l.account, l.partition = aws.ToString(answer.Account), "aws"
	if parts := strings.Split(aws.ToString(answer.Arn), ":"); len(parts) > 1 {
		l.partition = parts[1]
	}
	return []preflight.Finding{ok(check, "calls are made as %s in %s", aws.ToString(answer.Arn), l.clients.Region)}
}

// why is what a service says, or else what went wrong on the way to it.
func (l *inspection) why(err error) string {
	if api.Code(err) != "" {
		return api.Explain(err)
	}
	return err.Error()
}

func (l *inspection) settings(ctx context.Context) preflight.Finding {
	const check = "aws-settings"
	if l.ClusterName == "" {
		return preflight.Finding{Check: check, Level: preflight.Failed, Text: "the name of the cluster is not set",
			Means: "the controller does not start", Remedy: "set --cluster-name or CLUSTER_NAME; in the chart settings.clusterName"}
	}
	if l.Endpoint != "" {
		return ok(check, "the cluster is called %s, and new nodes reach it at %s", l.ClusterName, l.Endpoint)
	}
	_, err := l.clients.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(l.ClusterName)})
	if api.Code(err) == "ResourceNotFoundException" {
		return preflight.Finding{Check: check, Level: preflight.Failed, Text: fmt.Sprintf("EKS has no cluster %s in %s", l.ClusterName, l.clients.Region),
			Means: "new nodes do not know where the API server is", Remedy: "correct --cluster-name or AWS_REGION, or set --cluster-endpoint for a cluster that is not of EKS"}
	}
	return ok(check, "the cluster is called %s", l.ClusterName)
}

// machineSource is how the SDK calls credentials that come from the metadata service of a machine.
const machineSource = "EC2RoleProvider"

// instanceMetadata reports whether the controller's credentials come from the metadata service of its
// machine.
func (l *inspection) instanceMetadata(ctx context.Context) preflight.Finding {
	const check = "aws-imds"
	found, err := l.clients.Credentials.Retrieve(ctx)
	if err == nil && found.Source == machineSource {
		return preflight.Finding{Check: check, Level: preflight.Warning, Text: "credentials come from the metadata service of the machine",
			Means:  "every pod of that machine may do what the controller may, and the controller loses its credentials where the hop limit is 1",
			Remedy: "give the ServiceAccount a role of its own: EKS Pod Identity, or the annotation eks.amazonaws.com/role-arn"}
	}
	return ok(check, "the metadata service of the machine is not needed for credentials: they come from %s", found.Source)
}

// untried are actions that cannot be rehearsed.
func (l *inspection) untried() preflight.Finding {
	return preflight.Finding{Check: checkPermissions, Level: preflight.Skipped,
		Text:  "ec2:CreateFleet, iam:CreateInstanceProfile, iam:AddRoleToInstanceProfile, iam:TagInstanceProfile, iam:PassRole and the deletion of profiles cannot be tried without making one",
		Means: "classes need them, and the controller tries them itself", Remedy: "see after the installation that the conditions InstanceProfileReady and ValidationSucceeded of the class are True"}
}

// minor is the version of Kubernetes as names of images have it.
func (l *inspection) minor() string {
	found, err := version.ParseGeneric(l.Version)
	if err != nil {
		return strings.TrimPrefix(l.Version, "v")
	}
	return fmt.Sprintf("%d.%d", found.Major(), found.Minor())
}
