package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"tenon/internal/aws"
	"tenon/internal/settings"
	"tenon/internal/version"
)

// outcome is all that a command line leaves behind.
type outcome struct {
	status   int
	out, err string
}

func run(t *testing.T, variables map[string]string, args ...string) outcome {
	t.Helper()
	var out, messages bytes.Buffer
	w := Env{In: strings.NewReader(""), Out: &out, Err: &messages, Progress: io.Discard, Cloud: aws.Cloud(), LookupEnv: func(name string) (string, bool) {
		text, ok := variables[name]
		return text, ok
	}}
	status := Run(t.Context(), args, w)
	return outcome{status: status, out: out.String(), err: messages.String()}
}

func TestMistakesAreNamedWithARemedyAndStatusOne(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		want []string
	}{
		"a command with swapped letters": {[]string{"verison"}, []string{`unknown command "verison"; did you mean "version"?`, "tenon --help"}},
		"a command like no other":        {[]string{"frobnicate"}, []string{`unknown command "frobnicate"` + "\nrun 'tenon --help'"}},
		"an unknown flag":                {[]string{"--frobnicate"}, []string{"unknown flag: --frobnicate\nrun 'tenon --help'"}},
		"a flag that lacks a letter":     {[]string{"controller", "--metric-port=1"}, []string{"unknown flag: --metric-port; did you mean --metrics-port?", "tenon controller --help"}},
		"a flag cut short":               {[]string{"controller", "--vm-memory=1"}, []string{"did you mean --vm-memory-overhead-percent?"}},
		"a flag without its value":       {[]string{"controller", "--metrics-port"}, []string{"flag needs an argument: --metrics-port"}},
		"an argument too many":           {[]string{"version", "now"}, []string{`'tenon version' takes no argument, and was given "now"`}},
		"an argument of the controller":  {[]string{"controller", "start"}, []string{`was given "start"`, "tenon controller --help"}},
		"an unknown format":              {[]string{"version", "-o", "xml"}, []string{`unknown output format "xml"; use text, json or yaml`}},
		"no shell":                       {[]string{"completion"}, []string{"name one shell of bash, zsh, fish, powershell; given: none"}},
		"an unknown shell":               {[]string{"completion", "tcsh"}, []string{"given: tcsh", "tenon completion --help"}},
		"a setting that cannot be":       {[]string{"controller", "--metrics-port=http"}, []string{`--metrics-port="http"`, "METRICS_PORT", "tenon controller --help"}},
		"a log that cannot be":           {[]string{"controller", "--log-output-paths=/no/such/folder/log"}, []string{"/no/such/folder/log", "--log-output-paths"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, nil, tc.args...)
			if got.status != 1 || got.out != "" || !strings.HasPrefix(got.err, "error: ") {
				t.Errorf("tenon %s: status %d, output %q, messages %q", strings.Join(tc.args, " "), got.status, got.out, got.err)
			}
			for _, part := range tc.want {
				if !strings.Contains(got.err, part) {
					t.Errorf("message %q lacks %q", got.err, part)
				}
			}
		})
	}
}

func TestEveryCommandTeaches(t *testing.T) {
	t.Parallel()
	root := Root(Env{Cloud: aws.Cloud()})
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Long == "" || cmd.Short == "" || cmd.Example == "" {
			t.Errorf("'%s' says not what it does, or shows no example", cmd.CommandPath())
		}
		help := run(t, nil, append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		if help.status != 0 || help.err != "" {
			t.Errorf("'%s --help': status %d, messages %q", cmd.CommandPath(), help.status, help.err)
		}
		for _, part := range []string{cmd.Long, cmd.Example, "Usage:\n  " + cmd.CommandPath()} {
			if !strings.Contains(help.out, part) {
				t.Errorf("'%s --help' lacks %q", cmd.CommandPath(), part)
			}
		}
	}
}

func TestHelpOfTheRootListsCommandsAndStatuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--help"}, {"help"}} {
		got := run(t, nil, args...)
		for _, part := range []string{"Exit status: 0", "  controller   Run", "  version      Say", "  completion   Write"} {
			if got.status != 0 || !strings.Contains(got.out, part) {
				t.Errorf("tenon %v: status %d, output lacks %q", args, got.status, part)
			}
		}
	}
}

func TestHelpOfTheControllerNamesEverySettingTwice(t *testing.T) {
	t.Parallel()
	help := run(t, nil, "help", "controller").out
	for _, o := range settings.Options(aws.Cloud().Settings...) {
		if !strings.Contains(help, "  --"+o.Flag) || !strings.Contains(help, "("+o.Env) {
			t.Errorf("help lacks --%s or %s", o.Flag, o.Env)
		}
	}
	for line := range strings.Lines(help) {
		// Names and defaults are never broken, so that they can be searched for and copied.
		if len(line) > usageWidth+1 && !strings.HasPrefix(line, "  --") {
			t.Errorf("line is too long for a terminal: %s", line)
		}
	}
}

