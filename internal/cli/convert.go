package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tenon/internal/convert"
	"tenon/internal/source"
)

func convertCommand(w Env) *cobra.Command {
	var o convert.Options
	var output string
	cmd := &cobra.Command{
		Use:   "convert FILE...",
		Short: "Turn objects of Karpenter's former APIs into today's",
		Long: `Turn objects of Karpenter's former APIs into today's: Provisioner and AWSNodeTemplate of the
alpha API, a node class inside a Provisioner, NodePool, NodeClaim and EC2NodeClass of v1beta1.
Files, directories and - for standard input are read; the objects come out as YAML, with their
comments, and all other objects as they were, but for labels and annotations that have another
name now. Files stay as they are.

What a person should know is on standard error, one line a field:
  lost      no field of today's API does what it did: you have to decide
  changed   it is carried over, and does something else than it did
  explicit  a default of before is written out, or a name changed; it means what it meant

Exit status: 0 when every field has a successor; 2 when some field is lost; 1 when the input
was wrong. 'tenon validate' says whether the result can be used.`,
		Example: `  tenon convert provisioner.yaml > pools.yaml
  tenon convert --role KarpenterNodeRole-demo --cluster-name demo manifests/ | tenon validate -
  kubectl get provisioners,awsnodetemplates -o yaml | tenon convert - 2> report.txt > pools.yaml`,
		Args: someFiles,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.Role, "role", "", "role of nodes whose class names none (it was a setting of the controller)")
	flags.StringVar(&o.InstanceProfile, "instance-profile", "", "instance profile of nodes whose class names neither it nor a role")
	flags.StringVar(&o.ClusterName, "cluster-name", "", "cluster by whose tag subnets and security groups are found that no selector names")
	flags.StringVar(&output, "output-file", "", "write the objects to this file, which must not exist yet, in place of standard output")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		documents, problems := source.Read(args, w.In)
		if len(problems) > 0 {
			return errors.Join(problems...)
		}
		if len(documents) == 0 {
			return fmt.Errorf("no Kubernetes object in %s", strings.Join(args, ", "))
		}
		result := convert.Convert(documents, o)
		text, err := source.Write(result.Documents)
		if err != nil {
			return fmt.Errorf("write the objects: %w", err)
		}
		if err := writeNew(w.Out, output, text); err != nil {
			return err
		}
		for _, c := range result.Changes {
			fmt.Fprintf(w.Err, "%-8s %s:%d: %s: %s\n", c.Effect, c.File, c.Line, withField(c.Object, c.Field), c.Text)
		}
		if !result.Complete() {
			return ErrIncomplete
		}
		return nil
	}
	return cmd
}

func withField(object, field string) string {
	if field == "" {
		return object
	}
	return object + ": " + field
}

// someFiles refuses a command line without files.
func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no files: name some, or - for standard input\nrun '%s --help' for what it takes", cmd.CommandPath())
	}
	return nil
}

// writeNew writes to a new file, or to out if there is no name of a file.
func writeNew(out io.Writer, name string, text []byte) error {
	if name == "" {
		_, err := out.Write(text)
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("make the file: %w", err)
	}
	if _, err := file.Write(text); err != nil {
		_ = file.Close() // the first error says it all
		return fmt.Errorf("write %s: %w", name, err)
	}
	return file.Close()
}
