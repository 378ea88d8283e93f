// Package harness tests single controllers: it has a fake API server with the caches' indexes, a cloud in
// memory, a clock that the test moves, and a recorder. Every call to the API server can be made to fail,
// and reads can be held back as a slow cache would.
//
// It is for tests only; nothing of the product may import it.
package harness

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// Harness is a small world around one controller.
type Harness struct {
	// Kit is for the controller. Change its fields before the controller is made.
	Kit   reconcile.Kit
	Clock *clocktesting.FakeClock
	// Far is the cloud beyond the provider in the kit.
	Far *memory.Cloud
	// API is the API server itself, for the test: nothing fails there, and nothing lags.
	API client.WithWatch

	t testing.TB

	mu      sync.Mutex
	events  []telemetry.Event
	fail    func(Call) error
	held    map[held]client.Object
	lagging []string
	calls   []Call
}

// New makes a world with objects in it. The cloud uses the harness's clock, which begins at the present,
// because the fake API server stamps deletions with the real time.
func New(t testing.TB, options memory.Options, objects ...client.Object) *Harness {
	t.Helper()
	r := &Harness{t: t, Clock: clocktesting.NewFakeClock(time.Now().Truncate(time.Second)), held: map[held]client.Object{}}
	options.Clock = r.Clock
	r.Far = memory.New(options)
	r.API = server(t, objects)
	r.Kit = reconcile.Kit{
		Client: r.faulty(r.API, false),
		Server: r.faulty(r.API, true),
		Cloud:  r.Far.Connect(),
		Clock:  r.Clock,
		Events: recorder{r},
	}
	metrics, err := telemetry.NewMetrics(prometheus.NewRegistry(), telemetry.LabelsOf(r.Kit.Cloud.Describe()))
	if err != nil {
		t.Fatal(err)
	}
	r.Kit.Metrics = metrics
	return r
}

// Restart returns the kit of a process that starts after a crash: with the same API server and cloud, and
// a provider that has learned nothing yet.
func (r *Harness) Restart() reconcile.Kit {
	kit := r.Kit
	kit.Cloud = r.Far.Connect()
	return kit
}

func server(t testing.TB, objects []client.Object) client.WithWatch {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, karpenterv1.AddToScheme, karpenterv1alpha1.AddToScheme, awsv1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv1beta1.AddToScheme, tenonv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&karpenterv1.NodeClaim{}, &karpenterv1.NodePool{}, &karpenterv1alpha1.NodeOverlay{}, &awsv1.EC2NodeClass{}, &autoscalingv1beta1.CapacityBuffer{}, &autoscalingv1.ProvisioningRequest{}, &tenonv1alpha1.NodeGroup{})
	for _, x := range lookup.Indexes() {
		b = b.WithIndex(x.Kind, x.Field, x.Values)
	}
	return b.Build()
}

// Cloud replaces the provider by one that wraps it.
func (r *Harness) Cloud(wrap func(cloud.Provider) cloud.Provider) { r.Kit.Cloud = wrap(r.Kit.Cloud) }

// Run reconciles a key, and fails the test if that fails.
func (r *Harness) Run(c reconcile.Controller, name string) reconcile.Result {
	r.t.Helper()
	result, err := c.Reconcile(context.Background(), reconcile.Key{Name: name})
	if err != nil {
		r.t.Fatalf("%s %s: %v", c.Name, name, err)
	}
	return result
}

// Get reads an object from the API server and reports whether it exists.
func (r *Harness) Get(name string, into client.Object) bool {
	r.t.Helper()
	err := r.API.Get(context.Background(), client.ObjectKey{Name: name}, into)
	if client.IgnoreNotFound(err) != nil {
		r.t.Fatal(err)
	}
	return err == nil
}

// Claim reads a claim that must be there.
func (r *Harness) Claim(name string) *karpenterv1.NodeClaim {
	r.t.Helper()
	var claim karpenterv1.NodeClaim
	if !r.Get(name, &claim) {
		r.t.Fatalf("claim %s is gone", name)
	}
	return &claim
}

// Must fails the test if err is one.
func (r *Harness) Must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// Events returns the events published so far, as "Type Reason Kind/name: message".
func (r *Harness) Events() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		out = append(out, fmt.Sprintf("%s %s %s: %s", e.Type, e.Reason, e.Object.GetName(), e.Message))
	}
	return out
}

type recorder struct{ rig *Harness }

func (r recorder) Publish(events ...telemetry.Event) {
	r.rig.mu.Lock()
	defer r.rig.mu.Unlock()
	r.rig.events = append(r.rig.events, events...)
}

// Count returns the value of a counter, or how often a histogram was observed.
func (r *Harness) Count(metric prometheus.Collector) float64 {
	r.t.Helper()
	found := make(chan prometheus.Metric, 64)
	metric.Collect(found)
	close(found)
	sum := 0.0
	for m := range found {
		var d dto.Metric
		r.Must(m.Write(&d))
		sum += d.GetCounter().GetValue() + float64(d.GetHistogram().GetSampleCount())
	}
	return sum
}
