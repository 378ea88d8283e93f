package cli

import (
	"fmt"
	"io"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/view"
)

// topOutputs are the formats of `tenon top`.
var topOutputs = []string{topTable, outputWide, outputName, topJSON, topYAML, topCSV, outputPath}

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

// nameColumn is what -o name writes.
var nameColumn = topColumn{"object", func(row any) any { return objectName(row) }}

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
