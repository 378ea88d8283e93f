package command

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"k8s.io/client-go/tools/clientcmd"

	emulated "tenon/lab/aws"
	"tenon/lab/aws/accounts"
	"tenon/lab/cluster"
	"tenon/lab/demo"
	"tenon/lab/progress"
	"tenon/lab/state"
)

// upFlags are the flags of `up`.
type upFlags struct {
	detach     bool
	apiPort    int
	bootDelay  time.Duration
	heartbeat  time.Duration
	controller string
	keep       bool
	demo       bool
	faults     string
	nodeRole   string
	localZones []string
	enforceIAM bool
	bare       bool
	settings   []string
	audit      bool
	untilEOF   bool   // hidden: for tests, whose lab must not outlive them
	style      string // hidden: how a detached supervisor shows progress to the process that started it
}

func newUp(directory *string) *cobra.Command {
	var flags upFlags
	command := &cobra.Command{
		Use:   "up",
		Short: "Start a lab",
		Long: `Start a lab and say what to type next. The lab runs until Ctrl-C, or, with --detach, until
tenon-lab down. What it wrote is then removed; after a failure the logs stay.`,
		Example: "  tenon-lab up\n  tenon-lab up --demo --boot-delay 5s\n  tenon-lab up --detach --api-port 6443 --boot-delay 5s\n  tenon-lab up --dir /tmp/second-lab --controller none",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			options, err := flags.options(*directory, flags.demo || command.Flags().Changed("controller"))
			if err != nil {
				return err
			}
			if flags.detach {
				return startDetached(options.Directory)
			}
			return runUp(*directory, flags, options)
		},
	}
	set := command.Flags()
	set.BoolVar(&flags.detach, "detach", false, "return when the lab is ready, and leave it running")
	set.IntVar(&flags.apiPort, "api-port", 0, "port of the API server on 127.0.0.1 (default: any that is free)")
	set.DurationVar(&flags.bootDelay, "boot-delay", 20*time.Second, "how long a simulated machine takes to boot")
	set.DurationVar(&flags.heartbeat, "heartbeat", defaultHeartbeat(), "how often nodes report; after three missed reports a node is NotReady")
	set.StringVar(&flags.controller, "controller", string(cluster.Tenon), "which autoscaler runs: tenon, if it is built; memory, which is Tenon on a cloud in memory; or none")
	set.BoolVar(&flags.demo, "demo", false, "apply examples/basic.yaml and a workload that grows and shrinks, and tell what is bought")
	set.StringVar(&flags.faults, "faults", "", "file with what is wrong with the emulated AWS from the start, as for POST /lab/faults")
	set.StringVar(&flags.nodeRole, "node-role", cluster.NodeRole, "the IAM role of the cluster's nodes in the emulated AWS; it has an instance profile and an access entry")
	set.StringSliceVar(&flags.localZones, "local-zone", nil, "a local zone of the emulated region us-west-2, such as us-west-2-lax-1a, besides its ordinary zones; may be repeated")
	set.BoolVar(&flags.enforceIAM, "enforce-iam", false, "let tenon do in the emulated AWS what its IAM policies grant, and no more")
	set.BoolVar(&flags.bare, "bare", false, "leave out Tenon's definitions and rights, for Helm to install them; wants --controller none")
	set.StringArrayVar(&flags.settings, "set", nil, "setting of tenon as NAME=VALUE, such as ISOLATED_VPC=true; may be repeated")
	set.BoolVar(&flags.audit, "audit", false, "write down in the log audit what tenon asks the API server for")
	set.BoolVar(&flags.keep, "keep", false, "leave logs and data when the lab ends")
	set.StringVar(&flags.style, "progress", "", "")
	set.BoolVar(&flags.untilEOF, "until-eof", false, "")
	for _, name := range []string{"progress", "until-eof"} {
		// It cannot fail: the flags were defined just above.
		_ = set.MarkHidden(name)
	}
	return command
}

// foreignZone reports whether a name is not that of a local zone of the emulated region.
func foreignZone(name string) bool {
	return !accounts.IsLocalZone(name) || !strings.HasPrefix(name, emulated.Defaults().Region+"-")
}

