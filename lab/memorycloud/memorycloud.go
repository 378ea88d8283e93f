// Package memorycloud lets Tenon buy machines from a cloud in memory in a lab: it runs the real controllers
// on the real API server, with simulated kubelets as machines. A file keeps the cloud when the controller
// restarts, because a real cloud would remain too.
package memorycloud

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/instancetype"

	"tenon/cloud/memory"
	"tenon/internal/provider"
	"tenon/internal/reconcile"
)

// Options describe the cloud.
type Options struct {
	// Machines reaches the API server as kubelets do.
	Machines *rest.Config
	// Boot is the time from the purchase of a machine to its Node.
	Boot time.Duration
	// State is the file that keeps the cloud; empty means none.
	State string
	// Trouble decides which calls fail; nil means none.
	Trouble func(memory.Call) memory.Fault
	// Cloud, if it is not nil, receives the cloud that was made.
	Cloud func(*memory.Cloud)
}

// region is the region of the machines' types and prices.
const region = "us-west-2"

// Open makes the cloud: it sells what EC2 sells, to node classes of the kind EC2NodeClass.
func Open(o Options) provider.Open {
	return func(ctx context.Context, ground provider.Environment) (provider.Backend, error) {
		s, err := New(ctx, o, ground.Log)
		if err != nil {
			return provider.Backend{}, err
		}
		return s.Open(ctx, ground)
	}
}

// Stage is a cloud that one or several controllers can be connected to.
type Stage struct {
	Cloud *memory.Cloud
	book  *book
}

// New makes a cloud with the machines in its file. The cloud lives as long as the context.
func New(ctx context.Context, o Options, log logr.Logger) (*Stage, error) {
	launcher, err := newLauncher(ctx, o, log)
	if err != nil {
		return nil, err
	}
	state, err := Read(o.State)
	if err != nil {
		return nil, err
	}
	offers := instancetype.Build(instancetype.Defaults(region))
	far := memory.New(memory.Options{
		Clock:    clock.RealClock{},
		Kinds:    []cloud.ClassKind{{Group: awsv1.Group, Version: "v1", Kind: "EC2NodeClass"}},
		Words:    instancetype.Words(),
		Catalog:  &offers.Catalog,
		Boot:     o.Boot,
		Stop:     time.Second,
		Trouble:  o.Trouble,
		Launcher: launcher,
		State:    state,
	})
	if o.Cloud != nil {
		o.Cloud(far)
	}
	return &Stage{Cloud: far, book: newBook(o.State, far)}, nil
}

// Open implements provider.Open.
func (s *Stage) Open(context.Context, provider.Environment) (provider.Backend, error) {
	return provider.Backend{
		Provider: counter{Provider: s.Cloud.Connect(), book: s.book},
		Controllers: func(kit reconcile.Kit) []reconcile.Controller {
			return []reconcile.Controller{classes(kit), ticker(kit, s.Cloud)}
		},
	}, nil
}

// kubelets returns a client for machines, without a rate limit, because every real kubelet has its own
// client.
func kubelets(o Options) (kubernetes.Interface, error) {
	config := rest.CopyConfig(o.Machines)
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}
