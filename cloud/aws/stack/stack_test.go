package stack_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"tenon/cloud/aws/stack"
)

var rewrite = flag.Bool("rewrite", false, "write the files of deploy/aws anew")

// What users apply to their account is what the code needs today.
func TestFilesAreCurrent(t *testing.T) {
	t.Parallel()
	files, err := stack.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join("..", "..", "..", "deploy", "aws", filepath.FromSlash(f.Path))
		if *rewrite {
			if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != f.Text {
			t.Errorf("%s is not what is generated now; run make generate", path)
		}
	}
}
