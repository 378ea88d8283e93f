package inventory

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/userdata"
)

// versionHolds is how long the cluster's version is remembered. (As in Karpenter.)
const versionHolds = 5 * time.Minute

// answerHolds is how long an answer of EKS is used for all its parts.
const answerHolds = 10 * time.Second

// dnsHolds is how long the address of kube-dns is remembered, also that there is none.
const dnsHolds = time.Minute

// ClusterOptions say what is known, and where to ask for the rest.
type ClusterOptions struct {
	Name     string
	Endpoint string // empty: EKS is asked
	CABundle string // base64
	// EKSVersion asks EKS for the version instead of the API server.
	EKSVersion bool
	EKS        api.EKS
	// APIVersion is what the API server says, such as 1.34 or 1.34+.
	APIVersion func(context.Context) (string, error)
	// DNS is the address of the service kube-dns; empty if it is not known. Nil is empty.
	DNS   func(context.Context) (string, error)
	Clock clock.PassiveClock
}

// Cluster is the cluster that nodes join: its version, its API server's address, the range of its services.
// Settings come first; the rest is read from AWS. It may be used by many goroutines.
type Cluster struct {
	ClusterOptions
	versions *api.Cache[string, string]
	answers  *api.Cache[string, types.Cluster]
	dns      *api.Cache[string, string]

	mu       sync.Mutex
	endpoint string
	services string
}

// NewCluster is a cluster of which nothing has been asked yet.
func NewCluster(o ClusterOptions) *Cluster {
	return &Cluster{ClusterOptions: o, versions: api.NewCache[string, string](o.Clock, versionHolds),
		answers: api.NewCache[string, types.Cluster](o.Clock, answerHolds), dns: api.NewCache[string, string](o.Clock, dnsHolds), endpoint: o.Endpoint}
}

// ErrClusterName and ErrEndpoint are what can be wrong with the settings.
var (
	ErrClusterName = errors.New("missing field, cluster-name")
	ErrEndpoint    = errors.New("cluster endpoint URL is not valid")
)

// Check says what is wrong with what the settings say.
func (c *Cluster) Check() error {
	if c.Name == "" {
		return ErrClusterName
	}
	if c.Endpoint == "" {
		return nil
	}
	if u, err := url.Parse(c.Endpoint); err != nil || !u.IsAbs() || u.Hostname() == "" {
		return ErrEndpoint
	}
	return nil
}

// Version is the cluster's, such as 1.34.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	return c.versions.Get(ctx, "", func(ctx context.Context) (string, error) {
		text, err := c.askVersion(ctx)
		if err != nil {
			return "", fmt.Errorf("ask for the version of cluster %s: %w", c.Name, err)
		}
		return strings.TrimSuffix(text, "+"), nil
	})
}

func (c *Cluster) askVersion(ctx context.Context) (string, error) {
	if !c.EKSVersion {
		return c.APIVersion(ctx)
	}
	described, err := c.describe(ctx)
	return aws.ToString(described.Version), err
}

// describe asks once for what many launches want to know at the same time.
func (c *Cluster) describe(ctx context.Context) (types.Cluster, error) {
	return c.answers.Get(ctx, "", c.ask)
}

func (c *Cluster) ask(ctx context.Context) (types.Cluster, error) {
	answer, err := c.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(c.Name)})
	if err != nil {
		return types.Cluster{}, fmt.Errorf("describe cluster %s: %w", c.Name, err)
	}
	if answer.Cluster == nil {
		return types.Cluster{}, fmt.Errorf("describe cluster %s: the answer is empty", c.Name)
	}
	return *answer.Cluster, nil
}

// ARN is the cluster's name in all of AWS.
func (c *Cluster) ARN(ctx context.Context) (string, error) {
	described, err := c.describe(ctx)
	return aws.ToString(described.Arn), err
}

// ServiceRange is the range of the addresses of services, which never changes: it is asked
// for once.
func (c *Cluster) ServiceRange(ctx context.Context) (string, error) {
	if known := c.known(&c.services); known != "" {
		return known, nil
	}
	described, err := c.describe(ctx)
	if err != nil {
		return "", err
	}
	found := ""
	if n := described.KubernetesNetworkConfig; n != nil {
		if found = aws.ToString(n.ServiceIpv4Cidr); found == "" {
			found = aws.ToString(n.ServiceIpv6Cidr)
		}
	}
	if _, err := netip.ParsePrefix(found); err != nil {
		return "", fmt.Errorf("read the service range of cluster %s: %w", c.Name, err)
	}
	return c.learn(&c.services, found), nil
}

// Address is where nodes find the API server.
func (c *Cluster) Address(ctx context.Context) (string, error) {
	if known := c.known(&c.endpoint); known != "" {
		return known, nil
	}
	described, err := c.describe(ctx)
	if err != nil {
		return "", err
	}
	return c.learn(&c.endpoint, aws.ToString(described.Endpoint)), nil
}

func (c *Cluster) known(what *string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *what
}

func (c *Cluster) learn(what *string, value string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	*what = value
	return value
}

// Facts are what user data tells nodes of a family. The address of kube-dns may remain
// unknown: then nodes use the family's own default.
func (c *Cluster) Facts(ctx context.Context, family string) (userdata.Cluster, error) {
	facts := userdata.Cluster{Name: c.Name, CABundle: c.CABundle}
	var err error
	if facts.Endpoint, err = c.Address(ctx); err != nil {
		return facts, err
	}
	if family == awsv1.FamilyAL2023 {
		if facts.ServiceCIDR, err = c.ServiceRange(ctx); err != nil {
			return facts, err
		}
	}
	if c.DNS != nil {
		facts.DNS, _ = c.dns.Get(ctx, "", c.DNS)
	}
	return facts, nil
}
