package planted

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// Hunt searches for a mistake with the simulation.
type Hunt struct {
	// Root is the folder of the module.
	Root string
	// Seeds is the largest number of seeds, and For the longest time; zero means no limit.
	Seeds int
	For   time.Duration
	// Parallel is how many seeds run at a time.
	Parallel int
}

// Catch is the result of a hunt.
type Catch struct {
	Mistake Mistake
	// Found says that the mistake's rule was broken, by the last of the Seeds that were tried.
	Found bool
	Seeds int
	// Flags repeat the seed that found it.
	Flags string
	Took  time.Duration
}

// String returns a line for people.
func (c Catch) String() string {
	if !c.Found {
		return fmt.Sprintf("%-22s not found by %d seeds in %s: %s", c.Mistake.Name, c.Seeds, c.Took.Round(time.Second), c.Mistake.What)
	}
	return fmt.Sprintf("%-22s %4d seeds (%s), %q: %s", c.Mistake.Name, c.Seeds, c.Took.Round(time.Second), c.Mistake.Finds, c.Flags)
}

// Find builds the simulation with the mistake, and runs seeds until one breaks the rule.
func (h Hunt) Find(ctx context.Context, m Mistake) (Catch, error) {
	folder, err := os.MkdirTemp("", "planted-")
	if err != nil {
		return Catch{}, err
	}
	defer os.RemoveAll(folder)
	program, err := h.Build(ctx, m, folder)
	if err != nil {
		return Catch{}, err
	}
	began := time.Now()
	out, err := h.run(ctx, program, m)
	c, readable := read(string(out))
	c.Mistake, c.Took = m, time.Since(began)
	if !readable {
		return c, fmt.Errorf("hunt %s: %w\n%s", m.Name, err, out)
	}
	return c, nil
}

// Build compiles the simulation with the mistake, and returns the path of the program.
func (h Hunt) Build(ctx context.Context, m Mistake, folder string) (string, error) {
	overlay, err := m.Overlay(h.Root, folder)
	if err != nil {
		return "", err
	}
	program := filepath.Join(folder, "sim")
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", program, "./sim/cmd/sim")
	build.Dir = h.Root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build with %s: %w\n%s", m.Name, err, out)
	}
	return program, nil
}

func (h Hunt) run(ctx context.Context, program string, m Mistake) ([]byte, error) {
	flags := m.Flags
	if len(flags) == 0 {
		flags = []string{"-vary", "-faults", "all"}
	}
	args := append([]string{
		"-seeds", strconv.Itoa(h.Seeds), "-for", h.For.String(), "-parallel", strconv.Itoa(max(h.Parallel, 1)), "-failures", "1", "-rule", m.Finds,
	}, flags...)
	command := exec.CommandContext(ctx, program, args...)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); !ended && err != nil {
		return out.Bytes(), err
	}
	return out.Bytes(), err
}

var (
	sum    = regexp.MustCompile(`(?m)^(\d+) seeds from \d+, (\d+) failed`)
	failed = regexp.MustCompile(`(?m)^FAILED (.*)$`)
)

// read reads the end of the simulation's output.
func read(out string) (Catch, bool) {
	found := sum.FindStringSubmatch(out)
	if found == nil {
		return Catch{}, false
	}
	seeds, err := strconv.Atoi(found[1])
	c := Catch{Seeds: seeds, Found: found[2] != "0"}
	if flags := failed.FindStringSubmatch(out); flags != nil {
		c.Flags = flags[1]
	}
	return c, err == nil
}
