package telemetry

import (
	"context"

	"k8s.io/utils/clock"

	"tenon/cloud"
	"tenon/core/catalog"
)

type controllerKey struct{}

// WithController records in a context which controller makes the calls.
func WithController(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, controllerKey{}, name)
}

// ControllerOf is the controller under which a context runs, or empty.
func ControllerOf(ctx context.Context) string {
	name, _ := ctx.Value(controllerKey{}).(string)
	return name
}

// Observe is the provider with every call timed, and every error counted.
func Observe(provider cloud.Provider, m *Metrics, clock clock.PassiveClock) cloud.Provider {
	o := observed{provider, m, clock, provider.Describe().Name}
	if gate, ok := provider.(cloud.Gate); ok {
		return observedGate{o, gate}
	}
	return o
}

// observed answers Describe from the provider without timing it: it does no work.
type observed struct {
	cloud.Provider
	metrics *Metrics
	clock   clock.PassiveClock
	name    string
}

// Create is timed.
func (o observed) Create(ctx context.Context, claim cloud.Claim) (cloud.Instance, error) {
	return timed(ctx, o, "Create", func() (cloud.Instance, error) { return o.Provider.Create(ctx, claim) })
}

// Delete is timed.
func (o observed) Delete(ctx context.Context, providerID string) error {
	_, err := timed(ctx, o, "Delete", func() (struct{}, error) { return struct{}{}, o.Provider.Delete(ctx, providerID) })
	return err
}

// Get is timed.
func (o observed) Get(ctx context.Context, providerID string) (cloud.Instance, error) {
	return timed(ctx, o, "Get", func() (cloud.Instance, error) { return o.Provider.Get(ctx, providerID) })
}

// List is timed.
func (o observed) List(ctx context.Context) ([]cloud.Instance, error) {
	return timed(ctx, o, "List", func() ([]cloud.Instance, error) { return o.Provider.List(ctx) })
}

// Catalog is timed under the name that dashboards know.
func (o observed) Catalog(ctx context.Context, class cloud.ClassRef) (*catalog.Catalog, error) {
	return timed(ctx, o, "GetInstanceTypes", func() (*catalog.Catalog, error) { return o.Provider.Catalog(ctx, class) })
}

// Drifted is timed under the name that dashboards know.
func (o observed) Drifted(ctx context.Context, claim cloud.Claim, instance cloud.Instance) (cloud.DriftReason, error) {
	return timed(ctx, o, "IsDrifted", func() (cloud.DriftReason, error) { return o.Provider.Drifted(ctx, claim, instance) })
}

// observedGate is for providers that are gates: a caller that asks for a gate must find it.
type observedGate struct {
	observed
	gate cloud.Gate
}

// Admit is timed.
func (o observedGate) Admit(ctx context.Context, claim cloud.Claim, instance cloud.Instance) (cloud.Admission, error) {
	return timed(ctx, o.observed, "Admit", func() (cloud.Admission, error) { return o.gate.Admit(ctx, claim, instance) })
}

func timed[T any](ctx context.Context, o observed, method string, call func() (T, error)) (T, error) {
	controller, begin := ControllerOf(ctx), o.clock.Now()
	answer, err := call()
	o.metrics.CloudproviderDurationSeconds.WithLabelValues(controller, method, o.name).Observe(o.clock.Since(begin).Seconds())
	if err != nil {
		o.metrics.CloudproviderErrorsTotal.WithLabelValues(controller, method, o.name, cloud.MetricLabel(err)).Inc()
	}
	return answer, err
}
