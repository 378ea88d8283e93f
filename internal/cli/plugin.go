package cli

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// How the program is called, by itself and as a plug-in of kubectl.
const (
	programName = "tenon"
	pluginFile  = "kubectl-tenon"
	pluginName  = "kubectl tenon"
)

// isPlugin reports whether kubectl started the program: it looks for a file of that name.
func isPlugin(path string) bool {
	return strings.TrimSuffix(filepath.Base(path), ".exe") == pluginFile
}

// own finds how texts call the program: before a flag or the name of a command.
var own = regexp.MustCompile(`(kubectl )?\btenon (--help|[a-z]+)\b`)

// asPlugin rewrites a text so that a user can type what it says to kubectl.
func asPlugin(root *cobra.Command, text string) string {
	return own.ReplaceAllStringFunc(text, func(call string) string {
		word := call[strings.LastIndexByte(call, ' ')+1:]
		if found, _, err := root.Find([]string{word}); word != "--help" && (err != nil || found == root) {
			return call
		}
		return pluginName + " " + word
	})
}

// renamed is the root whose commands call themselves as kubectl's users do.
func renamed(root *cobra.Command) *cobra.Command {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: pluginName}
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		cmd.Short, cmd.Long, cmd.Example = asPlugin(root, cmd.Short), asPlugin(root, cmd.Long), asPlugin(root, cmd.Example)
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(root)
	return root
}
