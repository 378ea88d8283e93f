// Package aws is the product on AWS: it makes the provider from the settings and the
// cluster, and lists the controllers that it brings along.
//
// It only wires; it must not contain rules.
package aws

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
	"tenon/cloud/aws/inventory"
	"tenon/cloud/aws/nodegroup"
	"tenon/cloud/aws/offering"
	"tenon/internal/aws/metrics"
	"tenon/internal/provider"
	"tenon/internal/reconcile"
)

// Options are what the process knows of its surroundings.
type Options struct {
	// Settings are what the operator says of AWS. They are read when the backend is opened.
	Settings *Settings
	// Config is how the API server is reached. Its certificate authority is that of the
	// nodes, unless the settings have one.
	Config *rest.Config
	// Namespace is where the process keeps what it has learned.
	Namespace string
	// Build is the version, for the user agent.
	Build string
	// API overrides how AWS is reached: its region, endpoint and credentials.
	API api.Options
	// Idle and Longest say how long calls are collected; zero is the usual.
	Idle, Longest time.Duration
}

// Open makes the backend of a process.
func Open(o Options) provider.Open {
	return func(ctx context.Context, ground provider.Environment) (provider.Backend, error) {
		b := &backend{Options: o.on(ground), ground: ground, warned: api.NewCache[string, bool](ground.Clock, warnAgain)}
		if err := b.connect(ctx); err != nil {
			return provider.Backend{}, err
		}
		out := provider.Backend{Provider: b.provider, Controllers: b.controllers, Readers: b.readers}
		if b.groups != nil {
			out.Groups = b.groups
		}
		return out, nil
	}
}

// on fills in what the process knows and the options leave out.
func (o Options) on(ground provider.Environment) Options {
	if o.Config == nil {
		o.Config = ground.Config
	}
	o.Namespace = cmp.Or(o.Namespace, ground.Namespace)
	o.Build = cmp.Or(o.Build, ground.Build.Version)
	return o
}

// backend is AWS for one process. The kit comes after the provider: the product's metrics are named
// for what the provider says of itself.
type backend struct {
	Options
	ground    provider.Environment
	provider  *aws.Provider
	metrics   *metrics.Metrics
	watch     *offering.ShiftedZones // nil unless zonal shifts are followed
	groups    *nodegroup.Reader      // nil unless groups are named or discovered
	authority string
	kit       atomic.Pointer[reconcile.Kit]
	warned    *api.Cache[string, bool] // of few types, by pool
}

// warnAgain is how soon a pool is warned of again.
const warnAgain = time.Hour

func (b *backend) connect(ctx context.Context) error {
	settings := b.Settings
	if err := settings.Check(); err != nil {
		return err
	}
	var err error
	if b.metrics, _, err = metrics.New(b.ground.Metrics); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	if b.authority, err = b.findAuthority(); err != nil {
		return err
	}
	o := b.API
	o.Version, o.Limiter, o.Clock, o.Observe = b.Build, api.NewLimiter(b.ground.Clock), b.ground.Clock, b.called
	o.ReadOnly = b.ground.Settings.Shadow()
	clients, err := api.Connect(ctx, o)
	if err != nil {
		return err
	}
	cluster := inventory.NewCluster(inventory.ClusterOptions{
		Name: settings.ClusterName, Endpoint: settings.ClusterEndpoint, CABundle: b.authority,
		EKSVersion: settings.EKSControlPlane, EKS: clients.EKS, APIVersion: b.version, DNS: b.dns, Clock: b.ground.Clock,
	})
	knows := inventory.Options{
		Clients: clients, Clock: b.ground.Clock, Cluster: cluster,
		AMIRefreshInterval: settings.AMIRefreshInterval, SubnetRefreshInterval: settings.SubnetRefreshInterval,
		ReservedCapacity: b.ground.Settings.FeatureGates.ReservedCapacity, IsolatedVPC: settings.IsolatedVPC,
		DisableDryRun: settings.DisableDryRun, VMMemoryOverhead: settings.VMMemoryOverheadPercent,
		ReservedENIs: int64(settings.ReservedENIs), TemplateMade: b.templateMade,
	}
	if settings.EnableZonalShift {
		b.watch = offering.NewShiftedZones(clients.ZonalShift, b.ground.Clock, cluster.ARN)
		knows.Shifted = b.watch.Shifted
	}
	known := inventory.New(knows)
	if b.groups, err = b.readGroups(clients, known); err != nil {
		return err
	}
	b.provider, err = aws.New(aws.Options{
		Inventory: known, Class: b.class, Currency: facts.PricesFor(clients.Region).Currency, Queue: settings.InterruptionQueue, SpotMargin: settings.SpotPriceMargin,
		Idle: b.Idle, Longest: b.Longest, Observe: b.observer(),
	})
	return err
}

// readGroups is what reads node groups; nil with the gate closed, or where there are none to look for.
func (b *backend) readGroups(clients api.Clients, known *inventory.Inventory) (*nodegroup.Reader, error) {
	found, err := nodegroup.NewDiscovery(b.Settings.Nodes, b.Settings.NodeGroupAutoDiscovery)
	if err != nil || !found.Enabled() || !b.ground.Settings.FeatureGates.NodeGroups {
		return nil, err
	}
	return nodegroup.New(nodegroup.Options{
		Clients: clients.Groups, Clock: b.ground.Clock, Discovery: found, Region: clients.Region,
		Types: func() []facts.Type {
			if listed := known.InstanceTypes.Listing().Types; len(listed) > 0 {
				return listed
			}
			return facts.Types() // until EC2 has said what there is
		},
		Prices:         func() instancetype.Prices { return known.Prices.Prices() },
		MemoryOverhead: b.Settings.VMMemoryOverheadPercent, ReservedENIs: int64(b.Settings.ReservedENIs),
	}), nil
}

// findAuthority is the certificate authority of the cluster, in base64.
func (b *backend) findAuthority() (string, error) {
	if bundle := b.Settings.ClusterCABundle; bundle != "" {
		return bundle, nil
	}
	if b.Config == nil {
		return "", errors.New("nothing tells the cluster's certificate authority; set CLUSTER_CA_BUNDLE")
	}
	data := b.Config.CAData
	if len(data) == 0 && b.Config.CAFile != "" {
		var err error
		if data, err = os.ReadFile(b.Config.CAFile); err != nil {
			return "", fmt.Errorf("read the cluster's certificate authority: %w", err)
		}
	}
	return base64.StdEncoding.EncodeToString(data), nil
}

// version is what the API server says, such as 1.36.
func (b *backend) version(context.Context) (string, error) {
	d, err := discovery.NewDiscoveryClientForConfig(b.Config)
	if err != nil {
		return "", err
	}
	v, err := d.ServerVersion()
	if err != nil {
		return "", err
	}
	return v.Major + "." + v.Minor, nil
}

// dns is the address of kube-dns, which may have another name or none at all.
func (b *backend) dns(ctx context.Context) (string, error) {
	var service corev1.Service
	if err := b.ground.Uncached.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: "kube-dns"}, &service); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	return service.Spec.ClusterIP, nil
}

// class finds a node class; nil if there is none.
func (b *backend) class(ctx context.Context, name string) (*awsv1.EC2NodeClass, error) {
	class := &awsv1.EC2NodeClass{}
	if err := b.ground.Client.Get(ctx, client.ObjectKey{Name: name}, class); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return class, nil
}
