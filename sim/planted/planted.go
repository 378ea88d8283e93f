// Package planted holds mistakes: patches of a line or so, each of which breaks the product in a plausible
// way, and names the rule of sim/invariant that has to find it.
//
// An overlay of the compiler applies them, so no checkout is changed. A patch that no longer fits the code
// fails its test, and has to be rewritten. The package must not contain anything that ships.
package planted

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tenon/core/order"
)

//go:embed *.patch
var patches embed.FS

// Mistake is one patch.
type Mistake struct {
	Name string
	// What describes the mistake.
	What string
	// Finds is the rule that has to find it.
	Finds string
	// Flags are the flags of the simulation that searches for it.
	Flags []string

	hunks []hunk
}

// hunk is one change: lines of a file, and their replacement.
type hunk struct{ file, old, new string }

// All returns the mistakes, by name.
func All() ([]Mistake, error) {
	names, err := fs.Glob(patches, "*.patch")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []Mistake
	for _, name := range names {
		text, err := patches.ReadFile(name)
		if err != nil {
			return nil, err
		}
		m, err := parse(strings.TrimSuffix(name, ".patch"), string(text))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// parse reads a header of "Name: value" lines, and a unified diff.
func parse(name, text string) (Mistake, error) {
	m := Mistake{Name: name}
	file := ""
	var h *hunk
	for number, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "--- a/"):
		case strings.HasPrefix(line, "+++ b/"):
			file = strings.TrimPrefix(line, "+++ b/")
		case strings.HasPrefix(line, "@@"):
			m.hunks = append(m.hunks, hunk{file: file})
			h = &m.hunks[len(m.hunks)-1]
		case h != nil:
			if err := h.add(line); err != nil {
				return m, fmt.Errorf("line %d: %w", number+1, err)
			}
		case key == "What":
			m.What = value
		case key == "Finds":
			m.Finds = value
		case key == "Flags":
			m.Flags = strings.Fields(value)
		case line != "":
			return m, fmt.Errorf("line %d: %q has no meaning here", number+1, line)
		}
	}
	if m.What == "" || m.Finds == "" || len(m.hunks) == 0 || file == "" {
		return m, fmt.Errorf("it does not say what it breaks, what finds it, or how")
	}
	return m, nil
}

func (h *hunk) add(line string) error {
	switch {
	case line == "":
		h.old, h.new = h.old+"\n", h.new+"\n"
	case line[0] == ' ':
		h.old, h.new = h.old+line[1:]+"\n", h.new+line[1:]+"\n"
	case line[0] == '-':
		h.old += line[1:] + "\n"
	case line[0] == '+':
		h.new += line[1:] + "\n"
	default:
		return fmt.Errorf("%q is no line of a hunk", line)
	}
	return nil
}

// Apply returns the files that the mistake changes, with the change. root is the folder of the module. The
// lines that a hunk removes have to be in its file exactly once.
func (m Mistake) Apply(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, h := range m.hunks {
		text, read := files[h.file]
		if !read {
			data, err := os.ReadFile(filepath.Join(root, h.file))
			if err != nil {
				return nil, fmt.Errorf("plant %s: %w", m.Name, err)
			}
			text = string(data)
		}
		if n := strings.Count(text, h.old); n != 1 {
			return nil, fmt.Errorf("plant %s: %s has %d places for it, and not one: plant it anew", m.Name, h.file, n)
		}
		files[h.file] = strings.Replace(text, h.old, h.new, 1)
	}
	return files, nil
}

// Packages are the packages that the mistake changes, as the go command names them.
func (m Mistake) Packages() []string {
	var out []string
	for _, h := range m.hunks {
		out = append(out, "./"+filepath.ToSlash(filepath.Dir(h.file)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Overlay writes the changed files into a folder, with the file that `go build -overlay` reads, and returns
// the path of that file.
func (m Mistake) Overlay(root, folder string) (string, error) {
	files, err := m.Apply(root)
	if err != nil {
		return "", err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for _, file := range order.Keys(files) {
		path := filepath.Join(folder, fmt.Sprintf("%d-%s", len(overlay.Replace), filepath.Base(file)))
		if err := os.WriteFile(path, []byte(files[file]), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, file)] = path
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, data, 0o600)
}
