package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"tenon/api/crds"
	"tenon/api/rulecase"
	"tenon/lab/labtest"
)

// dryRun makes the API server do everything except store: cases leave nothing behind, and may run in
// parallel with the same names.
var dryRun = &client.CreateOptions{DryRun: []string{"All"}, Raw: nil}

// TestRules applies the accepted and the refused object of every rule of the API to the real API
// server, and compares what it says. Rules about changes need a stored object.
func TestRules(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	cases, err := rulecase.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("there are no cases")
	}
	for _, c := range cases {
		t.Run(c.Kind+"/"+c.Name, func(t *testing.T) {
			send := func(object map[string]any) error { return lab.Client.Create(t.Context(), sent(t, c, object), dryRun) }
			if c.Before != nil {
				send = stored(t, lab, c)
			}
			if err := send(c.Accepted); err != nil {
				t.Errorf("accepted object is refused: %v", err)
			}
			err := send(c.Refused)
			if err == nil {
				t.Fatal("refused object is accepted")
			}
			if !strings.Contains(err.Error(), c.Message) {
				t.Errorf("got  %v\nwant %s", err, c.Message)
			}
		})
	}
}

// stored stores the object before a change, and returns a function that tries the change.
func stored(t *testing.T, lab *labtest.Lab, c rulecase.Case) func(map[string]any) error {
	t.Helper()
	before := sent(t, c, c.Before)
	if err := lab.Client.Create(t.Context(), before); err != nil {
		t.Fatalf("store the object before the change: %v", err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(lab.Client.Delete(context.Background(), before)); err != nil {
			t.Error(err)
		}
	})
	return func(object map[string]any) error {
		changed := sent(t, c, object)
		changed.SetResourceVersion(before.GetResourceVersion())
		return lab.Client.Update(t.Context(), changed, &client.UpdateOptions{DryRun: []string{"All"}})
	}
}

// sent returns the object of a case as the API server gets it: with a unique name.
func sent(t *testing.T, c rulecase.Case, object map[string]any) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: object}
	u = u.DeepCopy()
	if u.GetName() == "" {
		u.SetName("rule-case")
	}
	return u
}

// TestDefinitionsAreServed looks for every definition of the product, under its names.
func TestDefinitionsAreServed(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	for _, definition := range crds.All() {
		object := &unstructured.Unstructured{}
		object.SetAPIVersion("apiextensions.k8s.io/v1")
		object.SetKind("CustomResourceDefinition")
		if err := lab.Client.Get(t.Context(), client.ObjectKey{Name: definition.Name}, object); err != nil {
			t.Error(err)
			continue
		}
		conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
		if err != nil {
			t.Error(err)
		}
		for _, entry := range conditions {
			condition, ok := entry.(map[string]any)
			if ok && condition["type"] != "NonStructuralSchema" && condition["status"] != "True" {
				t.Errorf("%s: %v", definition.Name, condition)
			}
		}
	}
}

// Machine images are chosen by the cluster's version.
func TestTheClusterKnowsItsVersion(t *testing.T) {
	t.Parallel()
	version, err := labtest.Share(t).Clients.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if want := "v" + version.Major + "." + version.Minor + "."; !strings.HasPrefix(version.GitVersion, want) || version.Major != "1" {
		t.Errorf("version is %q, want %s*", version.GitVersion, want)
	}
}

// TestExamples applies every manifest in the examples folder.
func TestExamples(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	root, err := labtest.Repository()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	err = filepath.WalkDir(filepath.Join(root, "examples"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		found++
		t.Run(filepath.Base(path), func(t *testing.T) { applyManifest(t, lab, path) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("there are no examples")
	}
}

func applyManifest(t *testing.T, lab *labtest.Lab, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for number, document := range strings.Split("\n"+string(text), "\n---") {
		object := map[string]any{}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("document %d: %v", number+1, err)
		}
		if len(object) == 0 {
			continue
		}
		u := &unstructured.Unstructured{Object: object}
		if namespaced, err := lab.Client.IsObjectNamespaced(u); err != nil {
			t.Fatalf("document %d: %v", number+1, err)
		} else if namespaced {
			u.SetNamespace("default")
		}
		if err := lab.Client.Create(t.Context(), u, dryRun, client.FieldValidation("Strict")); err != nil {
			t.Errorf("document %d, %s %s: %v", number+1, u.GetKind(), u.GetName(), err)
		}
	}
}
