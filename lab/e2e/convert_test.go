package e2e

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/lab/labtest"
)

// What "tenon convert" makes of former manifests is accepted by the API server, with no field that it does not know, and by
// "tenon validate".
func TestConvertedManifestsAreAccepted(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	program, err := labtest.Product()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../internal/convert/testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no former manifests: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := exec.Command(program, "convert", "--cluster-name", "demo", file).Output()
			if failed, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || failed.ExitCode() != 2) { // 2: something is lost
				t.Fatal(err)
			}
			documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
			made := 0
			for {
				object := &unstructured.Unstructured{}
				if err := documents.Decode(object); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				if err := lab.Client.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
					t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
				made++
			}
			if made == 0 {
				t.Error("nothing was made of it")
			}
			result := filepath.Join(t.TempDir(), "converted.yaml")
			if err := os.WriteFile(result, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if said, err := exec.Command(program, "validate", result).CombinedOutput(); err != nil {
				t.Errorf("tenon validate: %v\n%s", err, said)
			}
		})
	}
}
