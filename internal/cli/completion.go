package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shells are those that a completion script can be written for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Write a script that lets a shell complete commands and flags",
		Long: `Write a script to standard output that lets the shell complete tenon's commands and
flags. Load it in the running shell, or save it where the shell looks for such scripts.`,
		Example: `  source <(tenon completion bash)                                 # this bash
  tenon completion bash > /etc/bash_completion.d/tenon            # every bash
  tenon completion zsh > "${fpath[1]}/_tenon"                     # every zsh
  tenon completion fish > ~/.config/fish/completions/tenon.fish   # every fish
  tenon completion powershell | Out-String | Invoke-Expression    # this PowerShell`,
		ValidArgs: shells,
		Args:      oneShell,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return fmt.Errorf("no completion for shell %q", args[0]) // oneShell lets nothing else through
		},
	}
}

func oneShell(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && slices.Contains(shells, args[0]) {
		return nil
	}
	given := "none"
	if len(args) > 0 {
		given = strings.Join(args, " ")
	}
	return fmt.Errorf("name one shell of %s; given: %s\nrun '%s --help' for examples", strings.Join(shells, ", "), given, cmd.CommandPath())
}
