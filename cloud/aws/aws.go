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

// VisibleWithin is how long EC2 may take to show what was bought.
const VisibleWithin = 30 * time.Second

// Options are what the provider is made with.
type Options struct {
	// Inventory knows AWS; the provider's own controllers keep it informed.
	Inventory *inventory.Inventory
	// Class finds a node class by its name; nil and no error if there is none.
	Class func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)
	// Queue is the name of the interruption queue; empty if there is none.
	Queue string
	// SpotMargin is how much dearer than the cheapest a spot machine may be, as a fraction; negative:
	// any of those that EC2 is asked to choose from.
	SpotMargin float64
	// Idle and Longest say how long look-ups and terminations are collected; zero is the
	// usual.
	Idle, Longest time.Duration
	// Visible is how long EC2 may take to show what was bought; zero is VisibleWithin.
	Visible time.Duration
	Observe Observer
}

// Observer gets what metrics and events are made from. Each of its functions may be nil, and none may
// block.
type Observer struct {
	// LaunchFailed: one way of a launch did not lead to an instance.
	LaunchFailed func(zone, zoneID, capacityType, reason string)
	// TerminationFailed: an instance could not be terminated.
	TerminationFailed func(zone, zoneID string)
	// Batched: so many requests were sent as one, the first of which had waited so long.
	Batched func(batcher string, size int, waited time.Duration)
	// NoSpotRole: a claim wanted spot capacity, which the account may not buy.
	NoSpotRole func(cloud.Claim)
	// Narrow: a claim that could be spot is bought on demand, with few types to choose from.
	Narrow func(claim cloud.Claim, types int)
}

// Provider is EC2.
type Provider struct {
	*inventory.Inventory
	Instances *instance.Client
	// Events is nil without a queue.
	Events *instanceevents.Queue

	class   func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)
	observe Observer
	visible time.Duration
	// spotMargin is that of the options.
	spotMargin float64
	launcher   *launch.Launcher
	recent     *api.Cache[string, instance.Instance] // by provider ID
	// inspected are glances that hold longer, for drift.
	inspected *api.Cache[string, instance.Instance]
	// ending are instances whose end EC2 has begun a moment ago.
	ending *api.Cache[string, struct{}]
	seen   *instance.LastSeen
	round  lastList
	begun  time.Time
	// strayed is when instances without the cluster's name were looked for last.
	strayed atomic.Pointer[time.Time]
	// hydrated: the templates of an earlier process are known.
	hydrated atomic.Bool
}

var (
	_ cloud.Provider = (*Provider)(nil)
	_ cloud.Gate     = (*Provider)(nil)
)

// New puts the provider together. It makes no call.
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
		Inventory: s, class: o.Class, observe: o.Observe, visible: o.Visible, spotMargin: o.SpotMargin, begun: s.Clock.Now(),
		Instances: instance.NewClient(s.Clients.EC2, instance.Options{
			Cluster: s.Cluster.Name, ReservedCapacity: s.ReservedCapacity, Idle: o.Idle, Longest: o.Longest, Observe: o.Observe.Batched,
		}),
		recent: api.NewCache[string, instance.Instance](s.Clock, o.Visible/2), seen: instance.NewLastSeen(),
		ending:    api.NewCache[string, struct{}](s.Clock, endAgain),
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
