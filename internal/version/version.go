// Package version knows which build of Tenon is running: the version, commit and commit date
// that the linker stamped from git, and the Go toolchain. It must not read files or run git:
// what was not stamped is said to be unknown, never guessed.
package version

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// Stamped by the linker (see Makefile): go build -ldflags "-X tenon/internal/version.number=1.2.3 …".
// They stay strings without initialisers because the linker can only set those.
var (
	number string
	commit string
	date   string
)

// Info is what one build says about itself.
type Info struct {
	Version    string `json:"version"`
	Commit     string `json:"commit"`
	CommitDate string `json:"commitDate"`
	GoVersion  string `json:"goVersion"`
	Platform   string `json:"platform"`
}

// unknown stands for what a build without stamps (go run, go install) cannot tell.
const unknown = "unknown"

// Get returns the running build. A build without stamps falls back on what the Go toolchain
// recorded, so that `go install` from a checkout still names its commit.
func Get() Info {
	return describe(Info{Version: number, Commit: commit, CommitDate: date}, recorded())
}

// describe fills what the stamps leave open from what the toolchain recorded.
func describe(stamped Info, recorded map[string]string) Info {
	return Info{
		Version:    cmp.Or(stamped.Version, "0.0.0-devel"),
		Commit:     cmp.Or(stamped.Commit, recorded["vcs.revision"], unknown),
		CommitDate: cmp.Or(stamped.CommitDate, recorded["vcs.time"], unknown),
		GoVersion:  runtime.Version(),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// ShortCommit is the commit as people quote it: its first seven digits.
func (i Info) ShortCommit() string {
	if i.Commit == unknown || len(i.Commit) < 7 {
		return i.Commit
	}
	return i.Commit[:7]
}

// UserAgent is the name under which the API server's audit log sees this process. Karpenter's
// name is kept because audit rules and API priority rules in the field match on it.
func (i Info) UserAgent() string { return "karpenter/" + i.Version }

func recorded() map[string]string {
	found := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return found
	}
	for _, setting := range info.Settings {
		found[setting.Key] = setting.Value
	}
	return found
}
