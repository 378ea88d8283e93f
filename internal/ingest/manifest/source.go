package manifest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the path that means standard input.
const Stdin = "-"

// extensions are the extensions of files that are read in directories. A file that is named itself
// may have any.
var extensions = []string{".yaml", ".yml", ".json"}

// Expand lists the files that the paths name, in order: directories are walked, by name.
func Expand(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		if path == Stdin {
			files = append(files, path)
			continue
		}
		found, err := walk(path)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

func walk(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &Problem{File: path, Err: plainError(err)}
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return &Problem{File: name, Err: plainError(err)}
		}
		if !entry.IsDir() && slices.Contains(extensions, strings.ToLower(filepath.Ext(name))) {
			files = append(files, name)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = &Problem{File: path, Err: fmt.Errorf("has no files that end in %s", strings.Join(extensions, ", "))}
	}
	return files, err
}

// plainError returns an error without the path, which the Problem names already.
func plainError(err error) error {
	if pathError, ok := err.(*fs.PathError); ok {
		return pathError.Err
	}
	return err
}

// Load reads one file, or standard input.
func Load(file string, stdin io.Reader) ([]byte, error) {
	if file != Stdin {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, &Problem{File: file, Err: plainError(err)}
		}
		return data, nil
	}
	if stdin == nil {
		return nil, &Problem{File: file, Err: fmt.Errorf("there is no standard input")}
	}
	data, err := io.ReadAll(stdin)
	if err != nil {
		return nil, &Problem{File: file, Err: err}
	}
	return data, nil
}
