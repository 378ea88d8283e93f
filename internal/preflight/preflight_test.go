package preflight

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"tenon/internal/settings"
)

// Versions from 1.26 on are supported, however they are written; older ones fail, newer ones are a warning.
func TestVersions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Level{
		"v1.25.16": Failed, "v1.26.0": OK, "v1.36.3": OK, "v1.31.2-eks-94953ac": OK, "v1.34+": OK, "v1.37.0": Warning, "v2.0.0": Warning, "": Warning,
	} {
		if got := judgeVersion(text); got.Level != want {
			t.Errorf("%q: %s (%s), want %s", text, got.Level, got.Text, want)
		}
	}
}

// A definition is good if it serves our version with our fields; each other state is told apart.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	all, err := wanted(settings.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	ours := all[0]
	cases := map[string]struct {
		theirs func(*apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition
		level  Level
		text   string
	}{
		"not there": {func(*apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition { return nil }, Failed, "is not installed"},
		"ours": {func(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			d.Status.StoredVersions = []string{"v1"}
			return d
		}, OK, "serves v1"},
		"on its way out": {func(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			d.DeletionTimestamp = &metav1.Time{}
			return d
		}, Failed, "is being deleted"},
		"of a former API": {func(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			d.Spec.Versions[0].Name = "v1beta1"
			return d
		}, Failed, "does not serve v1"},
		"not served": {func(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			d.Spec.Versions[0].Served = false
			return d
		}, Failed, "does not serve v1"},
		"with Karpenter's conversion": {func(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
			return d
		}, Failed, "converted by a webhook"},
		"stored as v1beta1 once": {func(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			d.Status.StoredVersions = []string{"v1beta1", "v1"}
			return d
		}, Warning, "stored as v1beta1"},
		"of an older release": {func(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
			spec := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			delete(spec.Properties, "weight")
			return d
		}, Warning, "lacks spec.weight"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := judgeDefinition(ours, tc.theirs(ours.DeepCopy()))
			if got.Level != tc.level || !strings.Contains(got.Text, tc.text) {
				t.Errorf("%s: %s; want %s with %q", got.Level, got.Text, tc.level, tc.text)
			}
			if got.Level != OK && (got.Means == "" || got.Remedy == "") {
				t.Errorf("%+v lacks what it means, or a remedy", got)
			}
		})
	}
}

// TestRightsAreThoseOfTheChart holds the lists against the roles that the chart renders: with all gates open, and in
// shadow mode.
func TestRightsAreThoseOfTheChart(t *testing.T) {
	t.Parallel()
	for file, s := range map[string]settings.Settings{
		"full":   {FeatureGates: settings.FeatureGates{NodeOverlay: true, CapacityBuffer: true, NodeGroups: true}, ProvisioningRequests: settings.ProvisioningRequests{Enabled: true}, LeaderElectionName: "karpenter-leader-election", DashboardListen: "127.0.0.1:8082"},
		"shadow": {Mode: settings.ModeShadow, LeaderElectionName: "tenon-shadow"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			granted := chartRights(t, "../../charts/testdata/"+file+".yaml")
			var needed []string
			for _, r := range Rights(s, namespaceOf(granted)) {
				needed = append(needed, r.String())
			}
			for _, r := range granted {
				if !slices.Contains(needed, r) && !strings.Contains(r, "example") {
					t.Errorf("the chart grants %q, which the preflight does not ask about", r)
				}
			}
			for _, r := range needed {
				if !slices.Contains(granted, r) {
					t.Errorf("the preflight asks about %q, which the chart does not grant", r)
				}
			}
		})
	}
}

// chartRights are those of the controller in a golden file of the chart.
func chartRights(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var granted []string
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		role := &rbacv1.Role{} // a ClusterRole has the same rules
		if err := yaml.Unmarshal([]byte(document), role); err != nil || !strings.HasSuffix(role.Kind, "Role") || strings.HasSuffix(role.Name, "-admin") {
			continue
		}
		for _, r := range role.Rules {
			granted = append(granted, rightsOf(r, role.Namespace)...)
		}
	}
	return granted
}

// namespaceOf is where the chart was rendered for: that of its Lease.
func namespaceOf(rights []string) string {
	for _, r := range rights {
		if _, namespace, ok := strings.Cut(r, "create leases.coordination.k8s.io in "); ok {
			return namespace
		}
	}
	return ""
}

func rightsOf(r rbacv1.PolicyRule, namespace string) []string {
	var list []string
	names := r.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				for _, name := range names {
					what, sub, _ := strings.Cut(resource, "/")
					list = append(list, Right{verb, group, what, sub, namespace, name}.String())
				}
			}
		}
	}
	return list
}

