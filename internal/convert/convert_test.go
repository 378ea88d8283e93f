package convert_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/api/admission"
	"tenon/api/crds"
	"tenon/internal/convert"
	"tenon/internal/source"
)

// filled are options with which nothing has to be lost.
var filled = convert.Options{Role: "nodes", ClusterName: "demo"}

func inputs(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	texts := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = text
	}
	return texts
}

// What is converted is what an API server with today's definitions accepts, and it is complete.
func TestResultsAreAdmitted(t *testing.T) {
	t.Parallel()
	admitters := map[string]*admission.Admitter{}
	for _, d := range crds.All() {
		a, err := admission.New(d.YAML)
		if err != nil {
			t.Fatal(err)
		}
		admitters[a.Definition.Spec.Names.Kind] = a
	}
	for file, text := range inputs(t) {
		documents, err := source.Parse(file, text)
		if err != nil {
			t.Fatal(err)
		}
		result := convert.Convert(documents, filled)
		if !result.Complete() {
			t.Errorf("%s: something is lost: %+v", file, result.Changes)
		}
		for _, d := range result.Documents {
			if convert.IsFormer(d.APIVersion(), d.Kind()) {
				t.Errorf("%s: %s is not converted", file, d.Object())
			}
			object, err := d.Map()
			if err != nil {
				t.Fatal(err)
			}
			if unknown := admitters[d.Kind()].UnknownFields(object); len(unknown) > 0 {
				t.Errorf("%s: %s has fields that are dropped: %v", file, d.Object(), unknown)
			}
			if refused := admitters[d.Kind()].Create(t.Context(), object); len(refused) > 0 {
				t.Errorf("%s: %s is refused: %v", file, d.Object(), refused)
			}
		}
	}
}

// What is converted once is of today, and converting it again changes nothing.
func TestConvertedTwice(t *testing.T) {
	t.Parallel()
	for file, text := range inputs(t) {
		once := written(t, file, text)
		if twice := written(t, file, once); !bytes.Equal(once, twice) {
			t.Errorf("%s: converted again it is\n%s\nand not\n%s", file, twice, once)
		}
	}
}

func written(t *testing.T, file string, text []byte) []byte {
	t.Helper()
	documents, err := source.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := source.Write(convert.Convert(documents, filled).Documents)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Selectors become all combinations of what they allow; identifiers stand alone.
func TestSelectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/template-selectors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := string(written(t, "x", text))
	for _, part := range []string{
		"amiSelectorTerms:\n    - name: a\n      owner: self\n    - name: a\n      owner: \"123456789012\"\n    - name: b\n      owner: self\n    - name: b\n      owner: \"123456789012\"\n",
		"subnetSelectorTerms:\n    - tags:\n        team: '*'\n        zone: x\n    - tags:\n        team: '*'\n        zone: \"y\"\n",
		"securityGroupSelectorTerms:\n    - id: sg-1\n    - id: sg-2\n",
		"deviceName: /dev/sda1",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("the result lacks\n%s\nit is\n%s", part, got)
		}
	}
}

// FuzzConvert: converting any file ends without a panic, and the result is YAML.
func FuzzConvert(f *testing.F) {
	for _, text := range inputs(f) {
		f.Add(text)
	}
	f.Add([]byte("apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nspec: {template: [], disruption: x}\n"))
	f.Add([]byte("apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: 1\nspec: {requirements: {a: b}, limits: 3, consolidation: []}\n"))
	f.Add([]byte("apiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nspec: {subnetSelector: [a], amiSelector: {a: {b: c}}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		documents, err := source.Parse("x", text)
		if err != nil {
			return
		}
		for _, d := range documents {
			if !convert.IsFormer(d.APIVersion(), d.Kind()) {
				return // only what is converted is looked at
			}
		}
		out, err := source.Write(convert.Convert(documents, filled).Documents)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := source.Parse("x", out); err != nil {
			t.Fatalf("the result is no YAML: %v\n%s", err, out)
		}
	})
}
