package admission_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/api/admission"
)

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.example.com}
spec:
  group: example.com
  names: {kind: Box, plural: boxes}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: "!has(oldSelf.lid) || has(self.lid)", message: the lid stays}
            - {rule: "self.size < 100 || has(self.lid)", message: a large box needs a lid}
            properties:
              size: {type: integer, default: 1, maximum: 1000}
              lid: {type: string}
              tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}
`

func admitter(t *testing.T) *admission.Admitter {
	t.Helper()
	a, err := admission.New([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func box(spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "example.com/v1", "kind": "Box", "metadata": map[string]any{"name": "a"}, "spec": spec,
	}
}

func TestCreateAndUpdate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spec, old map[string]any
		want      string
	}{
		"defaults are filled in before rules are asked": {spec: map[string]any{}},
		"a field that is wrong":                         {spec: map[string]any{"size": int64(1001)}, want: "should be less than or equal to 1000"},
		"a rule that is broken":                         {spec: map[string]any{"size": int64(100)}, want: "a large box needs a lid"},
		"a set with equal items":                        {spec: map[string]any{"tags": []any{"a", "a"}}, want: "Duplicate value"},
		"a change that is allowed":                      {spec: map[string]any{"lid": "b"}, old: map[string]any{"lid": "a"}},
		"a change that is not":                          {spec: map[string]any{}, old: map[string]any{"lid": "a"}, want: "the lid stays"},
		"what was wrong before is let through": {
			spec: map[string]any{"size": int64(1001), "lid": "b"}, old: map[string]any{"size": int64(1001), "lid": "a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := admitter(t)
			before := maps.Clone(tc.spec)
			errs := a.Create(t.Context(), box(tc.spec))
			if tc.old != nil {
				errs = a.Update(t.Context(), box(tc.spec), box(tc.old))
			}
			got := ""
			if len(errs) > 0 {
				got = errs.ToAggregate().Error()
			}
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if diff := cmp.Diff(before, tc.spec); diff != "" {
				t.Errorf("the caller's object changed:\n%s", diff)
			}
		})
	}
}

func TestUnknownFields(t *testing.T) {
	t.Parallel()
	got := admitter(t).UnknownFields(box(map[string]any{"size": int64(1), "sise": int64(1)}))
	if diff := cmp.Diff([]string{"spec.sise"}, got); diff != "" {
		t.Errorf("unknown fields (-want +got):\n%s", diff)
	}
}

func TestDefault(t *testing.T) {
	t.Parallel()
	object := box(map[string]any{"lid": nil})
	got := admitter(t).Default(object)
	if diff := cmp.Diff(box(map[string]any{"size": int64(1)}), got); diff != "" {
		t.Errorf("defaulted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(box(map[string]any{"lid": nil}), object); diff != "" {
		t.Errorf("the caller's object changed:\n%s", diff)
	}
}

func TestNewRefusesBrokenDefinitions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ change, by, want string }{
		"a field that does not exist": {"scope: Cluster", "scape: Cluster", "scape"},
		"a rule that does not parse":  {"self.size < 100", "self.size <", "compilation failed"},
		"a rule about nothing":        {"self.size < 100", "self.weight < 100", "undefined field 'weight'"},
		"a name of another group":     {"boxes.example.com", "boxes.example.org", "metadata.name"},
		"no version":                  {"  versions:", "  versions: []\n  conversion: {strategy: None}\nstatus:\n  conditions: []\nx:", "unknown field"},
	} {
		_, err := admission.New([]byte(strings.Replace(definition, tc.change, tc.by, 1)))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}
