package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"tenon/internal/version"
)

func versionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Long:  "Say which build this is: its version, the commit it was made from and that commit's date, and the Go toolchain.",
		Example: `  tenon version
  tenon version -o json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd.OutOrStdout(), output, version.Get())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "format: text, json or yaml")
	return cmd
}

func printVersion(out io.Writer, format string, build version.Info) error {
	switch format {
	case "text":
		_, err := fmt.Fprintf(out, "tenon   %s\ncommit  %s (%s)\ngo      %s %s\n",
			build.Version, build.Commit, build.CommitDate, build.GoVersion, build.Platform)
		return err
	case "json":
		text, err := json.MarshalIndent(build, "", "  ")
		if err != nil {
			return fmt.Errorf("write the version as JSON: %w", err)
		}
		_, err = fmt.Fprintf(out, "%s\n", text)
		return err
	case "yaml":
		text, err := yaml.Marshal(build)
		if err != nil {
			return fmt.Errorf("write the version as YAML: %w", err)
		}
		_, err = out.Write(text)
		return err
	}
	return fmt.Errorf("unknown output format %q; use text, json or yaml", format)
}
