package provider

import (
	"context"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/cloud"
	"tenon/internal/reconcile"
	"tenon/internal/settings"
	"tenon/internal/version"
)

// Backend is the cloud of a process.
type Backend struct {
	Provider cloud.Provider
	// Groups reads groups of instances and changes their sizes; nil where there are none.
	Groups cloud.Groups
	// Controllers are the cloud's own, beside those that every cloud needs; nil is none.
	Controllers func(reconcile.Kit) []reconcile.Controller
	// Readers are those of them that change nothing and keep the catalogue current, for shadow mode;
	// nil is none.
	Readers func(reconcile.Kit) []reconcile.Controller
}

// Environment is what a backend uses.
type Environment struct {
	// Client reads from the process's caches, Uncached from the API server.
	Client   client.Client
	Uncached client.Reader
	Clock    clock.WithTicker
	Metrics  prometheus.Registerer
	Settings settings.Settings
	// Config is how the cluster is reached; Namespace is that of the process in it.
	Config    *rest.Config
	Namespace string
	Build     version.Info
	Log       logr.Logger
}

// Open makes a backend. It fails where an operator has to mend something.
type Open func(context.Context, Environment) (Backend, error)
