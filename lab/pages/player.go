package pages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// players stand in for programs of these names: the program that a test is in plays them when it is called so.
var players = map[string]func(args []string) error{
	"aws": account, "eksctl": eksctl, "make": build, "go": goTool, "kubectl": kubectl,
}

// Play plays the program whose name this one was called by, and ends. For every other name it does nothing.
// It is for TestMain, before anything else.
func Play() {
	name := filepath.Base(os.Args[0])
	player, is := players[name]
	if !is {
		return
	}
	if err := player(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s, as the tests of pages play it: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// build knows the targets of the Makefile. Programs are built before a page is read.
func build(args []string) error {
	text, err := os.ReadFile(os.Getenv(makefileEnv))
	if err != nil {
		return err
	}
	for _, target := range args {
		if !strings.Contains(string(text), "\n"+target+":") {
			return fmt.Errorf("the Makefile has no target %s", target)
		}
		if target == "image" {
			return os.MkdirAll(image, 0o755)
		}
	}
	return nil
}

const (
	makefileEnv = "PAGES_MAKEFILE"
	image       = "bin/release/image" // where "make image" puts it
)

// goTool knows the tool that pushes an image, and where the image is.
func goTool(args []string) error {
	command, rest := strings.Join(args[:min(3, len(args))], " "), args[min(3, len(args)):]
	if command != "tool crane auth" && command != "tool crane push" {
		return fmt.Errorf("%q is not played", args)
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return fmt.Errorf("no module has the tool here: %w", err)
	}
	state, err := readRegistry()
	if err != nil {
		return err
	}
	if command == "tool crane auth" {
		if len(rest) < 2 || rest[0] != "login" || rest[1] != state.host() {
			return fmt.Errorf("login at %q, want %s", rest, state.host())
		}
		return nil
	}
	if len(rest) != 2 {
		return fmt.Errorf("push %q: want an image and its name", rest)
	}
	if _, err := os.Stat(rest[0]); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	name, tag, tagged := strings.Cut(strings.TrimPrefix(rest[1], state.host()+"/"), ":")
	if !tagged || tag == "" || !slices.Contains(state.Repositories, name) {
		return fmt.Errorf("push to %s: there are the repositories %q at %s", rest[1], state.Repositories, state.host())
	}
	return nil
}

// replace ends this program and begins another one in its place.
func replace(program string, args []string, environment []string) error {
	return fmt.Errorf("start %s: %w", program, syscall.Exec(program, append([]string{filepath.Base(program)}, args...), environment))
}

var errUnplayed = errors.New("no player knows this command: add what it would check")
