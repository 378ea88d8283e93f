package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tenon/core/requirement"
)

// knownCommand refuses what is not a subcommand, and says what was probably meant.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return errors.New(text + "\nrun 'tenon --help' for the list of commands")
}

// noArguments refuses arguments of a command that takes flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("'%s' takes no argument, and was given %q\nrun '%s --help' for what it takes", cmd.CommandPath(), args[0], cmd.CommandPath())
}

// wrongFlag adds to a flag's error what was probably meant and where to read on.
func wrongFlag(cmd *cobra.Command, err error) error {
	text := err.Error()
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if near := nearestFlag(cmd.Flags(), unknown.GetSpecifiedName()); near != "" {
			text += fmt.Sprintf("; did you mean --%s?", near)
		}
	}
	return fmt.Errorf("%s\nrun '%s --help' for the flags it takes", text, cmd.CommandPath())
}

// nearestFlag finds the flag that a misspelled name is closest to, if one is close at all.
func nearestFlag(flags *pflag.FlagSet, name string) string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	flags.VisitAll(func(f *pflag.Flag) {
		d := requirement.EditDistance(name, f.Name)
		if d <= 2 || strings.HasPrefix(f.Name, name) && len(name) > 2 {
			near = append(near, candidate{f.Name, d})
		}
	})
	if len(near) == 0 {
		return ""
	}
	return slices.MinFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	}).name
}
