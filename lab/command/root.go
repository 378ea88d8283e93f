// Package command is the command line of tenon-lab: up, down, status, logs and node. Each command
// reads its flags, asks another package to do the work, and prints.
package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tenon/lab/state"
)

const about = `tenon-lab runs a Kubernetes cluster on this machine, for trying Tenon out and for its tests:
etcd, kube-apiserver, kube-controller-manager and kube-scheduler, as real as in production, and
machines that are only simulated. It needs no container, no network and no rights.

Everything of a lab is below one directory, .lab in the current directory unless --dir says
otherwise. Labs with different directories run side by side.`

// Main runs the command line and returns the exit status.
func Main(args []string, out, faults io.Writer) int {
	if len(args) > 0 && args[0] == "component" {
		return runComponent(args[1:], faults)
	}
	root := newRoot(out)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(faults)
	switch err := root.Execute(); err {
	case nil:
		return 0
	case errSaid:
		return 1
	default:
		fmt.Fprintf(faults, "tenon-lab: %v\n", err)
		return 1
	}
}

// errSaid is an error that was already reported to the user.
var errSaid = errors.New("said already")

func newRoot(out io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "tenon-lab",
		Short:         "A Kubernetes cluster with simulated machines, on this one",
		Long:          about,
		Example:       "  tenon-lab up --detach\n  export KUBECONFIG=$PWD/.lab/kubeconfig\n  tenon-lab node add --count 3\n  kubectl get nodes\n  tenon-lab down",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	// Kubernetes' packages register their own flag --version in every program that links them.
	pflag.CommandLine = pflag.NewFlagSet(root.Name(), pflag.ContinueOnError)
	directory := root.PersistentFlags().String("dir", state.DefaultDirectory, "directory of the lab")
	root.AddCommand(
		newUp(directory),
		newDown(directory, out),
		newStatus(directory, out),
		newLogs(directory, out),
		newNode(directory, out),
		newMeasure(out),
		newStopwatch(out),
		newLive(out),
	)
	return root
}

// runningLab returns the record of the lab that runs in a directory.
func runningLab(path string) (state.Directory, state.Record, error) {
	directory, err := state.Open(path)
	if err != nil {
		return "", state.Record{}, err
	}
	record, found, err := directory.Load()
	if err != nil {
		return directory, record, err
	}
	holder, err := directory.Holder()
	if err != nil {
		return directory, record, err
	}
	if !found || holder == 0 {
		return directory, record, fmt.Errorf("no lab is running in %s; start one with: %s", directory, commandLine("up", path))
	}
	return directory, record, nil
}

// commandLine is a command as the user would type it: with the name by which this program was
// started, and the directory if it is needed.
func commandLine(command, path string) string {
	if path == state.DefaultDirectory {
		return os.Args[0] + " " + command
	}
	return os.Args[0] + " " + command + " --dir " + path
}
