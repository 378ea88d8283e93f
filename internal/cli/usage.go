package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tenon/internal/settings"
)

// usageWidth is that of a terminal beside an editor.
const usageWidth = 100

// usage is what every command's help ends with: how to call it, examples, and what it takes, a
// cloud's own settings among it.
func usage(cmd *cobra.Command, own []settings.Option) error {
	var text strings.Builder
	line := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		line = cmd.CommandPath() + " COMMAND [flags]"
	}
	fmt.Fprintf(&text, "Usage:\n  %s\n", line)
	if cmd.HasExample() {
		fmt.Fprintf(&text, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		text.WriteString("\nCommands:\n" + subcommands(cmd))
	}
	if flags := flagText(cmd, own); flags != "" {
		text.WriteString("\n" + flags)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&text, "\nRun '%s COMMAND --help' to learn about one.\n", cmd.CommandPath())
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), text.String())
	return err
}

func subcommands(cmd *cobra.Command) string {
	var text strings.Builder
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			fmt.Fprintf(&text, "  %-*s  %s\n", cmd.NamePadding(), sub.Name(), sub.Short)
		}
	}
	return text.String()
}

// settingsAnnotation marks a command whose flags are the settings, and some of its own.
const settingsAnnotation = "settings"

func flagText(cmd *cobra.Command, own []settings.Option) string {
	options := settings.Options(own...)
	if cmd.Annotations[settingsAnnotation] == "" {
		return flagsThenPlans(cmd, options)
	}
	var text strings.Builder
	if flags := besideSettings(cmd, options); flags.HasFlags() {
		text.WriteString("Flags:\n" + flags.FlagUsagesWrapped(usageWidth) + "\n")
	}
	for i, group := range settings.Groups(options) {
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "Settings: %s\n", group)
		for _, o := range options {
			if o.Group == group {
				text.WriteString(settingText(o))
			}
		}
	}
	return text.String()
}

// flagsThenPlans are the flags of a command and, below them, the settings of the controller that its plan depends on.
func flagsThenPlans(cmd *cobra.Command, options []settings.Option) string {
	shared := slices.DeleteFunc(options, func(o settings.Option) bool {
		return !o.Plan || o.Flag == "kubeconfig" || cmd.LocalFlags().Lookup(o.Flag) == nil
	})
	if len(shared) == 0 {
		return "Flags:\n" + cmd.LocalFlags().FlagUsagesWrapped(usageWidth)
	}
	var text strings.Builder
	text.WriteString("Flags:\n" + besideSettings(cmd, shared).FlagUsagesWrapped(usageWidth) + "\nSettings of the controller that a plan depends on:\n")
	for _, o := range shared {
		text.WriteString(settingText(o))
	}
	return text.String()
}

// besideSettings are the flags of a command that are not settings.
func besideSettings(cmd *cobra.Command, options []settings.Option) *pflag.FlagSet {
	rest := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	rest.SortFlags = false
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !slices.ContainsFunc(options, func(o settings.Option) bool { return o.Flag == f.Name }) {
			rest.AddFlag(f)
		}
	})
	return rest
}

// settingText names a setting on one line and explains it below, because the forty names are too
// long for a column beside them.
func settingText(o settings.Option) string {
	value := " " + o.Kind()
	if o.Kind() == "true|false" {
		value = "[=true|false]"
	}
	fallback := ""
	if o.Default != "" {
		fallback = ", default " + o.Default
	}
	return fmt.Sprintf("  --%s%s  (%s%s)\n%s", o.Flag, value, o.Env, fallback, wrap(o.Usage, "      "))
}

// wrap breaks a text between words into lines with an indent.
func wrap(text, indent string) string {
	var wrapped strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && len(line)+1+len(word) > usageWidth {
			wrapped.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return wrapped.String() + line + "\n"
}
