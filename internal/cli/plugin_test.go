package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"tenon/internal/aws"
)

// The file's name says that kubectl started the program.
func TestTheFileIsAPlugin(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"tenon": false, "/usr/bin/tenon": false, "kubectl-tenon": true, "/home/a/.krew/bin/kubectl-tenon": true, "kubectl-tenon.exe": true, "/kubectl-tenon/tenon": false,
	} {
		if got := isPlugin(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// As a plug-in of kubectl the program calls itself kubectl tenon, in its help and in errors.
func TestThePluginCallsItselfKubectlTenon(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		want string
	}{
		"the list of commands":        {nil, "\n  kubectl tenon COMMAND [flags]\n"},
		"where to read on":            {[]string{"--help"}, "Run 'kubectl tenon COMMAND --help'"},
		"an example of the root":      {[]string{"--help"}, "\n  kubectl tenon version -o json\n"},
		"how to call a command":       {[]string{"why", "--help"}, "Usage:\n  kubectl tenon why [KIND/]NAME [flags]"},
		"an example":                  {[]string{"why", "--help"}, "\n  kubectl tenon why ip-10-0-1-5\n"},
		"another command in a text":   {[]string{"why", "--help"}, "first reasons of\nkubectl tenon explain"},
		"a command below another":     {[]string{"shadow", "report", "--help"}, "Usage:\n  kubectl tenon shadow report"},
		"a command that there is not": {[]string{"verison"}, "run 'kubectl tenon --help' for the list of commands"},
		"a flag that there is not":    {[]string{"plan", "--frobnicate"}, "run 'kubectl tenon plan --help'"},
		"an argument too many":        {[]string{"version", "now"}, "'kubectl tenon version' takes no argument"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			w := Env{In: strings.NewReader(""), Out: &out, Err: &out, Progress: io.Discard, Plugin: true, Cloud: aws.Cloud(), LookupEnv: func(string) (string, bool) { return "", false }}
			Run(t.Context(), tc.args, w)
			text := out.String()
			if !strings.Contains(text, tc.want) {
				t.Errorf("%q is not in\n%s", tc.want, text)
			}
			for line := range strings.Lines(text) {
				if strings.HasPrefix(strings.TrimSpace(line), "tenon ") || strings.Contains(line, "kubectl kubectl") {
					t.Errorf("it says %q", line)
				}
			}
		})
	}
}
