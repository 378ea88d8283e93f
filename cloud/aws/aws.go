package aws

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/instance"
	"tenon/cloud/aws/instanceevents"
	"tenon/cloud/aws/inventory"
	"tenon/cloud/aws/launch"
)

// VisibleWithin is how long EC2 may take to show a new instance.
const VisibleWithin = 30 * time.Second

// Options configure the provider.
type Options struct {
	// Inventory knows AWS; the provider's own controllers keep it up to date.
	Inventory *inventory.Inventory
	// Class finds a node class by its name; nil and no error if there is none.
	Class func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)
	// Queue is the name of the interruption queue; empty if there is none.
	Queue string
	// SpotMargin is how much more than the cheapest offer a spot machine may cost, as a fraction. A negative
	// value allows any offer in the request to EC2.
	SpotMargin float64
	// Currency is that of the region's prices.
	Currency string
	// Idle and Longest say how long the provider collects look-ups and terminations; zero means the default.
	Idle, Longest time.Duration
	// Visible is how long EC2 may take to show a new instance; zero means VisibleWithin.
	Visible time.Duration
	Observe Observer
}

// Observer receives what metrics and events report. Each of its functions may be nil, and none may block.
type Observer struct {
	// LaunchFailed reports that one override of a launch did not lead to an instance.
	LaunchFailed func(zone, zoneID, capacityType, reason string)
	// TerminationFailed reports that EC2 did not terminate an instance.
	TerminationFailed func(zone, zoneID string)
	// Batched reports that a batcher sent size requests as one call, and how long the first of them waited.
	Batched func(batcher string, size int, waited time.Duration)
	// NoSpotRole reports a claim for spot capacity, which the account may not buy.
	NoSpotRole func(cloud.Claim)
	// Narrow reports a claim that allows spot but is bought on demand, with few types to choose from.
	Narrow func(claim cloud.Claim, types int)
}

// Provider is the cloud provider for EC2.
type Provider struct {
	*inventory.Inventory
	Instances *instance.Client
	// Events is nil without a queue.
	Events *instanceevents.Queue

	class   func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)
	observe Observer
	visible time.Duration

	currency string
	// spotMargin is Options.SpotMargin.
	spotMargin float64
	launcher   *launch.Launcher
	recent     *api.Cache[string, instance.Instance] // by provider ID
	// inspected holds instances for longer than recent does, for drift.
	inspected *api.Cache[string, instance.Instance]
	// ending holds instances that EC2 has just begun to terminate.
	ending *api.Cache[string, struct{}]
	// gone holds instances that were to be deleted and of which EC2 has just said that they are gone: a node and its claim ask one after the other.
	gone  *api.Cache[string, struct{}]
	seen  *instance.LastSeen
	round lastList
	begun time.Time
	// strayed is when the provider last looked for instances without the cluster's name.
	strayed atomic.Pointer[time.Time]
	// hydrated says that the provider knows the templates of an earlier process.
	hydrated atomic.Bool
}

var (
	_ cloud.Provider = (*Provider)(nil)
	_ cloud.Gate     = (*Provider)(nil)
)

// New assembles the provider. It makes no call.
func New(o Options) (*Provider, error) {
	if o.Inventory == nil || o.Class == nil {
		return nil, errors.New("the AWS provider needs to know AWS and node classes")
	}
	if err := o.Inventory.Cluster.Check(); err != nil {
		return nil, err
	}
	if o.Visible == 0 {
		o.Visible = VisibleWithin
	}
	s := o.Inventory
	p := &Provider{
		Inventory: s, class: o.Class, observe: o.Observe, visible: o.Visible, currency: o.Currency, spotMargin: o.SpotMargin, begun: s.Clock.Now(),
		Instances: instance.NewClient(s.Clients.EC2, instance.Options{
			Cluster: s.Cluster.Name, ReservedCapacity: s.ReservedCapacity, Idle: o.Idle, Longest: o.Longest, Observe: o.Observe.Batched,
		}),
		recent: api.NewCache[string, instance.Instance](s.Clock, o.Visible/2), seen: instance.NewLastSeen(),
		ending:    api.NewCache[string, struct{}](s.Clock, endAgain),
		gone:      api.NewCache[string, struct{}](s.Clock, goneFor),
		inspected: api.NewCache[string, instance.Instance](s.Clock, inspectedFor),
	}
	p.launcher = launch.New(launch.LauncherOptions{
		EC2: s.Clients.EC2, Instances: p.Instances, Templates: s.Templates, Shortages: s.Shortages, Addresses: s.Addresses, Counts: s.Counts,
		Clock: s.Clock, Facts: p.facts, VisibleWithin: o.Visible, Failed: o.Observe.LaunchFailed, NoSpotRole: o.Observe.NoSpotRole,
		Narrow: o.Observe.Narrow,
	})
	if o.Queue != "" {
		p.Events = instanceevents.NewQueue(s.Clients.SQS, o.Queue, 0)
	}
	return p, nil
}
