package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/util/jsonpath"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/view"
)

// The outputs of `tenon top` that kubectl has too.
const (
	topWide     = "wide"
	topName     = "name"
	topJSONPath = "jsonpath="
)

// checkTopOutput refuses outputs that there are not, and templates that cannot be read.
func checkTopOutput(output string) error {
	if text, found := strings.CutPrefix(output, topJSONPath); found {
		_, err := pathOf(text)
		return err
	}
	if !slices.Contains([]string{topTable, topWide, topName, topJSON, topYAML, topCSV}, output) {
		return fmt.Errorf("unknown output format %q; use table, wide, name, json, yaml, csv or jsonpath=TEMPLATE", output)
	}
	return nil
}

// wides are the further columns of -o wide.
var wides = map[string][]topColumn{
	"pools": {
		poolColumn("kind", func(p *view.Pool) any { return p.Kind }),
		poolColumn("class", func(p *view.Pool) any { return p.Class }),
	},
	"nodes": {
		nodeColumn("claim", func(n *view.Node) any { return n.Claim }),
		nodeColumn("instance", func(n *view.Node) any { return n.Instance }),
		nodeColumn("arch", func(n *view.Node) any { return n.Arch }),
		nodeColumn("created", func(n *view.Node) any { return timeText(n.Created) }),
		nodeColumn("price from", func(n *view.Node) any { return string(n.Source) }),
	},
	"pending": {
		podColumn("created", func(p *view.Pod) any { return timeText(p.Created) }),
	},
}

func timeText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// objectName is what a row is about, as kubectl writes it with -o name; empty for nodes that no object stands for.
func objectName(subject any) string {
	switch o := subject.(type) {
	case *view.Pool:
		switch {
		case o.Object == "":
			return ""
		case o.Kind == "NodePool":
			return "nodepool." + karpenterv1.Group + "/" + o.Object
		}
		return "nodegroup." + tenonv1alpha1.Group + "/" + o.Object
	case *view.Node:
		if o.Name == o.Claim && (o.Phase == view.Launching || o.Phase == view.Registering) {
			return "nodeclaim." + karpenterv1.Group + "/" + o.Claim
		}
		return "node/" + o.Name
	case *view.Pod:
		return "pod/" + o.Name
	}
	return ""
}

// writeNames writes the last column of rows, a line each.
func writeNames(to io.Writer, rows [][]any) error {
	for _, row := range rows {
		if name := row[len(row)-1]; name != "" {
			if _, err := fmt.Fprintln(to, name); err != nil {
				return fmt.Errorf("write the names: %w", err)
			}
		}
	}
	return nil
}

// pathOf reads a template. As in kubectl, a field that a row does not have is empty.
func pathOf(template string) (*jsonpath.JSONPath, error) {
	if template == "" {
		return nil, errors.New("-o jsonpath= needs a template, such as -o jsonpath='{.items[*].name}'")
	}
	path := jsonpath.New("top").AllowMissingKeys(true)
	if err := path.Parse(template); err != nil {
		return nil, fmt.Errorf("-o jsonpath=%s: %w", template, err)
	}
	return path, nil
}

// writePath fills in a template. The rows are its items, and what is not known is missing.
func writePath(to io.Writer, template string, columns []topColumn, rows [][]any) error {
	path, err := pathOf(template)
	if err != nil {
		return err
	}
	items := []any{}
	for _, object := range objects(columns, rows) {
		for name, value := range object {
			if value == nil {
				delete(object, name)
			}
		}
		items = append(items, object)
	}
	if err := path.Execute(to, map[string]any{"items": items}); err != nil {
		return fmt.Errorf("-o jsonpath=%s: %w", template, err)
	}
	return nil
}
