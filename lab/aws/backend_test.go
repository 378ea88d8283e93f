package aws_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiversion "k8s.io/apimachinery/pkg/version"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/api"
	"tenon/internal/aws"
	"tenon/internal/lookup"
	"tenon/internal/provider"
	"tenon/internal/reconcile"
	configured "tenon/internal/settings"
	"tenon/internal/telemetry"
)

// silent is a recorder that drops every event.
type silent struct{}

func (silent) Publish(...telemetry.Event) {}

// apiServer is a fake API server with objects in it.
func apiServer(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, karpenterv1.AddToScheme, awsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&awsv1.EC2NodeClass{}, &karpenterv1.NodeClaim{}, &karpenterv1.NodePool{})
	for _, x := range lookup.Indexes() {
		b = b.WithIndex(x.Kind, x.Field, x.Values)
	}
	return b.Build()
}

// backend is the whole AWS backend of the process, in front of an emulator, with a class that it keeps.
type backend struct {
	provider.Backend
	t           *testing.T
	server      client.WithWatch
	kit         reconcile.Kit
	controllers map[string]reconcile.Controller
}

// backend makes a backend of the emulator's cluster that calls AWS with an access key.
func (e *emulator) backend(key string, class *awsv1.EC2NodeClass) *backend {
	e.t.Helper()
	return e.backendOf("lab", "bGFi", key, class)
}

// backendOf makes a backend of a cluster with a certificate authority and objects.
func (e *emulator) backendOf(cluster, authority, key string, objects ...client.Object) *backend {
	t := e.t
	t.Helper()
	versions := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(apiversion.Info{Major: "1", Minor: "36+"}) // the client has gone
	}))
	t.Cleanup(versions.Close)
	dns := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-dns"}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.10"}}
	b := &backend{t: t, server: apiServer(t, append(objects, dns)...), controllers: map[string]reconcile.Controller{}}

	var s configured.Settings
	var own aws.Settings
	own.ClusterName, own.ClusterCABundle, own.InterruptionQueue = cluster, authority, cluster
	own.AMIRefreshInterval, own.SubnetRefreshInterval, own.VMMemoryOverheadPercent = time.Minute, time.Minute, 0.075
	s.FeatureGates.ReservedCapacity, own.EnableZonalShift = true, true
	open := aws.Open(aws.Options{
		Settings: &own,
		Config:   &rest.Config{Host: versions.URL}, Namespace: "kube-system", Build: "test", Idle: time.Millisecond, Longest: 10 * time.Millisecond,
		API: api.Options{Region: region, Endpoint: e.url, Credentials: e.config(key, region).Credentials},
	})
	b.Backend = got(open(t.Context(), provider.Environment{Client: b.server, Uncached: b.server, Clock: e.clock, Settings: s, Metrics: prometheus.NewRegistry(), Log: logr.Discard()}))(t)
	metrics := got(telemetry.NewMetrics(prometheus.NewRegistry(), telemetry.LabelsOf(b.Provider.Describe())))(t)
	b.kit = reconcile.Kit{Client: b.server, Server: b.server, Cloud: b.Provider, Clock: e.clock, Events: silent{}, Metrics: metrics, Settings: s}
	for _, c := range b.Controllers(b.kit) {
		b.controllers[c.Name] = c
	}
	return b
}

// run calls a controller for an object, if it handles such objects.
func (b *backend) run(name, object string) {
	b.t.Helper()
	c, known := b.controllers[name]
	if !known {
		b.t.Fatalf("there is no controller %s", name)
	}
	if _, err := c.Reconcile(context.WithoutCancel(b.t.Context()), reconcile.Key{Name: object}); err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
}

// becomeReady reconciles until the class is ready.
func (b *backend) becomeReady() *awsv1.EC2NodeClass {
	b.t.Helper()
	for _, name := range []string{"providers.instancetype", "providers.pricing", "zonalshift", "interruption.instancestatus"} {
		b.run(name, "")
	}
	b.run("nodeclass.hash", "ready")
	b.run("nodeclass", "ready") // adding the finalizer may take its own pass
	b.run("nodeclass", "ready")
	made := &awsv1.EC2NodeClass{}
	if err := b.server.Get(context.Background(), client.ObjectKey{Name: "ready"}, made); err != nil {
		b.t.Fatal(err)
	}
	return made
}

// roleClass returns a class for which an instance profile is made.
func roleClass() *awsv1.EC2NodeClass {
	class := classOf("ready", "al2023@latest")
	class.Spec.InstanceProfile, class.Spec.Role = nil, "KarpenterNodeRole-lab"
	class.Annotations = nil
	return class
}

// The whole backend, as the process makes it: its controllers find out what exists and make the class
// ready with trials that EC2 only checks. Then a claim is launched.
func TestBackend(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	b := e.backend(account, roleClass())
	made := b.becomeReady()
	bought, err := b.Provider.Create(t.Context(), request("1"))
	if err != nil {
		text, _ := json.MarshalIndent(made.Status.Conditions, "", " ")
		t.Fatalf("create: %v\n%s", err, text)
	}
	if bought.Annotations[awsv1.AnnotationNodeClassHash] == "" || bought.Annotations[awsv1.AnnotationInstanceProfileName] != made.Status.InstanceProfile {
		t.Errorf("annotations are %v", bought.Annotations)
	}
	e.pass(10 * time.Second)
	if booted := e.machines.all(); len(booted) != 1 || booted[0].ProviderID != bought.ProviderID {
		t.Errorf("machines that boot: %+v", booted)
	}
	for _, name := range []string{"providers.launchtemplate", "cloudprovider.metrics", "instanceprofile.garbagecollection"} {
		b.run(name, "")
	}
}
