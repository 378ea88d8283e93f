package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tenon/internal/cli/planning"
	"tenon/internal/cli/sarif"
	"tenon/internal/ingest"
	"tenon/internal/ingest/manifest"
	"tenon/internal/settings"
	"tenon/internal/validate"
	"tenon/internal/version"
)

// validateOptions are what the command line says.
type validateOptions struct {
	catalog, region, output, failOn string
	now                             string
}

func validateCommand(w Env) *cobra.Command {
	var o validateOptions
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Find what is wrong with pools, classes, budgets and pods before they are applied",
		Long: `Find what is wrong with pools, classes, budgets and pods before they are applied: what the
API server would refuse (schema, rules, unknown fields), and what it would accept and its
author regret: requirements that no instance type meets, or only one; pools that are
unreachable or that a heavier pool shadows; budgets that never or always block; labels that
no node has; pods that fit nothing.

Files, directories and - for standard input are read; no cluster is asked. Each finding has
its file and line, the reason, and what to do. Files and documents that are no Kubernetes
objects are passed over.

Exit status: 0 when there is nothing as grave as --fail-on says; 2 when there is; 1 when a
file could not be read.`,
		Example: `  tenon validate pools.yaml manifests/
  kubectl get nodepools,ec2nodeclasses,pdb,deployments -A -o yaml | tenon validate -
  tenon validate -o sarif . > tenon.sarif
  tenon validate --fail-on warning -o json pools.yaml | jq '.findings[].fix'`,
		Args: someFiles,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&o.output, "output", "o", "text", "format: text, json or sarif")
	flags.StringVar(&o.failOn, "fail-on", string(validate.Error), "least grave level that fails: error, warning or note")
	flags.StringVar(&o.catalog, "catalog", "", catalogUsage(w))
	flags.StringVar(&o.region, "region", "", "region of the built-in "+w.Cloud.Builtin.Name+" catalogue (default: that of the zones a pool names, else "+w.Cloud.Builtin.Region+")")
	flags.StringVar(&o.now, "now", "", "time from which schedules are looked at, as RFC 3339 (default: the clock's)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return runValidate(cmd, w, o, args)
	}
	return cmd
}

func runValidate(cmd *cobra.Command, w Env, o validateOptions, files []string) error {
	if !slices.Contains([]string{"text", "json", "sarif"}, o.output) {
		return fmt.Errorf("unknown output format %q; use text, json or sarif", o.output)
	}
	level := validate.Level(o.failOn)
	if !slices.Contains([]validate.Level{validate.Error, validate.Warning, validate.Note}, level) {
		return fmt.Errorf("unknown level %q of --fail-on; use error, warning or note", o.failOn)
	}
	options, err := validateIngest(o, w)
	if err != nil {
		return err
	}
	var stdin []byte
	if slices.Contains(files, manifest.Stdin) {
		if stdin, err = io.ReadAll(w.In); err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
	}
	result, err := validate.Files(cmd.Context(), files, validate.Options{Ingest: options, Stdin: stdin})
	if err != nil {
		return err
	}
	if err := writeFindings(w.Out, o.output, result); err != nil {
		return fmt.Errorf("write the findings: %w", err)
	}
	if slices.ContainsFunc(result.Findings, func(f validate.Finding) bool { return f.Level.AtLeast(level) }) {
		return ErrIncomplete
	}
	return nil
}

func validateIngest(o validateOptions, w Env) (ingest.Options, error) {
	now, err := parseTime(o.now)
	if err != nil {
		return ingest.Options{}, err
	}
	if now.IsZero() {
		now = time.Now()
	}
	defaults, _, err := settings.Parse(nil, func(string) (string, bool) { return "", false }, w.Cloud.Settings...)
	if err != nil {
		return ingest.Options{}, fmt.Errorf("read the default settings: %w", err)
	}
	market, err := planning.NewMarket(o.catalog, o.region, w.Cloud)
	if err != nil {
		return ingest.Options{}, err
	}
	return planning.IngestOptions(market, now, defaults), nil
}

func writeFindings(out io.Writer, format string, result validate.Result) error {
	switch format {
	case "sarif":
		return sarif.Write(out, version.Get().Version, result.Findings)
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		if result.Findings == nil {
			result.Findings = []validate.Finding{}
		}
		return encoder.Encode(result)
	}
	for _, f := range result.Findings {
		fix := f.Fix
		f.Fix = ""
		if _, err := fmt.Fprintf(out, "%s:%d: %s: %s [%s]\n", f.File, f.Line, f.Level, f.Text(), f.Rule); err != nil {
			return err
		}
		if fix != "" {
			fmt.Fprintf(out, "    %s\n", fix)
		}
	}
	_, err := fmt.Fprintf(out, "%d errors, %d warnings, %d notes in %d objects of %d files\n",
		result.Count(validate.Error), result.Count(validate.Warning), result.Count(validate.Note), result.Objects, result.Files)
	return err
}
