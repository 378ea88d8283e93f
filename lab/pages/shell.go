package pages

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tenon/lab/labtest"
)

// Shell is the shell of a reader who works in the root of a checkout, with the programs built.
type Shell struct {
	*testing.T
	// Folder looks like the root of the repository; a lab that starts there is not that of the user.
	Folder string

	input  io.Writer
	output *bufio.Reader
}

// shared are what a page uses of the repository. A folder that a page enters is there itself, so that ".." leads back.
var shared = []string{"charts/go.mod", "charts/tenon", "charts/tenon-crd", "deploy", "docs", "examples", "api", "cloud"}

// NewShell starts the shell. What is in environment is set beside what the test has.
func NewShell(t *testing.T, environment ...string) *Shell {
	t.Helper()
	s := &Shell{T: t, Folder: t.TempDir()}
	root, err := labtest.Repository()
	if err != nil {
		t.Fatal(err)
	}
	tools := s.furnish(root)
	c := exec.Command("bash", "--norc", "--noprofile")
	c.Dir = s.Folder
	home := t.TempDir()
	c.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "HOME="+home, "KUBECONFIG=", "AWS_PAGER=",
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	c.Env = append(c.Env, makefileEnv+"="+filepath.Join(root, "Makefile"), AccountEnv+"="+s.Account())
	c.Env = append(c.Env, environment...)
	if s.input, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = write, write
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	s.output = bufio.NewReader(read)
	t.Cleanup(func() {
		_ = c.Process.Kill() // it waits for a command
		_ = c.Wait()
		read.Close()
	})
	return s
}

// furnish makes the folder, and returns that of the programs that the page finds in PATH.
func (s *Shell) furnish(root string) (tools string) {
	s.Helper()
	self, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	tools = s.TempDir()
	links := map[string]func() (string, error){
		s.path("bin", "tenon"):            labtest.Product,
		s.path("bin", "tenon-lab"):        labtest.Program,
		filepath.Join(tools, "tenon"):     labtest.Product,
		filepath.Join(tools, "helm"):      labtest.Helm,
		filepath.Join(tools, realKubectl): labtest.Kubectl,
	}
	for _, name := range shared {
		links[s.path(name)] = func() (string, error) { return filepath.Join(root, name), nil }
	}
	for name := range players {
		links[filepath.Join(tools, name)] = func() (string, error) { return self, nil }
	}
	for _, folder := range []string{"bin", "charts"} {
		if err := os.Mkdir(s.path(folder), 0o755); err != nil {
			s.Fatal(err)
		}
	}
	for link, target := range links {
		path, err := target()
		if err == nil {
			err = os.Symlink(path, link)
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	return tools
}

// Account is the file in which the players keep what the page has made in the account.
func (s *Shell) Account() string { return s.path(".account.json") }

func (s *Shell) path(parts ...string) string {
	return filepath.Join(append([]string{s.Folder}, parts...)...)
}

// end stands behind what a command printed, with its status.
const end = "the command ended with "

// Do runs a command, and returns what it printed and its status.
func (s *Shell) Do(command string) (printed string, status int) {
	s.Helper()
	if _, err := fmt.Fprintf(s.input, "{\n%s\n} </dev/null\nprintf '\\n%s%%d\\n' $?\n", command, end); err != nil {
		s.Fatalf("%s: %v", command, err)
	}
	var text strings.Builder
	for {
		line, err := s.output.ReadString('\n')
		if said, is := strings.CutPrefix(line, end); is {
			if status, err = strconv.Atoi(strings.TrimSpace(said)); err == nil {
				return strings.TrimSuffix(text.String(), "\n"), status
			}
		}
		text.WriteString(line)
		if err != nil {
			s.Fatalf("%s: the shell ended: %v\n%s", command, err, text.String())
		}
	}
}
