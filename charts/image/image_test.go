package image

import (
	"archive/tar"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// release returns a release with two small programs: an image works with any bytes.
func release(t *testing.T) Release {
	t.Helper()
	r := Release{Version: "1.2.3", Commit: "abc", Time: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	for _, architecture := range []string{"amd64", "arm64"} {
		path := filepath.Join(t.TempDir(), "tenon-linux-"+architecture)
		if err := os.WriteFile(path, []byte("program for "+architecture), 0o700); err != nil {
			t.Fatal(err)
		}
		r.Programs = append(r.Programs, Program{architecture, path})
	}
	return r
}

func written(t *testing.T, r Release) (v1.ImageIndex, v1.Hash) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "image")
	digest, err := Write(folder, r)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	index, err := outer.ImageIndex(digest)
	if err != nil {
		t.Fatal(err)
	}
	return index, digest
}

// The layout is valid: every digest, size and media type of the index and its images is right.
func TestTheLayoutIsValid(t *testing.T) {
	t.Parallel()
	index, _ := written(t, release(t))
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
}

// The same programs give the same digest, wherever and whenever the image is made; other programs
// give another digest.
func TestImagesAreReproducible(t *testing.T) {
	t.Parallel()
	_, first := written(t, release(t))
	_, second := written(t, release(t))
	if first != second {
		t.Errorf("digests %s and %s of the same programs", first, second)
	}
	other := release(t)
	if err := os.WriteFile(other.Programs[0].Path, []byte("another"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, third := written(t, other); third == first {
		t.Error("another program has the same digest")
	}
}

// Each platform has an image that runs its program as the chart's user, on a file system without a
// shell.
func TestImages(t *testing.T) {
	t.Parallel()
	index, _ := written(t, release(t))
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/tenon"}) || config.Architecture != m.Platform.Architecture {
			t.Errorf("%s: configuration %+v", m.Platform, config.Config)
		}
		held := contents(t, image)
		if held["tenon"] != "program for "+m.Platform.Architecture {
			t.Errorf("%s has the program %q", m.Platform, held["tenon"])
		}
		if strings.Count(held["etc/ssl/certs/ca-certificates.crt"], "BEGIN CERTIFICATE") < 50 || len(held) != 7 {
			t.Errorf("%s holds %d files, and certificates of %d bytes", m.Platform, len(held), len(held["etc/ssl/certs/ca-certificates.crt"]))
		}
	}
	if !slices.Equal(platforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("platforms %q", platforms)
	}
}

func contents(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers: %v", len(layers), err)
	}
	archive, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	held := map[string]string{}
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if err == io.EOF {
			return held
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		held[header.Name] = string(text)
	}
}

// The SBOM names the toolchain and every module of the program, which is this test's own program.
func TestSBOM(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := SBOM(release(t), self)
	if err != nil {
		t.Fatal(err)
	}
	var d spdx
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, p := range d.Packages {
		named[p.Name] = true
	}
	if !named["tenon"] || !named["stdlib"] || len(d.Relations) != len(d.Packages) {
		t.Errorf("%d packages and %d relations: %v", len(d.Packages), len(d.Relations), named)
	}
}

// A file that is no Go program is refused with its name.
func TestNoProgram(t *testing.T) {
	t.Parallel()
	r := release(t)
	if _, err := SBOM(r, r.Programs[0].Path); err == nil || !strings.Contains(err.Error(), "tenon-linux-amd64") {
		t.Errorf("error %v", err)
	}
}
