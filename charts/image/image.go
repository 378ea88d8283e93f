// Package image makes the image of the controller without a container engine: one index with an
// image for each platform, as an OCI layout on disk, and the files that are published beside it.
// The same programs give the same bytes.
//
// An image has the program, the root certificates that it needs to talk to AWS, and no shell. The
// package pushes nothing.
package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// Release has the inputs of an image.
type Release struct {
	Version, Commit string
	// Time is the commit's time. An image has no other time in it.
	Time time.Time
	// Programs are the paths of the program, by architecture: amd64, arm64.
	Programs []Program
}

// Program is the controller for one architecture.
type Program struct{ Architecture, Path string }

// user is the user that the chart sets.
const user = "65532:65532"

// Write makes the index as an OCI layout in a new folder, and returns its digest.
func Write(folder string, r Release) (v1.Hash, error) {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range r.Programs {
		made, err := one(r, p)
		if err != nil {
			return v1.Hash{}, fmt.Errorf("image for %s: %w", p.Architecture, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: made, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: "linux", Architecture: p.Architecture},
		}})
	}
	index = mutate.Annotations(index, r.annotations()).(v1.ImageIndex)
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return v1.Hash{}, fmt.Errorf("write layout: %w", err)
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.Version})); err != nil {
		return v1.Hash{}, fmt.Errorf("write index: %w", err)
	}
	return index.Digest()
}

func (r Release) annotations() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title": "tenon", "org.opencontainers.image.version": r.Version,
		"org.opencontainers.image.revision": r.Commit, "org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.created": r.Time.UTC().Format(time.RFC3339),
	}
}

func one(r Release, p Program) (v1.Image, error) {
	text, err := files(p.Path, r.Time)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("make layer: %w", err)
	}
	made := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	made, err = mutate.Append(made, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.Time.UTC()}, CreatedBy: "tenon-image"}})
	if err != nil {
		return nil, fmt.Errorf("add layer: %w", err)
	}
	config, err := made.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", p.Architecture, v1.Time{Time: r.Time.UTC()}
	config.Config = v1.Config{User: user, Entrypoint: []string{"/tenon"}, WorkingDir: "/", Labels: r.annotations()}
	return mutate.ConfigFile(made, config)
}

// files makes the archive of an image's files: their order, owners and times are fixed.
func files(program string, at time.Time) ([]byte, error) {
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, f := range []struct {
		name string
		mode int64
		text []byte
	}{
		{"etc/", 0o755, nil},
		{"etc/passwd", 0o644, []byte("nonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{"etc/ssl/", 0o755, nil},
		{"etc/ssl/certs/", 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, roots()},
		{"tmp/", 0o1777, nil},
		{"tenon", 0o755, text},
	} {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.text)), ModTime: at.UTC(), Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if f.text == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("archive %s: %w", f.name, err)
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, fmt.Errorf("archive %s: %w", f.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("end archive: %w", err)
	}
	return archive.Bytes(), nil
}

// roots returns Mozilla's root certificates, as Go's own project publishes them. It leaves out
// those with a constraint that a file of certificates cannot express.
func roots() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.Bytes()
}
