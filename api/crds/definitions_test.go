package crds_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"tenon/api/crds"
)

var rewrite = flag.Bool("rewrite", false, "rewrite golden files")

// TestNamesAndColumns compares the names of the kinds, and the columns that kubectl prints.
func TestNamesAndColumns(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	kinds := admitters(t)
	for _, definition := range crds.All() {
		for _, admitter := range kinds {
			if admitter.Definition.Name == definition.Name {
				describe(&got, admitter.Definition)
			}
		}
	}
	golden := filepath.Join("testdata", "definitions.golden")
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func describe(b *strings.Builder, d *apiextensionsv1.CustomResourceDefinition) {
	names, version := d.Spec.Names, d.Spec.Versions[0]
	fmt.Fprintf(b, "%s\n", d.Name)
	fmt.Fprintf(b, "  generator   %s\n", d.Annotations["controller-gen.kubebuilder.io/version"])
	fmt.Fprintf(b, "  version     %s/%s served=%v storage=%v\n", d.Spec.Group, version.Name, version.Served, version.Storage)
	fmt.Fprintf(b, "  kinds       %s %s\n", names.Kind, names.ListKind)
	fmt.Fprintf(b, "  names       %s %s short=%v categories=%v\n", names.Plural, names.Singular, names.ShortNames, names.Categories)
	fmt.Fprintf(b, "  scope       %s\n", d.Spec.Scope)
	if version.Subresources.Status != nil {
		fmt.Fprintf(b, "  subresource status\n")
	}
	if scale := version.Subresources.Scale; scale != nil {
		fmt.Fprintf(b, "  subresource scale spec=%s status=%s selector=%v\n",
			scale.SpecReplicasPath, scale.StatusReplicasPath, scale.LabelSelectorPath != nil)
	}
	for _, column := range version.AdditionalPrinterColumns {
		fmt.Fprintf(b, "  column      %-16s %-7s %d %s\n", column.Name, column.Type, column.Priority, column.JSONPath)
	}
	b.WriteString("\n")
}

// TestListTypes compares how server-side apply merges lists and maps.
func TestListTypes(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for kind, admitter := range admitters(t) {
		root := admitter.Definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		for path, listType := range listTypes("", root) {
			got[kind+path] = listType
		}
	}
	for path, want := range map[string]string{
		"NodePool.spec.disruption.budgets":                  "atomic",
		"NodePool.spec.disruption.budgets[].reasons":        "set",
		"NodePool.spec.template.metadata.labels":            "atomic",
		"NodePool.spec.template.metadata.annotations":       "granular",
		"NodePool.spec.template.spec.taints":                "atomic",
		"NodePool.spec.template.spec.startupTaints":         "atomic",
		"NodePool.spec.template.spec.requirements":          "atomic",
		"NodePool.spec.template.spec.requirements[].values": "atomic",
		"NodePool.status.conditions":                        "map type",
		"NodeClaim.spec.taints":                             "atomic",
		"NodeClaim.spec.startupTaints":                      "atomic",
		"NodeClaim.spec.requirements":                       "atomic",
		"NodeClaim.status.conditions":                       "map type",
		"NodeOverlay.spec.requirements":                     "atomic",
		"NodeOverlay.status.conditions":                     "map type",
		"EC2NodeClass.status.conditions":                    "map type",
		"CapacityBuffer.status.conditions":                  "map type",
		"NodeGroup.status.conditions":                       "map type",
		"ProvisioningRequest.status.conditions":             "map type",
	} {
		if got[path] != want {
			t.Errorf("%s is %q, want %q", path, got[path], want)
		}
	}
}

func listTypes(path string, s *apiextensionsv1.JSONSchemaProps) map[string]string {
	found := map[string]string{}
	switch {
	case s.XListType != nil:
		found[path] = strings.Join(slices.Concat([]string{*s.XListType}, s.XListMapKeys), " ")
	case s.XMapType != nil:
		found[path] = *s.XMapType
	}
	add := func(inner string, schema *apiextensionsv1.JSONSchemaProps) {
		for path, listType := range listTypes(inner, schema) {
			found[path] = listType
		}
	}
	for name, property := range s.Properties {
		add(path+"."+name, &property)
	}
	if s.Items != nil {
		add(path+"[]", s.Items.Schema)
	}
	return found
}

// TestConditionSchemas checks that the conditions of a claim are laxer than the standard ones.
func TestConditionSchemas(t *testing.T) {
	t.Parallel()
	kinds := admitters(t)
	withConditions := func(conditions ...any) map[string]any {
		return map[string]any{"conditions": conditions}
	}
	short := map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": "2026-08-20T12:00:00Z"}
	noReason := map[string]any{
		"type": "Ready", "status": "True", "lastTransitionTime": "2026-08-20T12:00:00Z", "reason": "", "message": "",
	}
	badReason := map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": "2026-08-20T12:00:00Z", "reason": "-"}
	objects := map[string]map[string]any{}
	for _, c := range cases(t) {
		objects[c.Kind] = c.Accepted
	}
	for kind, object := range objects {
		check := func(what string, condition map[string]any, wantAccepted bool) {
			object["status"] = withConditions(condition)
			if errs := kinds[kind].Create(t.Context(), object); (len(errs) == 0) != wantAccepted {
				t.Errorf("%s with %s: got %v, want accepted: %v", kind, what, errs, wantAccepted)
			}
		}
		check("a condition without reason", short, kind == "NodeClaim")
		check("a condition with an empty reason", noReason, kind == "NodeClaim")
		check("a reason that is no word", badReason, false)
	}
}