func (f upFlags) options(path string, chosen bool) (cluster.Options, error) {
	directory, err := state.Open(path)
	if err != nil {
		return cluster.Options{}, err
	}
	controller, err := cluster.ParseController(f.controller)
	if err != nil {
		return cluster.Options{}, err
	}
	for _, setting := range f.settings {
		if name, _, has := strings.Cut(setting, "="); !has || name == "" {
			return cluster.Options{}, fmt.Errorf("--set %s: want NAME=VALUE", setting)
		}
	}
	if f.faults != "" {
		// Components run in the lab's directory.
		if f.faults, err = filepath.Abs(f.faults); err != nil {
			return cluster.Options{}, fmt.Errorf("find %s: %w", f.faults, err)
		}
	}
	switch {
	case f.apiPort < 0 || f.apiPort > 65535:
		return cluster.Options{}, fmt.Errorf("--api-port %d: want 0 to 65535", f.apiPort)
	case f.bootDelay < 0:
		return cluster.Options{}, fmt.Errorf("--boot-delay %s: want 0 or more", f.bootDelay)
	case !accounts.IsRoleName(f.nodeRole):
		return cluster.Options{}, fmt.Errorf("--node-role %q: want 1 to 64 letters, digits and +=,.@_-", f.nodeRole)
	case slices.ContainsFunc(f.localZones, foreignZone):
		return cluster.Options{}, fmt.Errorf("--local-zone %s: want local zones of %s, such as us-west-2-lax-1a", strings.Join(f.localZones, ","), emulated.Defaults().Region)
	case f.demo && f.nodeRole != cluster.NodeRole:
		return cluster.Options{}, fmt.Errorf("--demo applies classes with the role %s, not %s", cluster.NodeRole, f.nodeRole)
	case f.demo && controller != cluster.Tenon:
		return cluster.Options{}, fmt.Errorf("--demo shows --controller %s, not %s", cluster.Tenon, controller)
	case f.bare && controller != cluster.None:
		return cluster.Options{}, fmt.Errorf("--bare wants --controller %s: without rights none works", cluster.None)
	case f.heartbeat < time.Second:
		return cluster.Options{}, fmt.Errorf("--heartbeat %s: want at least 1s", f.heartbeat)
	}
	return cluster.Options{
		Directory:        directory,
		APIPort:          f.apiPort,
		BootDelay:        f.bootDelay,
		Heartbeat:        f.heartbeat,
		Faults:           f.faults,
		NodeRole:         f.nodeRole,
		LocalZones:       f.localZones,
		EnforceIAM:       f.enforceIAM,
		Settings:         f.settings,
		Audit:            f.audit,
		Bare:             f.bare,
		Controller:       controller,
		ControllerChosen: chosen,
		Keep:             f.keep,
	}, nil
}

// runUp runs the lab in this process until it is told to stop.
func runUp(path string, flags upFlags, options cluster.Options) error {
	starter := findStarter()
	style := progress.Style(flags.style)
	if style == "" {
		style = progress.Detect(os.Stdout)
	}
	printer := progress.New(starter.out(), style)
	options.Progress = printer
	// A detached supervisor outlives the terminal from which it was started; others end with it.
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if starter == nil {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	if flags.untilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}

	pages := ""
	if flags.demo {
		var err error
		if pages, err = dashboardAddress(&options); err != nil {
			return err
		}
		options.Settings = append(options.Settings, cluster.DashboardListen+"="+pages)
	}
	var shows sync.WaitGroup
	options.OnReady = func(summary cluster.Summary) {
		if flags.demo {
			printer.Line(demo.Dashboard(pages))
		}
		printNext(printer, path, summary, starter != nil)
		if flags.demo {
			printer.Line(demo.Text(summary.AWS, planLine(summary)) + "\n")
		}
		starter.letGo(printer)
		if flags.demo {
			shows.Go(func() { show(ctx, printer, summary) })
		}
	}
	printer.Line("starting a lab in " + string(options.Directory))
	err := cluster.Run(ctx, options)
	stop() // the lab may have ended by itself; the display ends with it
	shows.Wait()
	if err != nil {
		printer.Line("tenon-lab: " + err.Error())
		return errSaid
	}
	return nil
}

// usualPages is the default port of tenon dashboard, too.
const usualPages = "127.0.0.1:8082"

// dashboardAddress is where the demo's controller serves the dashboard: at the user's address, at the
// default address, or on a free port if another program listens there.
func dashboardAddress(options *cluster.Options) (string, error) {
	if address, given := options.Setting(cluster.DashboardListen); given {
		return address, nil
	}
	listener, err := net.Listen("tcp", usualPages)
	if err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", fmt.Errorf("find a port for the dashboard: %w", err)
	}
	address := listener.Addr().String()
	return address, listener.Close()
}

// show runs the demo. If the demo fails, the lab continues.
func show(ctx context.Context, printer *progress.Printer, summary cluster.Summary) {
	config, err := clientcmd.BuildConfigFromFlags("", summary.Directory.Kubeconfig())
	if err == nil {
		var shown *demo.Demo
		if shown, err = demo.Start(ctx, config, summary.AWS, printer.Line); err == nil {
			err = shown.Run(ctx)
		}
	}
	if err != nil && ctx.Err() == nil {
		printer.Line("tenon-lab: the demo goes no further: " + err.Error())
	}
}

// planLine is the command that shows what Tenon would do now.
func planLine(summary cluster.Summary) string {
	return filepath.Join(filepath.Dir(os.Args[0]), "tenon") + " plan --kubeconfig " + summary.Directory.Kubeconfig()
}

// printNext suggests the next commands.
func printNext(printer *progress.Printer, path string, summary cluster.Summary, detached bool) {
	stop := "Ctrl-C, or " + commandLine("down", path)
	if detached {
		stop = commandLine("down", path)
	}
	printer.Line(fmt.Sprintf(`
%s in %.1fs, %s resident in all, API server at %s

  export KUBECONFIG=%s
  kubectl get nodes
  %s     three machines by hand

  status:  %s
  logs:    %s
  stop:    %s`,
		printer.Strong("ready"), summary.Took.Seconds(), mebibytes(summary.ResidentBytes), summary.Server,
		summary.Directory.Kubeconfig(), commandLine("node add --count 3", path),
		commandLine("status", path), commandLine("logs kube-apiserver", path), stop))
}
