package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tenon/internal/cli/planning"
	"tenon/internal/settings"
)

func planCommand(w Env) *cobra.Command {
	var o planning.Options
	var now string
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say which nodes would be bought for the pods that have none, and why",
		Long: `Say which nodes would be bought for the pods that have none, at what price and how near that
is to the least possible; what rules cost that bind; which pods existing nodes would take; which pods have no place,
why, and what would give them one. With --consolidate also which nodes would be removed or
replaced, what that saves and how many pods it moves, and what keeps each of the others.

With --with, --without, --scale or --spot-interrupted it makes a second plan in which that is so, and says
what differs: nodes, evictions, money, and pods without a place. --diff writes it as Markdown.

Objects come from files (-f: files, directories, - for standard input; YAML or JSON, as
kubectl prints them) or, without -f, from the cluster of the kubeconfig. Nothing is ever
changed there.

Exit status: 0 when every pod has a place (with the change, if there is one); 2 when some pod has none; 1 when the input was
wrong, with file, document and field on standard error.`,
		Example: `  tenon plan -f pools.yaml -f deployment.yaml
  kubectl get pods,nodes,nodepools,nodeclaims -A -o yaml | tenon plan -f -
  tenon plan --kubeconfig ~/.kube/config --explain
  tenon plan -f cluster/ --region eu-west-1 -o json | jq .cost
  tenon plan --consolidate --scale deployment/web=500 --spot-interrupted us-west-2a
  tenon plan -f cluster/ --with pool.yaml --without nodepool/old --diff
  tenon plan --save-snapshot now.json.gz && tenon plan --snapshot now.json.gz --preference-policy Ignore
  tenon plan --save-snapshot report.json.gz --redact`,
		Args: noArguments,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	inputFlags(flags, w, &o)
	flags.BoolVar(&o.Consolidate, "consolidate", false, "also plan which nodes would be removed or replaced")
	flags.StringVar(&now, "now", "", "time of the plan as RFC 3339, such as 2026-07-20T12:00:00Z (default: the clock's)")
	flags.StringVarP(&o.Output, "output", "o", planning.Table, "format: table, json or yaml")
	flags.BoolVar(&o.Explain, "explain", false, "tell of every node what it takes and could also be, and of every pool why not")
	flags.BoolVar(&o.RuleCosts, "rule-costs", true, "also tell what single rules cost: what the new nodes would cost without each; plans again for each rule that may bind, within a fixed effort")
	flags.StringVar(&o.Save.File, "save-snapshot", "", "write all that the plan depends on to this file; compressed if it ends in .gz")
	redactFlag(flags, &o.Save)
	whatIfFlags(flags, &o.WhatIf)
	flags.BoolVar(&o.WhatIf.Markdown, "diff", false, "write what such a change does as Markdown, for a pull request")
	settingFlags(flags, w)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.Save.Check(); err != nil {
			return err
		}
		complete, err := makePlan(cmd, w, o, now)
		if err == nil && !complete {
			return ErrIncomplete
		}
		return err
	}
	return cmd
}

// redactFlag says whether a snapshot that is saved may be shown to others.
func redactFlag(flags *pflag.FlagSet, o *planning.Saving) {
	flags.BoolVar(&o.Redact, "redact", false, "replace the names, labels and messages of the cluster in the file of --save-snapshot, so that it may be shown to others; the plan is the same")
}

// inputFlags say what a plan is made from.
func inputFlags(flags *pflag.FlagSet, w Env, o *planning.Options) {
	flags.StringArrayVarP(&o.Files, "file", "f", nil, "file or directory of Kubernetes objects, or - for standard input; may be repeated")
	flags.StringVar(&o.Catalog, "catalog", "", catalogUsage(w))
	flags.StringVar(&o.Region, "region", w.Cloud.Builtin.Region, "region of the built-in "+w.Cloud.Builtin.Name+" catalogue")
	flags.StringVar(&o.Snapshot, "snapshot", "", "read all that the plan depends on from this file, in place of -f or a cluster")
}

