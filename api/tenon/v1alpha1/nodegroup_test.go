package v1alpha1_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"tenon/api/tenon/v1alpha1"
)

// Every group's name becomes a valid object name, and similar names become different ones.
func TestObjectName(t *testing.T) {
	t.Parallel()
	if got := v1alpha1.ObjectName("web-a"); got != "web-a" {
		t.Errorf("a valid name became %q", got)
	}
	seen := map[string]string{}
	for _, group := range []string{
		"web-a", "Web-a", "web_a", "web a", "-web-a", "web-a-", "eks-ng-1-84c0ffee-0000-1111-2222-333344445555", strings.Repeat("x", 63),
		strings.Repeat("x", 64), strings.Repeat("x", 255), "__", "group/with:colon", "Größe",
	} {
		name := v1alpha1.ObjectName(group)
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			t.Errorf("%q became %q: %v", group, name, wrong)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q both became %q", group, other, name)
		}
		seen[name] = group
	}
}

// An absent mode is observe, and a mode that is set stays.
func TestDefaults(t *testing.T) {
	t.Parallel()
	for given, want := range map[v1alpha1.Mode]v1alpha1.Mode{"": "observe", "observe": "observe", "other": "other"} {
		g := &v1alpha1.NodeGroup{Spec: v1alpha1.NodeGroupSpec{Mode: given}}
		if g.SetDefaults(); g.Spec.Mode != want {
			t.Errorf("mode %q became %q", given, g.Spec.Mode)
		}
	}
}

// The kind is known by its group and version.
func TestAddToScheme(t *testing.T) {
	t.Parallel()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	if got := v1alpha1.GroupVersion.String(); got != "tenon.sh/v1alpha1" || !s.Recognizes(v1alpha1.GroupVersion.WithKind("NodeGroup")) {
		t.Errorf("NodeGroup of %s is unknown", got)
	}
}
