package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "tenon/api/aws/v1"
	"tenon/internal/manager"
	"tenon/internal/preflight"
	"tenon/internal/provider"
	"tenon/internal/settings"
	"tenon/internal/version"
)

// preflightOptions are what the command line says beside the settings.
type preflightOptions struct {
	output, failOn, serviceAccount string
	skipCloud                      bool
}

func preflightCommand(w Env) *cobra.Command {
	var o preflightOptions
	cmd := &cobra.Command{
		Use:   "preflight",
		Short: "Say what a cluster and an account lack for the controller to work",
		Long: `Say what a cluster and an account lack for the controller to work, what follows from it,
and what to do: resource definitions and their versions, rights, the version of Kubernetes,
another autoscaler that is alive; credentials, permissions, subnets and security groups,
quotas, the interruption queue and its rules.

It takes the settings of the controller, as flags or environment variables, and changes
nothing: permissions are tried with calls that read, or that EC2 rehearses. Rights are those
of --service-account, which takes an administrator to ask about, else those of the caller;
permissions in the account are always those of the caller.

Exit status: 0 when nothing is missing; 2 when a finding is as grave as --fail-on says; 1
when the cluster could not be reached, or a setting is wrong.`,
		Example: `  tenon preflight --cluster-name demo --service-account kube-system/tenon
  tenon preflight --cluster-name demo --interruption-queue demo --fail-on warning
  tenon preflight --cluster-name demo -o json | jq '.findings[] | select(.level == "failed")'
  # With the controller's own rights and credentials:
  kubectl exec -n kube-system deploy/tenon -- tenon preflight`,
		Args:        noArguments,
		Annotations: map[string]string{settingsAnnotation: "true"},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.output, "output", "o", "text", "format: text, json or yaml")
	flags.StringVar(&o.failOn, "fail-on", string(preflight.Failed), "least grave level that fails: failed or warning")
	flags.StringVar(&o.serviceAccount, "service-account", "", "NAMESPACE/NAME of the controller's ServiceAccount, whose rights are asked about (default: the caller)")
	flags.BoolVar(&o.skipCloud, "skip-cloud", false, "look at the cluster alone")
	finish := settings.Register(flags, w.Cloud.Settings...)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, _, err := finish(w.LookupEnv)
		if err != nil {
			return fmt.Errorf("%w\nrun 'tenon controller --help' for what each setting takes", err)
		}
		return runPreflight(cmd.Context(), w, o, s)
	}
	return cmd
}

func runPreflight(ctx context.Context, w Env, o preflightOptions, s settings.Settings) error {
	if !slices.Contains([]string{"text", "json", "yaml"}, o.output) {
		return fmt.Errorf("unknown output format %q; use text, json or yaml", o.output)
	}
	grave := []preflight.Level{preflight.Failed}
	switch preflight.Level(o.failOn) {
	case preflight.Failed:
	case preflight.Warning:
		grave = append(grave, preflight.Warning)
	default:
		return fmt.Errorf("unknown level %q of --fail-on; use failed or warning", o.failOn)
	}
	account, err := preflight.ParseServiceAccount(o.serviceAccount)
	if err != nil {
		return err
	}
	report, err := lookAround(ctx, w, o, s, account)
	if err != nil {
		return err
	}
	if err := writeReport(w.Out, o.output, report); err != nil {
		return fmt.Errorf("write the findings: %w", err)
	}
	if report.Has(grave...) {
		return ErrIncomplete
	}
	return nil
}

// lookAround looks at the cluster, and then at the account.
func lookAround(ctx context.Context, w Env, o preflightOptions, s settings.Settings, account client.ObjectKey) (preflight.Report, error) {
	build := version.Get()
	connection, err := manager.Connect(s, build)
	if err != nil {
		return preflight.Report{}, err
	}
	kubernetes, err := connection.Reach(ctx)
	if err != nil {
		return preflight.Report{}, err
	}
	cluster, err := preflightClient(connection)
	if err != nil {
		return preflight.Report{}, err
	}
	findings, err := preflight.Cluster(ctx, preflight.Options{
		Client: cluster, Version: kubernetes, ServiceAccount: account, Settings: s, Now: time.Now(),
		Namespace: cmp.Or(s.LeaderElectionNamespace, account.Namespace, w.namespace()),
	})
	if err == nil && w.Cloud.Preflight != nil && !o.skipCloud {
		findings = append(findings, w.Cloud.Preflight(ctx, provider.Ground{Cluster: cluster, Version: kubernetes, Build: build.Version})...)
	}
	return preflight.Report{Findings: findings}, err
}

func preflightClient(connection manager.Connection) (client.Client, error) {
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme, awsv1.AddToScheme} {
		if err := add(kinds); err != nil {
			return nil, fmt.Errorf("learn the kinds of objects: %w", err)
		}
	}
	made, err := client.New(connection.Config, client.Options{Scheme: kinds})
	if err != nil {
		return nil, fmt.Errorf("prepare a client for %s: %w", connection.Config.Host, err)
	}
	return made, nil
}

// beside is where the texts of findings begin.
var beside = strings.Repeat(" ", 29)

func writeReport(out io.Writer, format string, r preflight.Report) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(r)
	case "yaml":
		text, err := yaml.Marshal(r)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
	for i := range r.Findings {
		if _, err := io.WriteString(out, findingText(&r.Findings[i])); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d ok, %d warnings, %d failed, %d skipped\n",
		r.Count(preflight.OK), r.Count(preflight.Warning), r.Count(preflight.Failed), r.Count(preflight.Skipped))
	return err
}

// findingText is a finding with what follows from it and what to do, in lines of their own.
func findingText(f *preflight.Finding) string {
	text := fmt.Sprintf("%-8s %-20s%s\n", f.Level, f.Check, f.Text)
	if f.Means != "" {
		text += fmt.Sprintf("%sso:     %s\n", beside, f.Means)
	}
	if f.Remedy != "" {
		text += fmt.Sprintf("%sremedy: %s\n", beside, f.Remedy)
	}
	return text
}