// whatIfFlags say what is to be tried.
func whatIfFlags(flags *pflag.FlagSet, o *planning.WhatIf) {
	flags.StringArrayVar(&o.With, "with", nil, "what if these objects were added, or replaced those of their names: a file or directory of pools, workloads, pods, DaemonSets; may be repeated")
	flags.StringArrayVar(&o.Without, "without", nil, "what if KIND/NAME or KIND/NAMESPACE/NAME were not there, such as nodepool/old; may be repeated")
	flags.StringArrayVar(&o.Scale, "scale", nil, "what if a workload had so many replicas, such as deployment/web=500; may be repeated")
	flags.StringArrayVar(&o.SpotInterrupted, "spot-interrupted", nil, "what if all spot nodes of this zone were taken away, and none could be bought there; may be repeated")
}

func settingFlags(flags *pflag.FlagSet, w Env) {
	for _, option := range planSettings(w) {
		usage := strings.Replace(option.Usage, "which cluster to control", "which cluster to read", 1)
		flags.String(option.Flag, option.Default, usage+" ("+option.Env+")")
		if option.Kind() == "true|false" {
			flags.Lookup(option.Flag).NoOptDefVal = "true"
		}
	}
}

// makePlan reads the settings and makes the plan. It reports whether every pod has a place.
func makePlan(cmd *cobra.Command, w Env, o planning.Options, now string) (bool, error) {
	o.Given = cmd.Flags().Changed
	var err error
	if o.Now, err = parseTime(now); err != nil {
		return false, err
	}
	warnings, err := readPlanSettings(cmd, w, &o)
	if err != nil {
		return false, err
	}
	for _, warning := range warnings {
		fmt.Fprintf(w.Err, "note: %s\n", warning.Text)
	}
	return planning.Run(cmd.Context(), o, planning.Env{In: w.In, Out: w.Out, Err: w.Err, Progress: cmp.Or(w.Progress, w.Err), Lookup: w.LookupEnv, Clock: time.Now, Cloud: w.Cloud})
}

// planSettings are the settings of the controller that a plan depends on too.
func planSettings(w Env) []settings.Option {
	return slices.DeleteFunc(settings.Options(w.Cloud.Settings...), func(o settings.Option) bool { return !o.Plan })
}

func catalogUsage(w Env) string {
	return "file of offers, in place of the built-in " + w.Cloud.Builtin.Name + " catalogue"
}

// readPlanSettings reads the settings by the controller's own rules, from flags and environment;
// settings that no plan depends on are not looked at.
func readPlanSettings(cmd *cobra.Command, w Env, o *planning.Options) ([]settings.Warning, error) {
	var args, variables []string
	for _, option := range planSettings(w) {
		variables = append(variables, option.Env)
		if flag := cmd.Flags().Lookup(option.Flag); flag.Changed {
			args = append(args, "--"+option.Flag+"="+flag.Value.String())
		}
	}
	environment := func(name string) (string, bool) {
		if !slices.Contains(variables, name) {
			return "", false
		}
		return w.LookupEnv(name)
	}
	s, warnings, err := settings.Parse(args, environment, w.Cloud.Settings...)
	if err != nil {
		return nil, fmt.Errorf("%w\nrun 'tenon plan --help' for what each setting takes", err)
	}
	o.Settings = s
	o.Under = under(args, environment, w.Cloud.Settings)
	warnings = slices.DeleteFunc(warnings, func(warning settings.Warning) bool {
		return !slices.Contains(variables, warning.Env)
	})
	return warnings, nil
}

func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--now=%q is not a time such as 2026-07-20T12:00:00Z: %s", text, strings.TrimPrefix(err.Error(), "parsing time "))
	}
	return at, nil
}

// under reads settings above those that a controller publishes.
func under(args []string, environment settings.LookupEnv, own []settings.Option) func(map[string]string) (settings.Settings, error) {
	return func(published map[string]string) (settings.Settings, error) {
		s, _, err := settings.Parse(args, settings.WithPublished(environment, published, own...), own...)
		return s, err
	}
}
