// Package cluster knows the cluster that nodes join: its version, its API server's address,
// the range of its services. What a setting says is taken; the rest is asked for.
//
// It changes nothing, and knows nothing of nodes.
package cluster

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
	"tenon/cloud/aws/cache"
	"tenon/cloud/aws/userdata"
)

// versionHolds is how long the cluster's version is remembered. (As in Karpenter.)
const versionHolds = 5 * time.Minute

// answerHolds is how long EKS's answer serves all who ask for a part of it.
const answerHolds = 10 * time.Second

// dnsHolds is how long the address of kube-dns is remembered, also that there is none.
const dnsHolds = time.Minute

// Options say what is known, and where to ask for the rest.
type Options struct {
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

// Cluster is one cluster. It may be used by many goroutines.
type Cluster struct {
	Options
	versions *cache.Cache[string, string]
	answers  *cache.Cache[string, types.Cluster]
	dns      *cache.Cache[string, string]

	mu       sync.Mutex
	endpoint string
	services string
}

// New is a cluster of which nothing has been asked yet.
func New(o Options) *Cluster {
	return &Cluster{Options: o, versions: cache.New[string, string](o.Clock, versionHolds),
		answers: cache.New[string, types.Cluster](o.Clock, answerHolds), dns: cache.New[string, string](o.Clock, dnsHolds), endpoint: o.Endpoint}
}

// ErrClusterName and ErrEndpoint are what can be wrong with the settings.
var (
	ErrClusterName = errors.New("missing field, cluster-name")
	ErrEndpoint    = errors.New("cluster endpoint URL is not valid")
)

// Check says what is wrong with what the settings say.
func (h *Cluster) Check() error {
	if h.Name == "" {
		return ErrClusterName
	}
	if h.Endpoint == "" {
		return nil
	}
	if u, err := url.Parse(h.Endpoint); err != nil || !u.IsAbs() || u.Hostname() == "" {
		return ErrEndpoint
	}
	return nil
}

// Version is the cluster's, such as 1.34.
func (h *Cluster) Version(ctx context.Context) (string, error) {
	return h.versions.Get(ctx, "", func(ctx context.Context) (string, error) {
		text, err := h.askVersion(ctx)
		if err != nil {
			return "", fmt.Errorf("ask for the version of cluster %s: %w", h.Name, err)
		}
		return strings.TrimSuffix(text, "+"), nil
	})
}

func (h *Cluster) askVersion(ctx context.Context) (string, error) {
	if !h.EKSVersion {
		return h.APIVersion(ctx)
	}
	c, err := h.describe(ctx)
	return aws.ToString(c.Version), err
}

// describe asks once for what many launches want to know at the same time.
func (h *Cluster) describe(ctx context.Context) (types.Cluster, error) {
	return h.answers.Get(ctx, "", h.ask)
}

func (h *Cluster) ask(ctx context.Context) (types.Cluster, error) {
	answer, err := h.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(h.Name)})
	if err != nil {
		return types.Cluster{}, fmt.Errorf("describe cluster %s: %w", h.Name, err)
	}
	if answer.Cluster == nil {
		return types.Cluster{}, fmt.Errorf("describe cluster %s: the answer is empty", h.Name)
	}
	return *answer.Cluster, nil
}

// ARN is the cluster's name in all of AWS.
func (h *Cluster) ARN(ctx context.Context) (string, error) {
	c, err := h.describe(ctx)
	return aws.ToString(c.Arn), err
}

// ServiceRange is the range of the addresses of services, which never changes: it is asked
// for once.
func (h *Cluster) ServiceRange(ctx context.Context) (string, error) {
	if known := h.known(&h.services); known != "" {
		return known, nil
	}
	c, err := h.describe(ctx)
	if err != nil {
		return "", err
	}
	found := ""
	if n := c.KubernetesNetworkConfig; n != nil {
		if found = aws.ToString(n.ServiceIpv4Cidr); found == "" {
			found = aws.ToString(n.ServiceIpv6Cidr)
		}
	}
	if _, err := netip.ParsePrefix(found); err != nil {
		return "", fmt.Errorf("read the service range of cluster %s: %w", h.Name, err)
	}
	return h.learn(&h.services, found), nil
}

// Address is where nodes find the API server.
func (h *Cluster) Address(ctx context.Context) (string, error) {
	if known := h.known(&h.endpoint); known != "" {
		return known, nil
	}
	c, err := h.describe(ctx)
	if err != nil {
		return "", err
	}
	return h.learn(&h.endpoint, aws.ToString(c.Endpoint)), nil
}

func (h *Cluster) known(what *string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return *what
}

func (h *Cluster) learn(what *string, value string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	*what = value
	return value
}

// Facts are what user data tells nodes of a family. The address of kube-dns may remain
// unknown: then nodes use the family's own default.
func (h *Cluster) Facts(ctx context.Context, family string) (userdata.Cluster, error) {
	c := userdata.Cluster{Name: h.Name, CABundle: h.CABundle}
	var err error
	if c.Endpoint, err = h.Address(ctx); err != nil {
		return c, err
	}
	if family == awsv1.FamilyAL2023 {
		if c.ServiceCIDR, err = h.ServiceRange(ctx); err != nil {
			return c, err
		}
	}
	if h.DNS != nil {
		c.DNS, _ = h.dns.Get(ctx, "", h.DNS)
	}
	return c, nil
}
