package image

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// SBOM lists what a program is made of, as SPDX 2.3: the toolchain and each module with its
// version. It reads them out of the program itself.
func SBOM(r Release, program string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read what %s is made of: %w", program, err)
	}
	sum, err := sumOf(program)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(program)
	d := spdx{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name + "-" + r.Version,
		Namespace: "https://spdx.org/spdxdocs/" + name + "-" + sum,
		Creation:  creation{Created: r.Time.UTC().Format(time.RFC3339), Creators: []string{"Tool: tenon-image"}},
		Packages:  []pkg{{Name: "tenon", ID: "SPDXRef-tenon", Version: r.Version, Location: "NOASSERTION", Sums: []checksum{{"SHA256", sum}}}},
		Relations: []relation{{"SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-tenon"}},
	}
	d.add("stdlib", strings.TrimPrefix(info.GoVersion, "go"))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.add(m.Path, m.Version)
	}
	return json.MarshalIndent(d, "", "  ")
}

// Checksums returns a line for each file, as sha256sum -c reads them.
func Checksums(files ...string) (string, error) {
	var text strings.Builder
	for _, f := range files {
		sum, err := sumOf(f)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, filepath.Base(f))
	}
	return text.String(), nil
}

func sumOf(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

type spdx struct {
	Version   string     `json:"spdxVersion"`
	License   string     `json:"dataLicense"`
	ID        string     `json:"SPDXID"`
	Name      string     `json:"name"`
	Namespace string     `json:"documentNamespace"`
	Creation  creation   `json:"creationInfo"`
	Packages  []pkg      `json:"packages"`
	Relations []relation `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pkg struct {
	Name     string     `json:"name"`
	ID       string     `json:"SPDXID"`
	Version  string     `json:"versionInfo"`
	Location string     `json:"downloadLocation"`
	Sums     []checksum `json:"checksums,omitempty"`
	Refs     []ref      `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relation struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

func (d *spdx) add(module, version string) {
	id := fmt.Sprintf("SPDXRef-module-%d", len(d.Packages))
	d.Packages = append(d.Packages, pkg{Name: module, ID: id, Version: version, Location: "NOASSERTION",
		Refs: []ref{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + module + "@" + version}}})
	d.Relations = append(d.Relations, relation{"SPDXRef-tenon", "DEPENDS_ON", id})
}
