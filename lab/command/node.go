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
	"k8s.io/client-go/tools/clientcmd"

	"tenon/lab/machine"
	"tenon/lab/state"
)

func newNode(path *string, out io.Writer) *cobra.Command {
	command := &cobra.Command{
		Use:   "node",
		Short: "Make and remove simulated machines by hand, and make them ill",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newNodeAdd(path, out), newNodeDelete(path, out), newNodeIll(path, out), newNodeHeal(path, out))
	return command
}

// readyWithin is how long `node add --wait` waits.
const readyWithin = 5 * time.Minute

func newNodeAdd(path *string, out io.Writer) *cobra.Command {
	var form machine.Form
	var labels, taints string
	var count int
	var wait bool
	command := &cobra.Command{
		Use:     "add [NAME...]",
		Short:   "Make machines, named or counted",
		Example: "  tenon-lab node add --count 3\n  tenon-lab node add big-one --cpu 64 --memory 256Gi --zone b --labels team=a --taints team=a:NoSchedule",
		RunE: func(command *cobra.Command, args []string) error {
			if (len(args) == 0) == (count == 0) {
				return errors.New("say either the machines' names or, with --count, how many")
			}
			var err, errTaints error
			form.Labels, err = machine.ParseLabels(labels)
			form.Taints, errTaints = machine.ParseTaints(taints)
			if err := errors.Join(err, errTaints); err != nil {
				return err
			}
			return addNodes(command.Context(), *path, out, args, count, form, wait)
		},
	}
	set := command.Flags()
	set.IntVar(&count, "count", 0, "how many machines to make; they are named node-1, node-2, ...")
	set.StringVar(&form.CPU, "cpu", "4", "cores of each")
	set.StringVar(&form.Memory, "memory", "16Gi", "memory of each")
	set.StringVar(&form.Pods, "pods", "110", "pods that each can run")
	set.StringVar(&form.Zone, "zone", "", "zone, as label topology.kubernetes.io/zone")
	set.StringVar(&labels, "labels", "", "further labels, KEY=VALUE,KEY=VALUE")
	set.StringVar(&taints, "taints", "", "taints, KEY=VALUE:EFFECT,KEY:EFFECT")
	set.BoolVar(&wait, "wait", false, "return when they are Ready")
	return command
}

func addNodes(ctx context.Context, path string, out io.Writer, names []string, count int, form machine.Form, wait bool) error {
	client, err := clientOf(path)
	if err != nil {
		return err
	}
	if count > 0 {
		if names, err = machine.FreeNames(ctx, client, "node", count); err != nil {
			return err
		}
	}
	if err := machine.Add(ctx, client, names, form); err != nil {
		return err
	}
	if !wait {
		fmt.Fprintf(out, "%s boot now and will be Ready soon\n", nodesText(names))
		return nil
	}
	if err := machine.AwaitReady(ctx, client, names, readyWithin); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s are Ready\n", nodesText(names))
	return nil
}

func newNodeDelete(path *string, out io.Writer) *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "delete [NAME...]",
		Short: "Remove machines, named or all that were made by hand",
		RunE: func(command *cobra.Command, names []string) error {
			if (len(names) == 0) == !all {
				return errors.New("say either the machines' names or --all")
			}
			client, err := clientOf(*path)
			if err != nil {
				return err
			}
			if all {
				if names, err = machine.HandMade(command.Context(), client); err != nil {
					return err
				}
			}
			if err := machine.Delete(command.Context(), client, names); err != nil {
				return err
			}
			fmt.Fprintf(out, "%s deleted\n", nodesText(names))
			return nil
		},
	}
	command.Flags().BoolVar(&all, "all", false, "all that were made with tenon-lab node add")
	return command
}

// clientOf returns a client of the lab in a directory.
func clientOf(path string) (kubernetes.Interface, error) {
	directory, _, err := runningLab(path)
	if err != nil {
		return nil, err
	}
	return clientFor(directory)
}

func clientFor(directory state.Directory) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", directory.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig of the lab: %w", err)
	}
	config.QPS = -1 // the API server of a lab has one user and needs no protection
	return kubernetes.NewForConfig(config)
}

// nodesText names a few nodes, or gives the number of many.
func nodesText(names []string) string {
	if len(names) > 5 {
		return fmt.Sprintf("%d nodes", len(names))
	}
	return "node " + strings.Join(names, ", ")
}
