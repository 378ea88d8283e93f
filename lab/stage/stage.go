// Package stage lets Tenon buy machines from a cloud in memory in a lab: the real
// controllers on the real API server, with simulated kubelets as machines and no cloud
// between them. The cloud outlives the controller in a file, as a real one would.
package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/lexicon"
	"tenon/cloud/aws/offering"
	"tenon/cloud/memory"
	"tenon/internal/manager"
	"tenon/internal/reconcile"
)

// Options say what the cloud is like.
type Options struct {
	// Machines reaches the API server as kubelets do.
	Machines *rest.Config
	// Boot is from the purchase of a machine to its Node.
	Boot time.Duration
	// State is a file in which the cloud is kept; empty is nowhere.
	State string
	// Trouble decides what goes wrong; nil is nothing.
	Trouble func(memory.Call) memory.Fault
	// Cloud, if it is not nil, is told of the cloud that was made.
	Cloud func(*memory.Cloud)
}

// region is where the machines' types and prices are from.
const region = "us-west-2"

// Open makes the cloud: it sells what EC2 does, to node classes of the kind EC2NodeClass.
func Open(o Options) manager.Open {
	return func(ctx context.Context, ground manager.Ground) (manager.Backend, error) {
		launcher, err := newLauncher(ctx, o, ground.Log)
		if err != nil {
			return manager.Backend{}, err
		}
		state, err := load(o.State)
		if err != nil {
			return manager.Backend{}, err
		}
		offers := offering.Build(offering.Defaults(region))
		far := memory.New(memory.Options{
			Clock:    clock.RealClock{},
			Kinds:    []cloud.ClassKind{{Group: awsv1.Group, Version: "v1", Kind: "EC2NodeClass"}},
			Words:    lexicon.Words(),
			Catalog:  &offers.Catalog,
			Boot:     o.Boot,
			Stop:     time.Second,
			Trouble:  o.Trouble,
			Launcher: launcher,
			State:    state,
		})
		launcher.saved = func() error { return save(o.State, far) }
		if o.Cloud != nil {
			o.Cloud(far)
		}
		return manager.Backend{
			Provider: far.Connect(),
			Controllers: func(kit reconcile.Kit) []reconcile.Controller {
				return []reconcile.Controller{classes(kit), ticker(kit, far)}
			},
		}, nil
	}
}

func load(path string) (memory.State, error) {
	var state memory.State
	if path == "" {
		return state, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		return state, fmt.Errorf("read the cloud from %s: %w", path, err)
	}
	return state, nil
}

// save replaces the file as a whole, so that a crash leaves the old one or the new one.
func save(path string, far *memory.Cloud) error {
	if path == "" {
		return nil
	}
	text, err := json.Marshal(far.State())
	if err != nil {
		return fmt.Errorf("write the cloud down: %w", err)
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// kubelets is a client for machines, without a limit: each of them would have its own.
func kubelets(o Options) (kubernetes.Interface, error) {
	config := rest.CopyConfig(o.Machines)
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}
