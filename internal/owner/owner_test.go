package owner_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/internal/owner"
)

// A reference is followed only if group, kind, namespace, name and UID agree, and only if it is that
// of a controller.
func TestAllOfAReferenceHasToAgree(t *testing.T) {
	t.Parallel()
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "u"}}
	for name, tc := range map[string]struct {
		change func(*corev1.Pod, *metav1.OwnerReference)
		want   bool
	}{
		"as its controller writes it": {func(*corev1.Pod, *metav1.OwnerReference) {}, true},
		"of an older version":         {func(_ *corev1.Pod, r *metav1.OwnerReference) { r.APIVersion = "apps/v1beta2" }, true},
		"without a namespace":         {func(p *corev1.Pod, _ *metav1.OwnerReference) { p.Namespace = "" }, true},
		"of another group":            {func(_ *corev1.Pod, r *metav1.OwnerReference) { r.APIVersion = "example.com/v1" }, false},
		"of the core group":           {func(_ *corev1.Pod, r *metav1.OwnerReference) { r.APIVersion = "v1" }, false},
		"of another kind":             {func(_ *corev1.Pod, r *metav1.OwnerReference) { r.Kind = "DaemonSet" }, false},
		"with another name":           {func(_ *corev1.Pod, r *metav1.OwnerReference) { r.Name = "api" }, false},
		"with another UID":            {func(_ *corev1.Pod, r *metav1.OwnerReference) { r.UID = "v" }, false},
		"without a UID":               {func(_ *corev1.Pod, r *metav1.OwnerReference) { r.UID = "" }, false},
		"in another namespace":        {func(p *corev1.Pod, _ *metav1.OwnerReference) { p.Namespace = "other" }, false},
		"that is not the controller":  {func(_ *corev1.Pod, r *metav1.OwnerReference) { r.Controller = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}}
			ref := *metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
			tc.change(pod, &ref)
			pod.OwnerReferences = []metav1.OwnerReference{ref}
			if got := owner.Of(pod) == owner.Is("apps/v1", "ReplicaSet", set); got != tc.want {
				t.Errorf("followed: %t, want %t", got, tc.want)
			}
		})
	}
	if ref := owner.Of(&corev1.Pod{}); !ref.None() {
		t.Errorf("a pod without an owner has %+v", ref)
	}
}

// TestWorkload checks the text about a pod's owner, and which pods belong to nodes.
func TestWorkload(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version, kind, owner, hash string
		want                       string
		daemon                     bool
	}{
		"a ReplicaSet of a Deployment": {"apps/v1", "ReplicaSet", "web-5d4", "5d4", "Deployment/web", false},
		"a ReplicaSet of its own":      {"apps/v1", "ReplicaSet", "web-5d4", "", "ReplicaSet/web-5d4", false},
		"a DaemonSet":                  {"apps/v1", "DaemonSet", "proxy", "1", "DaemonSet/proxy", true},
		"a DaemonSet of others":        {"other/v1", "DaemonSet", "proxy", "", "DaemonSet/proxy", false},
		"a kubelet":                    {"v1", "Node", "n", "", "Node/n", true},
		"nothing":                      {},
	} {
		pod := &metav1.ObjectMeta{Name: "p", Labels: map[string]string{"pod-template-hash": tc.hash}}
		if yes := true; tc.kind != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: tc.version, Kind: tc.kind, Name: tc.owner, Controller: &yes}}
		}
		if got, daemon := owner.Workload(pod); got != tc.want || daemon != tc.daemon {
			t.Errorf("%s: %q, daemon %t", name, got, daemon)
		}
	}
}
