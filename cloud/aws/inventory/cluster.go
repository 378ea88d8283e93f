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

// versionHolds is how long Cluster remembers the cluster's version. (As in Karpenter.)
const versionHolds = 5 * time.Minute

// answerHolds is how long Cluster uses an answer of EKS for all its parts.
const answerHolds = 10 * time.Second

// dnsHolds is how long Cluster remembers the address of kube-dns, or that it has none.
const dnsHolds = time.Minute

// ClusterOptions hold the known facts, and functions that find the others.
type ClusterOptions struct {
	Name     string
	Endpoint string // if empty, Cluster asks EKS
	CABundle string // base64
	// EKSVersion makes Cluster ask EKS for the version instead of the API server.
	EKSVersion bool
	EKS        api.EKS
	// APIVersion returns the API server's version, such as 1.34 or 1.34+.
	APIVersion func(context.Context) (string, error)
	// DNS returns the address of the service kube-dns; empty if it is not known. Nil means that it is never
	// known.
	DNS   func(context.Context) (string, error)
	Clock clock.PassiveClock
}

// Cluster is the cluster that nodes join: its version, its API server's address, the range of its services.
// Settings take precedence; Cluster reads the rest from AWS. It may be used by many goroutines.
type Cluster struct {
	ClusterOptions
	versions *api.Cache[string, string]
	answers  *api.Cache[string, types.Cluster]
	dns      *api.Cache[string, string]

	mu       sync.Mutex
	endpoint string
	services string
}

// NewCluster makes a Cluster that has not asked for anything yet.
func NewCluster(o ClusterOptions) *Cluster {
	return &Cluster{ClusterOptions: o, versions: api.NewCache[string, string](o.Clock, versionHolds),
		answers: api.NewCache[string, types.Cluster](o.Clock, answerHolds), dns: api.NewCache[string, string](o.Clock, dnsHolds), endpoint: o.Endpoint}
}

// ErrClusterName and ErrEndpoint report invalid settings.
var (
	ErrClusterName = errors.New("missing field, cluster-name")
	ErrEndpoint    = errors.New("cluster endpoint URL is not valid")
)

// Check validates the settings.
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

// Version returns the cluster's version, such as 1.34.
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

// describe makes one call for the launches that need the answer at the same time.
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

// ARN returns the cluster's ARN.
func (c *Cluster) ARN(ctx context.Context) (string, error) {
	described, err := c.describe(ctx)
	return aws.ToString(described.Arn), err
}

// ServiceRange returns the range of the services' addresses. It never changes, so Cluster asks for it once.
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

// Address returns the address at which nodes reach the API server.
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

// Facts returns what user data tells nodes of a family. If the address of kube-dns remains unknown, nodes use
// the family's default.
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
