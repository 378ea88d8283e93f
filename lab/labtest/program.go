package labtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// programEnv names the program to test with; without it, the program is built from the sources.
const programEnv = "TENON_LAB"

// Program returns the path of tenon-lab. It is built at first use, into the repository's bin folder, unless
// TENON_LAB names a path. When nothing has changed, building takes a second or two.
var Program = sync.OnceValues(func() (string, error) {
	root, err := Repository()
	if err != nil {
		return "", err
	}
	if err := touchSources(filepath.Join(root, "lab")); err != nil {
		return "", err
	}
	if path := os.Getenv(programEnv); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(root, "bin", "tenon-lab")
	return path, build(root, filepath.Join(root, "lab"), path, "./cmd/tenon-lab")
})

// Repository is the root of the repository that the test runs in: the folder above the lab's module.
func Repository() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find working directory: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "lab", "go.mod")); err == nil {
			return folder, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", errors.New("the working directory is in no checkout of the repository")
		}
		folder = above
	}
}

// touchSources looks at every source file of the lab. The go command caches results of tests, and runs a
// test again when a file of its module that the test looked at has changed. It does not see which program
// the test started.
func touchSources(module string) error {
	return filepath.WalkDir(module, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "_test.go") {
			return err
		}
		_, err = os.Stat(path)
		return err
	})
}

// Product returns the path of tenon, built at first use into the repository's bin folder, where tenon-lab
// finds it.
var Product = sync.OnceValues(func() (string, error) {
	root, err := Repository()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", "tenon")
	return path, build(root, root, path, "./cmd/tenon")
})

// Helm returns the path of Helm's command line, in the version that renders the charts.
var Helm = tool("helm", "charts", "helm.sh/helm/v3/cmd/helm")

// Kubectl returns the path of kubectl, in the version of the lab's API server.
var Kubectl = tool("kubectl", "lab", "k8s.io/kubernetes/cmd/kubectl")

// tool builds a program of another project, in the version that a module of ours names, at first use.
func tool(name, module, what string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		root, err := Repository()
		if err != nil {
			return "", err
		}
		path := filepath.Join(root, "bin", "tools", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", fmt.Errorf("make folder for tools: %w", err)
		}
		return path, build(root, filepath.Join(root, module), path, what)
	})
}

// build builds a program. Test packages run at the same time, so one builds while the others wait.
func build(root, module, path, what string) error {
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return fmt.Errorf("make folder for programs: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(bin, ".labtest.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("open lock of the build: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("wait for another build: %w", err)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, what)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", filepath.Base(path), err, output)
	}
	return nil
}
