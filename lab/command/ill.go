package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"tenon/lab/kubelet"
	"tenon/lab/machine"
)

func newNodeIll(path *string, out io.Writer) *cobra.Command {
	var conditions []string
	var since time.Duration
	command := &cobra.Command{
		Use:   "ill NAME...",
		Short: "Make machines report that they are ill",
		Long: `Make simulated machines report conditions in place of being well. They work on: what sees
the illness sees the node's status. With --since the condition has been so for a while, and
what waits for that, such as node repair, need not.`,
		Example: "  tenon-lab node ill node-1\n  tenon-lab node ill ip-10-0-0-4.us-west-2.compute.internal --condition Ready=Unknown --since 31m\n" +
			"  tenon-lab node ill node-1 --condition KernelReady=False --condition DiskPressure=True",
		RunE: func(command *cobra.Command, names []string) error {
			illnesses, err := kubelet.ParseIllnesses(strings.Join(conditions, ","))
			switch {
			case err != nil:
				return err
			case len(names) == 0 || len(illnesses) == 0:
				return errors.New("say which machines are ill, and with which conditions")
			case since < 0:
				return fmt.Errorf("--since %s: want 0 or more", since)
			}
			for i := range illnesses {
				if command.Flags().Changed("since") {
					illnesses[i].Since = time.Now().Add(-since)
				}
			}
			return tellNodes(command.Context(), *path, out, names, "ill", func(ctx context.Context, client kubernetes.Interface) error {
				return machine.Ill(ctx, client, names, illnesses)
			})
		},
	}
	command.Flags().StringArrayVar(&conditions, "condition", []string{"Ready=False"}, "what they report, as TYPE=STATUS; may be repeated")
	command.Flags().DurationVar(&since, "since", 0, "for how long it has been so (default: from now on)")
	return command
}

func newNodeHeal(path *string, out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "heal NAME...",
		Short: "End the illness of machines",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, names []string) error {
			return tellNodes(command.Context(), *path, out, names, "well", func(ctx context.Context, client kubernetes.Interface) error {
				return machine.Heal(ctx, client, names)
			})
		},
	}
}

// tellNodes changes machines and prints their new state.
func tellNodes(ctx context.Context, path string, out io.Writer, names []string, state string, do func(context.Context, kubernetes.Interface) error) error {
	client, err := clientOf(path)
	if err != nil {
		return err
	}
	if err := do(ctx, client); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s\n", nodesText(names), state)
	return nil
}
