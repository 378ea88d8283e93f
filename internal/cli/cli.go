// Package cli is what people type: the commands of the tenon binary, as functions that are given
// their input, output and environment. It must not decide anything about nodes; commands gather
// input, call the package that knows, and print what came back. Nothing here touches os.Stdout,
// os.Args or os.Exit, so that a test can run every command as a function.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"tenon/internal/provider"
	"tenon/internal/version"
)

// Env is what a command may touch outside of itself.
type Env struct {
	In  io.Reader
	Out io.Writer // results
	Err io.Writer // messages
	// Progress is where a slow command reports what it is doing; nil means Err. Only this output depends on
	// the speed of the machine.
	Progress  io.Writer
	LookupEnv func(name string) (string, bool)
	// SilenceLogs ends what client-go writes to the process's log; nil leaves it as it is.
	SilenceLogs func()
	// Plugin says that kubectl started the program as its plug-in.
	Plugin bool
	// Cloud is where the controller buys machines; plans use its prices.
	Cloud provider.Cloud
}

// Process is the world of the running process.
func Process() Env {
	return Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv, SilenceLogs: silenceLogs, Plugin: len(os.Args) > 0 && isPlugin(os.Args[0])}
}

// silenceLogs changes the whole process: klog has one logger.
func silenceLogs() { klog.SetLogger(logr.Discard()) }

// silence is for commands that follow a cluster and show by themselves what cannot be read; messages of
// client-go would spoil the picture.
func (w Env) silence() {
	if w.SilenceLogs != nil {
		w.SilenceLogs()
	}
}

// The exit statuses of every command. Scripts depend on them.
const (
	statusDone       = 0
	statusFailed     = 1 // wrong input, or something that could not be done
	statusIncomplete = 2 // done, but something needs attention: see ErrIncomplete
)

// ErrIncomplete is returned by a command that did its work and found something that a person has to look
// at: a pod without a place, a field without a successor, an object that is wrong. The output has told it
// already, so nothing more is printed.
var ErrIncomplete = errors.New("something is left to do")

// Run executes one command line, without the program's name, and returns its exit status.
func Run(ctx context.Context, args []string, w Env) int {
	return execute(ctx, Root(w), args, w)
}

func execute(ctx context.Context, root *cobra.Command, args []string, w Env) int {
	// Never nil: cobra would take the process's own arguments then.
	root.SetArgs(append([]string{}, args...))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return statusDone
	}
	if errors.Is(err, ErrIncomplete) {
		return statusIncomplete
	}
	text := err.Error()
	if w.Plugin {
		text = asPlugin(root, text)
	}
	fmt.Fprintf(w.Err, "error: %s\n", text)
	return statusFailed
}

// Root is the tenon command with all of its subcommands.
func Root(w Env) *cobra.Command {
	root := &cobra.Command{
		Use:   programName,
		Short: "Just the nodes that your pods need, just in time",
		Long: `Tenon gives a Kubernetes cluster just the nodes that its pods need, just in time,
and takes them away again when something cheaper will do. It speaks Karpenter's API.

Exit status: 0 when the command did what was asked; 1 when the input was wrong or
something could not be done, with the reason on standard error; 2 when it did, and
something is left to do: a pod has no place in the plan, a field of a former API has
no successor, an object is wrong, a cluster or an account lacks something.`,
		Example: `  tenon controller --kubeconfig ~/.kube/config --disable-leader-election
  tenon version -o json
  source <(tenon completion bash)`,
		Args:                       knownCommand,
		Version:                    version.Get().Version,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetVersionTemplate("tenon {{.Version}}\n")
	root.SetIn(w.In)
	root.SetOut(w.Out)
	root.SetErr(w.Err)
	root.SetFlagErrorFunc(wrongFlag)
	root.SetUsageFunc(func(cmd *cobra.Command) error { return usage(cmd, w.Cloud.Settings) })
	root.AddCommand(commands(w)...)
	if w.Plugin {
		return renamed(root)
	}
	return root
}

// commands lists the subcommands. A new one is one line here and a file of its own.
func commands(w Env) []*cobra.Command {
	return []*cobra.Command{
		viewCommand(w),
		dashboardCommand(w),
		topCommand(w),
		costCommand(w),
		planCommand(w),
		benchCommand(w),
		explainCommand(w),
		whyCommand(w),
		journalCommand(w),
		replayCommand(w),
		validateCommand(w),
		convertCommand(w),
		groupsCommand(w),
		preflightCommand(w),
		shadowCommand(w),
		controllerCommand(w),
		versionCommand(),
		completionCommand(),
	}
}