func TestVersionFormats(t *testing.T) {
	t.Parallel()
	build := version.Info{Version: "1.2.3", Commit: "0123456789", CommitDate: "2026-01-02T03:04:05Z", GoVersion: "go1.26", Platform: "linux/amd64"}
	formats := map[string]func([]byte, any) error{
		"json": json.Unmarshal,
		"yaml": func(text []byte, into any) error { return yaml.UnmarshalStrict(text, into) },
	}
	for format, read := range formats {
		var out bytes.Buffer
		if err := printVersion(&out, format, build); err != nil {
			t.Fatal(err)
		}
		var got version.Info
		if err := read(out.Bytes(), &got); err != nil || got != build {
			t.Errorf("%s %q reads as %+v, %v", format, out.String(), got, err)
		}
	}
	var out bytes.Buffer
	if err := printVersion(&out, "text", build); err != nil {
		t.Fatal(err)
	}
	const want = "tenon   1.2.3\ncommit  0123456789 (2026-01-02T03:04:05Z)\ngo      go1.26 linux/amd64\n"
	if out.String() != want {
		t.Errorf("text is %q, want %q", out.String(), want)
	}
	if got := run(t, nil, "--version"); got.status != 0 || !strings.HasPrefix(got.out, "tenon ") || strings.Count(got.out, "\n") != 1 {
		t.Errorf("tenon --version: %+v", got)
	}
	if got := run(t, nil, "version", "-o", "json"); got.status != 0 || !strings.Contains(got.out, `"goVersion": "go`) {
		t.Errorf("tenon version -o json: %+v", got)
	}
}

func TestCompletionKnowsTheCommands(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		if got := run(t, nil, "completion", shell); got.status != 0 || !strings.Contains(got.out, "tenon") || got.err != "" {
			t.Errorf("tenon completion %s: status %d, %d bytes, messages %q", shell, got.status, len(got.out), got.err)
		}
	}
	// What the scripts ask the binary when the user presses Tab.
	if got := run(t, nil, "__complete", "contr"); !strings.Contains(got.out, "controller") {
		t.Errorf("completing contr gives %q", got.out)
	}
	if got := run(t, nil, "__complete", "controller", "--metrics"); !strings.Contains(got.out, "--metrics-port") {
		t.Errorf("completing --metrics gives %q", got.out)
	}
	if got := run(t, nil, "__complete", "completion", ""); !strings.Contains(got.out, "fish") {
		t.Errorf("completing a shell gives %q", got.out)
	}
}

func TestExitStatuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err     error
		status  int
		message string
	}{
		"done":                   {nil, 0, ""},
		"wrong":                  {errors.New("boom"), 1, "error: boom\n"},
		"done, pods unplaced":    {ErrIncomplete, 2, ""},
		"wrapped, pods unplaced": {fmt.Errorf("plan: %w", ErrIncomplete), 2, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var messages bytes.Buffer
			root := Root(Env{Out: &messages, Err: &messages})
			root.AddCommand(&cobra.Command{Use: "try", RunE: func(*cobra.Command, []string) error { return tc.err }})
			if got := execute(t.Context(), root, []string{"try"}, Env{Err: &messages}); got != tc.status || messages.String() != tc.message {
				t.Errorf("status %d, messages %q; want %d, %q", got, messages.String(), tc.status, tc.message)
			}
		})
	}
}

// This one sets the log of the whole process, so it does not run beside others.
func TestTheControllerLogsWarningsBeforeItFails(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	got := run(t, map[string]string{"METRICS_PORT": "many", "MEMORY_LIMIT": "8000000000", "SCHEDULER_CONFIG": `{"podTopologySpread":{"defaultConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]}}`},
		"controller", "--kubeconfig=/no/such/file", "--log-output-paths="+log)
	if got.status != 1 || !strings.Contains(got.err, "/no/such/file") {
		t.Errorf("status %d, messages %q", got.status, got.err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"message":"starting"`, `"setting":"METRICS_PORT"`, `the default 8080 is used`, `"bytes":7200000000`, `"topologyKey":"zone"`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("log %s lacks %s", text, part)
		}
	}
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 50)
	for line := range strings.Lines(wrap(long, "  ")) {
		if len(line) > usageWidth+1 || !strings.HasPrefix(line, "  word") {
			t.Errorf("line %q", line)
		}
	}
	if got := strings.Fields(wrap(long, "  ")); len(got) != 50 {
		t.Errorf("%d words of 50 are left", len(got))
	}
}
