package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tenon/internal/cli/document"
	"tenon/internal/cli/explain"
	"tenon/internal/cli/planning"
)

func whyCommand(w Env) *cobra.Command {
	o := planning.Options{Consolidate: true, Output: planning.Table}
	cmd := &cobra.Command{
		Use:   "why NODE|POD",
		Short: "Say in a few words why a node is still here, or why a pod waits",
		Long: `Say in a few words why a node is still here, or why a pod waits: the state and the first reasons of
tenon explain, for a node, a claim, a pod or a pool of that name, whichever there is first. A pod may be
written as NAMESPACE/NAME.

Exit status: 0, or 1 when there is no such object or the input was wrong.`,
		Example: `  tenon why ip-10-0-1-5
  tenon why shop/web-7d4b9`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("write the name of one node or pod")
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	inputFlags(flags, w, &o)
	settingFlags(flags, w)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Write = func(to io.Writer, p document.Planned) error {
			answer, err := anyKind(p, args[0])
			if err != nil {
				return err
			}
			_, err = io.WriteString(to, answer.Short())
			return err
		}
		_, err := makePlan(cmd, w, o, "")
		return err
	}
	return cmd
}

// anyKind answers about the first object of that name.
func anyKind(p document.Planned, name string) (explain.Answer, error) {
	for _, kind := range []string{"node", "nodeclaim", "pod", "nodepool"} {
		if answer, err := explain.Of(p, kind, name); err == nil {
			return answer, nil
		}
	}
	return explain.Answer{}, fmt.Errorf("there is no node, claim, pod or pool %s; tenon explain KIND %s says which names come near", name, name)
}