// One missing right is told with what it is for; an account without any right is one finding.
func TestMissingRights(t *testing.T) {
	t.Parallel()
	rights := Rights(settings.Settings{LeaderElectionName: "karpenter-leader-election"}, "kube-system")
	if got := judgeRights("the caller", len(rights), nil); len(got) != 1 || got[0].Level != OK {
		t.Errorf("all rights: %+v", got)
	}
	if got := judgeRights("the caller", len(rights), rights); len(got) != 1 || !strings.Contains(got[0].Text, "none of the") {
		t.Errorf("no right: %+v", got)
	}
	got := judgeRights("the caller", len(rights), []Right{{Verb: "create", Resource: "pods", Subresource: "eviction"}})
	if len(got) != 1 || got[0].Text != "the caller may not create pods/eviction" || !strings.Contains(got[0].Means, "stay") {
		t.Errorf("one right: %+v", got)
	}
}

var now = time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)

func deployment(namespace, name, image string, replicas int32) appsv1.Deployment {
	return appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}},
	}}
}

func lease(namespace, name, holder string, age time.Duration) coordinationv1.Lease {
	return coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &holder, RenewTime: ptr.To(metav1.NewMicroTime(now.Add(-age))),
	}}
}

// Another autoscaler is found by its Deployment, or by a Lease that was renewed lately.
func TestAutoscalers(t *testing.T) {
	t.Parallel()
	const karpenter = "public.ecr.aws/karpenter/controller:1.14.0@sha256:0123"
	cases := map[string]struct {
		seen seen
		want map[Level]int
		text string
	}{
		"none":                                   {seen{}, map[Level]int{OK: 1}, "no other"},
		"Karpenter with our Lease":               {seen{deployments: []appsv1.Deployment{deployment("kube-system", "karpenter", karpenter, 2)}}, map[Level]int{Warning: 1}, "same Lease"},
		"Karpenter in another namespace":         {seen{deployments: []appsv1.Deployment{deployment("karpenter", "karpenter", karpenter, 2)}}, map[Level]int{Failed: 1}, "Lease karpenter/karpenter-leader-election"},
		"Karpenter that was scaled to 0":         {seen{deployments: []appsv1.Deployment{deployment("karpenter", "karpenter", karpenter, 0)}}, map[Level]int{OK: 1}, "no other"},
		"Tenon in a release called karpenter":    {seen{deployments: []appsv1.Deployment{deployment("kube-system", "karpenter", "registry:5000/tenon:1", 2)}}, map[Level]int{OK: 1}, "no other"},
		"Cluster Autoscaler":                     {seen{deployments: []appsv1.Deployment{deployment("kube-system", "ca", "registry.k8s.io/autoscaling/cluster-autoscaler:v1.33.0", 1)}}, map[Level]int{Warning: 1}, "Cluster Autoscaler runs"},
		"Cluster Autoscaler outside":             {seen{leases: []coordinationv1.Lease{lease("kube-system", "cluster-autoscaler", "host", time.Second)}}, map[Level]int{Warning: 1}, "holds the Lease"},
		"a Lease that was left behind":           {seen{leases: []coordinationv1.Lease{lease("kube-system", "cluster-autoscaler", "host", time.Hour)}}, map[Level]int{OK: 1}, "no other"},
		"our Lease is held":                      {seen{leases: []coordinationv1.Lease{lease("kube-system", "karpenter-leader-election", "tenon-1", time.Second)}}, map[Level]int{OK: 1}, "stands by"},
		"Karpenter's Lease in another namespace": {seen{leases: []coordinationv1.Lease{lease("karpenter", "karpenter-leader-election", "host", time.Second)}}, map[Level]int{Failed: 1}, "is held by host"},
		"EKS Auto Mode":                          {seen{autoMode: true}, map[Level]int{Warning: 1}, "Auto Mode"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.seen.now, tc.seen.namespace, tc.seen.lease = now, "kube-system", "karpenter-leader-election"
			report := Report{judgeAutoscalers(tc.seen)}
			for _, level := range []Level{OK, Warning, Failed} {
				if report.Count(level) != tc.want[level] {
					t.Errorf("%+v: want %v", report.Findings, tc.want)
				}
			}
			if !strings.Contains(report.Findings[0].Text, tc.text) {
				t.Errorf("%q does not say %q", report.Findings[0].Text, tc.text)
			}
		})
	}
}

// A ServiceAccount is a namespace and a name.
func TestServiceAccounts(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{"": true, "kube-system/tenon": true, "tenon": false, "/tenon": false, "a/": false, "a/b/c": false} {
		if _, err := ParseServiceAccount(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
