package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"k8s.io/utils/clock"
)

// Clients holds the clients for one account in one region.
type Clients struct {
	Region     string
	EC2        EC2
	SSM        SSM
	Pricing    Pricing
	IAM        IAM
	EKS        EKS
	SQS        SQS
	ZonalShift ZonalShift
	STS        STS
	Quotas     Quotas
	Events     Events
	// Groups holds the clients that read node groups.
	Groups GroupClients
	// Credentials signs the calls.
	Credentials aws.CredentialsProvider
}

// GroupClients holds the clients that read node groups.
type GroupClients struct {
	AutoScaling AutoScaling
	Templates   EC2GroupTemplates
	EKS         EKSGroups
}

// Options say how to connect. Empty fields take their values from where the SDK always looks: the environment
// (AWS_REGION, AWS_ENDPOINT_URL, credentials of all kinds), shared files, and the machine's metadata service.
type Options struct {
	Region      string
	Endpoint    string
	Credentials aws.CredentialsProvider
	// Version is Tenon's, for the user agent.
	Version string
	// Limiter paces all calls; nil sends them as they come.
	Limiter *Limiter
	// ReadOnly refuses every call that would change something.
	ReadOnly bool
	// Observe gets every call and every attempt once it has ended; it must not block. Clock measures how long
	// they took.
	Observe func(Call)
	Clock   clock.PassiveClock
}

const (
	timeout = 4 * time.Minute // of one attempt
	// attempts is more than the SDK's three: a throttled call goes back into the limiter's queue, and
	// throttling alone is no reason to give up.
	attempts = 6
	backoff  = 2 * time.Second
)

// Connect determines the region and the credentials and makes the clients. It calls no service but the
// machine's metadata service, and only if nothing else names the region.
func Connect(ctx context.Context, o Options) (Clients, error) {
	found, err := o.load(ctx)
	if err != nil {
		return Clients{}, fmt.Errorf("read the configuration of AWS, whose region AWS_REGION can tell: %w", err)
	}
	if found.Region == "" {
		return Clients{}, errors.New("read the configuration of AWS: nothing tells the region; set AWS_REGION")
	}
	machines, cluster := ec2.NewFromConfig(found), eks.NewFromConfig(found)
	return Clients{
		Region:     found.Region,
		EC2:        machines,
		SSM:        ssm.NewFromConfig(found),
		Pricing:    pricing.NewFromConfig(found, func(p *pricing.Options) { p.Region = pricingRegion(found.Region) }),
		IAM:        iam.NewFromConfig(found),
		EKS:        cluster,
		SQS:        sqs.NewFromConfig(found),
		ZonalShift: arczonalshift.NewFromConfig(found),
		STS:        sts.NewFromConfig(found),
		Quotas:     servicequotas.NewFromConfig(found),
		Events:     eventbridge.NewFromConfig(found), Credentials: found.Credentials,
		Groups: GroupClients{AutoScaling: autoscaling.NewFromConfig(found), Templates: machines, EKS: cluster},
	}, nil
}

func (o Options) load(ctx context.Context) (aws.Config, error) {
	choices := []func(*config.LoadOptions) error{
		config.WithEC2IMDSRegion(),
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTimeout(timeout)),
		config.WithRetryer(retryer),
		config.WithAPIOptions(o.middleware()),
	}
	if o.Region != "" {
		choices = append(choices, config.WithRegion(o.Region))
	}
	if o.Endpoint != "" {
		choices = append(choices, config.WithBaseEndpoint(o.Endpoint))
	}
	if o.Credentials != nil {
		choices = append(choices, config.WithCredentialsProvider(o.Credentials))
	}
	return config.LoadDefaultConfig(ctx, choices...)
}

// retryer has no quota of retries: hundreds of calls may be refused at once, and the
// limiter spaces the next attempts better than a quota could.
func retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff = attempts, backoff
		o.RateLimiter = ratelimit.None
	})
}

// pricingRegion is the region that serves prices: only a few regions do.
func pricingRegion(region string) string {
	switch {
	case strings.HasPrefix(region, "ap-"):
		return "ap-south-1"
	case strings.HasPrefix(region, "cn-"):
		return "cn-northwest-1"
	case strings.HasPrefix(region, "eu-"):
		return "eu-central-1"
	}
	return "us-east-1"
}
