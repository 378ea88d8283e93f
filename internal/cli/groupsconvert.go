package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"tenon/internal/version"
)

func groupsConvertCommand(w Env) *cobra.Command {
	var file, output string
	cmd := &cobra.Command{
		Use:   "convert GROUP",
		Short: "Make a NodePool and an EC2NodeClass of an Auto Scaling group",
		Long: `Make a NodePool and an EC2NodeClass of an Auto Scaling group, which launch nodes like those of
the group. The group, its launch template and its managed node group are read from AWS, with
the credentials of the caller; nothing is changed. The objects come out as YAML, or with -o json
as a List, for Tenon and for Karpenter alike.

What a person should know is on standard error, one line a setting:
  lost      pools have nothing like it: you have to decide
  changed   the pool does something similar
  kept      it is carried over
  needless  pools work without it

Exit status: 0 when nothing is lost; 2 when some setting is lost; 1 when the group cannot be
read. 'tenon validate' says whether the result can be used, and 'tenon plan' whether the pods
of the group fit.`,
		Example: `  tenon groups convert eks-web-84c0ffee > pool.yaml
  tenon groups convert eks-web-84c0ffee | tenon validate -
  kubectl apply -f pool.yaml && kubectl patch nodegroup web --type merge -p '{"spec":{"mode":"handover"}}'`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&file, "output-file", "", "write the objects to this file, which must not exist yet, in place of standard output")
	cmd.Flags().StringVarP(&output, "output", "o", "yaml", "format: yaml or json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(output, "yaml", "json"); err != nil {
			return err
		}
		return runGroupsConvert(cmd.Context(), w, args[0], file, output)
	}
	return cmd
}

func runGroupsConvert(ctx context.Context, w Env, group, file, output string) error {
	if w.Cloud.ConvertGroup == nil {
		return errors.New("the cloud of this program has no node groups")
	}
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	found, err := w.Cloud.ConvertGroup(ctx, version.Get().Version, group)
	if err != nil {
		return err
	}
	text, err := objectsText(found.Objects, output)
	if err != nil {
		return fmt.Errorf("write the objects: %w", err)
	}
	if err := writeNew(w.Out, file, text); err != nil {
		return err
	}
	for _, n := range found.Notes {
		fmt.Fprintf(w.Err, "%-8s %s: %s\n", n.Effect, n.Setting, n.Text)
	}
	if !found.Complete() {
		return ErrIncomplete
	}
	return nil
}

// objectsText is objects as YAML documents, or as a List in JSON, without the fields that only the API server sets.
func objectsText(objects []runtime.Object, output string) ([]byte, error) {
	items := make([]map[string]any, len(objects))
	for i, object := range objects {
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &items[i]); err != nil {
			return nil, err
		}
		delete(items[i], "status")
		if meta, is := items[i]["metadata"].(map[string]any); is {
			delete(meta, "creationTimestamp")
		}
	}
	if output == "json" {
		text, err := json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, "", "    ")
		return append(text, '\n'), err
	}
	return yamlDocuments(items)
}

func yamlDocuments(items []map[string]any) ([]byte, error) {
	var out bytes.Buffer
	for i, fields := range items {
		text, err := yaml.Marshal(fields)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}
