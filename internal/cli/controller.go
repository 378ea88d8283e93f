package cli

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"tenon/internal/manager"
	"tenon/internal/settings"
	"tenon/internal/telemetry"
	"tenon/internal/version"
)

func controllerCommand(w Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "controller",
		Short: "Run the controller of a cluster",
		Long: `Run the controller of a cluster until it is told to stop (Ctrl-C or SIGTERM).

In a pod it controls the cluster that it runs in; elsewhere, the one of the kubeconfig.
Replicas elect a leader through a Lease; the others stand by. Settings are flags or
environment variables (in brackets); a flag beats the variable, which beats the default.

It serves /metrics on one port and /healthz and /readyz on another: on every interface in
a pod, on 127.0.0.1 elsewhere, unless --listen-address says otherwise.

Exit status: 0 when it was told to stop; 1 when a setting is wrong, the cluster cannot be
reached, a port is taken, or the Lease was lost.`,
		Example: `  # Control the cluster of the current kubeconfig from this machine, alone.
  tenon controller --kubeconfig ~/.kube/config --disable-leader-election

  # The same beside another controller that uses the default ports.
  tenon controller --disable-leader-election --metrics-port 0 --health-probe-port 0

  # Is it ready, and if not, which check fails?
  curl -s 'http://127.0.0.1:8081/readyz?verbose'`,
		Args:        noArguments,
		Annotations: map[string]string{settingsAnnotation: "true"},
	}
	finish := settings.Register(cmd.Flags(), w.Cloud.Settings...)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, warnings, err := finish(w.LookupEnv)
		if err != nil {
			return fmt.Errorf("%w\nrun 'tenon controller --help' for what each setting takes", err)
		}
		return control(cmd.Context(), s, warnings, w)
	}
	return cmd
}

// control runs the process in steps: log, connection, everything that can fail early, and then
// until it is told to stop.
func control(ctx context.Context, s settings.Settings, warnings []settings.Warning, w Env) error {
	build := version.Get()
	log, flush, err := telemetry.NewLog(telemetry.LogConfig{
		Level:            s.LogLevel,
		OutputPaths:      s.LogOutputPaths,
		ErrorOutputPaths: s.LogErrorOutputPaths,
		Commit:           build.ShortCommit(),
	})
	if err != nil {
		return fmt.Errorf("%w; see --log-output-paths and --log-error-output-paths", err)
	}
	defer flush()
	manager.Tune(s, log)
	greet(log, s, warnings, build)
	connection, err := manager.Connect(s, build)
	if err != nil {
		return err
	}
	process, err := manager.New(ctx, manager.Options{Settings: s, Connection: connection, Build: build, Log: log, Open: w.Cloud.Open, Offers: w.Cloud.Builtin.Offers, Currency: w.Cloud.Builtin.Currency, Console: w.Cloud.Builtin.Console, Try: Try(w), Namespace: w.namespace()})
	if err != nil {
		return err
	}
	return process.Start(ctx)
}

// namespace is where the product is installed, as its chart tells.
func (w Env) namespace() string {
	if name, ok := w.LookupEnv("SYSTEM_NAMESPACE"); ok && name != "" {
		return name
	}
	return "kube-system"
}

// greet writes the first lines of the log: which build, and what of the settings deserves a look.
func greet(log logr.Logger, s settings.Settings, warnings []settings.Warning, build version.Info) {
	log.Info("starting", "version", build.Version, "commitDate", build.CommitDate, "go", build.GoVersion)
	for _, warning := range warnings {
		log.Info("a setting needs attention", "setting", warning.Env, "warning", warning.Text)
	}
	if !s.SchedulerConfig.Empty() {
		log.Info("pods without a topology spread of their own get the scheduler's", "defaultConstraints", s.SchedulerConfig.PodTopologySpread.DefaultConstraints)
	}
}
