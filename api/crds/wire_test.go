package crds_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	strictjson "sigs.k8s.io/json"

	"tenon/api/admission"
	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/api/label"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// examples are the objects of the project's examples folder that are of our kinds.
func examples(t *testing.T, kinds map[string]*admission.Admitter) map[string]map[string]any {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	found := map[string]map[string]any{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
			object := map[string]any{}
			if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			u := unstructured.Unstructured{Object: normalized(t, object)}
			if kinds[u.GetKind()] != nil {
				found[filepath.Base(file)+" "+u.GetKind()] = u.Object
			}
		}
	}
	return found
}

// normalized gives numbers the types that API machinery uses.
func normalized(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return u.Object
}

func TestExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	kinds := admitters(t)
	rules := label.Join(karpenterv1.Labels(), awsv1.Labels())
	for name, object := range examples(t, kinds) {
		admitter := kinds[object["kind"].(string)]
		if unknown := admitter.UnknownFields(object); len(unknown) > 0 {
			t.Errorf("%s: unknown fields %v", name, unknown)
		}
		if errs := admitter.Create(t.Context(), object); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
		switch typed := typed(t, object).(type) {
		case *karpenterv1.NodePool:
			if err := typed.Validate(rules); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case *awsv1.EC2NodeClass:
			if err := typed.Spec.ValidateTags(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// typed reads an object into its Go type, and fails for a field that the type does not have.
func typed(t *testing.T, object map[string]any) runtime.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		karpenterv1.AddToScheme, karpenterv1alpha1.AddToScheme, awsv1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv1beta1.AddToScheme, tenonv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	u := unstructured.Unstructured{Object: object}
	result, err := scheme.New(schema.FromAPIVersionAndKind(u.GetAPIVersion(), u.GetKind()))
	if err != nil {
		t.Fatal(err)
	}
	text := encoded(t, object)
	if strict, err := strictjson.UnmarshalStrict(text, result); err != nil || len(strict) > 0 {
		t.Fatalf("read %s: %v %v", text, err, strict)
	}
	return result
}

func encoded(t *testing.T, object any) []byte {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// accepted are all objects of the tests that an API server would accept.
func accepted(t *testing.T, kinds map[string]*admission.Admitter) map[string]map[string]any {
	t.Helper()
	objects := examples(t, kinds)
	for _, c := range cases(t) {
		objects[c.Kind+"/"+c.Name] = c.Accepted
	}
	return objects
}

// TestGoDefaultsAreTheSchemas: an object from a file, with the defaults of the Go types, is what
// the API server would have made of it.
func TestGoDefaultsAreTheSchemas(t *testing.T) {
	t.Parallel()
	kinds := admitters(t)
	for name, object := range accepted(t, kinds) {
		want := typed(t, kinds[object["kind"].(string)].Default(object))
		got := typed(t, object)
		if defaulting, ok := got.(interface{ SetDefaults() }); ok {
			defaulting.SetDefaults()
		}
		if pool, ok := want.(*karpenterv1.NodePool); ok && pool.Status.Nodes == nil {
			pool.Status.Nodes = new(int64) // the server defaults a status only once it is written
		}
		if diff := cmp.Diff(string(encoded(t, want)), string(encoded(t, got))); diff != "" {
			t.Errorf("%s (-schema +go):\n%s", name, diff)
		}
	}
}

// slips are values that the published pattern of volume sizes accepts although they are not quantities. The
// Go types cannot write them again.
var slips = []string{"EC2NodeClass/the size T", "EC2NodeClass/the size Ti"}

// TestGoObjectsAreAccepted: what the Go types read from an API server they can write there again,
// without losing anything.
func TestGoObjectsAreAccepted(t *testing.T) {
	t.Parallel()
	kinds := admitters(t)
	for name, object := range accepted(t, kinds) {
		if slices.Contains(slips, name) {
			continue
		}
		first := typed(t, kinds[object["kind"].(string)].Default(object))
		text := encoded(t, first)
		again := &unstructured.Unstructured{}
		if err := again.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		if errs := kinds[again.GetKind()].Create(t.Context(), again.Object); len(errs) > 0 {
			t.Errorf("%s: written as %s and refused: %v", name, text, errs.ToAggregate())
		}
		if diff := cmp.Diff(string(text), string(encoded(t, typed(t, again.Object)))); diff != "" {
			t.Errorf("%s (-first +second):\n%s", name, diff)
		}
	}
}
