package crds_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"tenon/api/admission"
	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
)

// testdata/earlier/README.md says how the files of this folder are made.
const earlier = "testdata/earlier"

var definitionsOf = flag.String("definitions", "", "add the fields of the definitions in this checkout to testdata/earlier/fields.txt")

// recorded are the objects that an earlier version left.
func recorded(t *testing.T) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(earlier, "objects.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err = yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	list := &unstructured.UnstructuredList{}
	if err := list.UnmarshalJSON(text); err != nil || len(list.Items) == 0 {
		t.Fatalf("%d objects: %v", len(list.Items), err)
	}
	objects := make([]map[string]any, len(list.Items))
	for i := range list.Items {
		objects[i] = list.Items[i].Object
	}
	return objects
}

// The definitions accept the objects of an earlier version and drop none of their fields, Go reads all of them, and
// hashes of the present version are those that the earlier one wrote: another hash under the same version of
// hashes would replace every node.
func TestEarlierObjectsAreAccepted(t *testing.T) {
	t.Parallel()
	kinds := admitters(t)
	checked := map[string]int{}
	for _, object := range recorded(t) {
		kind, _ := object["kind"].(string)
		admitter, ours := kinds[kind]
		if !ours {
			continue // nodes are Kubernetes' own
		}
		checked[kind]++
		if unknown := admitter.UnknownFields(object); len(unknown) > 0 {
			t.Errorf("%s loses %v", kind, unknown)
		}
		if refused := admitter.Update(t.Context(), object, object); len(refused) > 0 {
			t.Errorf("%s is refused: %v", kind, refused)
		}
		if refused := admitter.Create(t.Context(), object); len(refused) > 0 {
			t.Errorf("%s cannot be restored from a backup: %v", kind, refused)
		}
		sameHash(t, kind, object)
	}
	for _, kind := range []string{"NodePool", "EC2NodeClass", "NodeClaim"} {
		if checked[kind] < 2 {
			t.Errorf("the record has %d objects of kind %s", checked[kind], kind)
		}
	}
}

func sameHash(t *testing.T, kind string, object map[string]any) {
	t.Helper()
	switch kind {
	case "NodePool":
		pool := &karpenterv1.NodePool{}
		strictly(t, object, pool)
		if was := pool.Annotations; was[karpenterv1.AnnotationNodePoolHashVersion] == karpenterv1.NodePoolHashVersion && was[karpenterv1.AnnotationNodePoolHash] != pool.Hash() {
			t.Errorf("pool %s has hash %s now: change NodePoolHashVersion", pool.Name, pool.Hash())
		}
	case "EC2NodeClass":
		class := &awsv1.EC2NodeClass{}
		strictly(t, object, class)
		// The certificate authority of the cluster is part of the hash.
		authority, err := os.ReadFile(filepath.Join(earlier, "authority.txt"))
		if err != nil {
			t.Fatal(err)
		}
		hash, err := class.Hash(string(authority))
		if was := class.Annotations; err != nil || was[awsv1.AnnotationNodeClassHashVersion] == awsv1.HashVersion && was[awsv1.AnnotationNodeClassHash] != hash {
			t.Errorf("class %s has hash %s now, %v: change HashVersion", class.Name, hash, err)
		}
	case "NodeClaim":
		strictly(t, object, &karpenterv1.NodeClaim{})
	}
}

// strictly reads an object, and refuses fields that Go does not know.
func strictly(t *testing.T, object map[string]any, into any) {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Errorf("%T: %v", into, err)
	}
}

// The definitions still have each field of earlier ones, with its type: they can be upgraded in place, with objects
// that use any of the fields.
func TestNoFieldIsLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(earlier, "fields.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was := strings.Fields(string(text))
	if *definitionsOf != "" {
		was = append(was, fieldsBelow(t, *definitionsOf)...)
		slices.Sort(was)
		was = slices.Compact(was)
		if err := os.WriteFile(path, []byte(strings.Join(was, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is := map[string]bool{}
	for _, admitter := range admitters(t) {
		for _, field := range fieldsOf(admitter) {
			is[field] = true
		}
	}
	if len(was) < 200 {
		t.Errorf("only %d fields are recorded", len(was))
	}
	for _, field := range was {
		if !is[field] {
			t.Errorf("the definitions have no %s any more: objects lose it when they are upgraded", field)
		}
	}
}

func fieldsBelow(t *testing.T, checkout string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(checkout, "api", "crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions in %s: %v", checkout, err)
	}
	var fields []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		admitter, err := admission.New(text)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, fieldsOf(admitter)...)
	}
	return fields
}

// fieldsOf are the fields of a kind, each as group/version/kind.path:type.
func fieldsOf(a *admission.Admitter) []string {
	spec := a.Definition.Spec
	version := spec.Versions[0]
	return fieldsIn(spec.Group+"/"+version.Name+"/"+spec.Names.Kind, version.Schema.OpenAPIV3Schema)
}

func fieldsIn(path string, s *apiextensionsv1.JSONSchemaProps) []string {
	fields := []string{path + ":" + s.Type}
	for name, property := range s.Properties {
		fields = append(fields, fieldsIn(path+"."+name, &property)...)
	}
	if s.Items != nil {
		fields = append(fields, fieldsIn(path+"[]", s.Items.Schema)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		fields = append(fields, fieldsIn(path+"{}", s.AdditionalProperties.Schema)...)
	}
	return fields
}
