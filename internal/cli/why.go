package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tenon/core/snapshot"
	"tenon/internal/cli/document"
	"tenon/internal/cli/explain"
	"tenon/internal/cli/planning"
)

func whyCommand(w Env) *cobra.Command {
	o := planning.Options{Consolidate: true, Output: planning.Table}
	cmd := &cobra.Command{
		Use:   "why [KIND/]NAME",
		Short: "Say in a few words why a node is still here, or why a pod waits",
		Long: `Say in a few words why a node is still here, or why a pod waits: the state and the first reasons of
tenon explain, for a node, a claim, a pod or a pool of that name, whichever there is first. A pod may be
written as NAMESPACE/NAME. As in kubectl, a kind may stand before the name: pod/NAME, node/NAME,
nodeclaim/NAME, nodepool/NAME or nodegroup/NAME, also in the plural, with the API group or by the short names po and no. Then
only objects of that kind are looked for, and pod/NAMESPACE/NAME says which namespace the pod is in.

Exit status: 0, or 1 when there is no such object or the input was wrong.`,
		Example: `  tenon why ip-10-0-1-5
  tenon why shop/web-7d4b9
  tenon why nodepool/default
  kubectl get nodeclaims -o name | xargs -n 1 tenon why`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("write the name of one node, claim, pod or pool, as NAME or KIND/NAME")
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
			answer, err := whyOf(p, args[0])
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

// whyOf answers about an object that is written as NAME or, as kubectl does, KIND/NAME. A namespace can have the name
// of a kind, so NAMESPACE/NAME of a pod is tried if no object of the kind has the name.
func whyOf(p document.Planned, arg string) (explain.Answer, error) {
	kind, name, found := kindAndName(arg)
	if !found {
		return anyKind(p, arg)
	}
	answer, err := explain.Of(p, kind, name)
	if err == nil {
		return answer, nil
	}
	if pod, other := explain.Of(p, "pod", arg); other == nil {
		return pod, nil
	}
	return explain.Answer{}, err
}

// shortKinds are the short names of kinds that kubectl knows.
var shortKinds = map[string]string{"po": "pod", "no": "node"}

// kindAndName takes KIND/NAME apart. The kind may be in the plural, have its API group or be a short name. A NodeGroup is
// the pool that stands for it.
func kindAndName(arg string) (kind, name string, found bool) {
	kind, name, found = strings.Cut(arg, "/")
	kind, _, _ = strings.Cut(strings.ToLower(kind), ".")
	kind = strings.TrimSuffix(kind, "s")
	kind = cmp.Or(shortKinds[kind], kind)
	if kind == "nodegroup" && name != "" {
		return "nodepool", snapshot.GroupPool(name), true
	}
	return kind, name, found && name != "" && slices.Contains(explain.Kinds(), kind)
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
