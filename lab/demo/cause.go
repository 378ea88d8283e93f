package demo

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// causes are Tenon's words for why it ends machines, by their identifiers. AWS knows only that it was asked to.
type causes map[string]string

// The event by which Tenon says on a node that it disrupts it, and why.
const (
	disrupting = "DisruptionTerminating"
	opening    = "Disrupting Node: "
)

// learn reads the events of the nodes that are there.
func (c causes) learn(ctx context.Context, clients kubernetes.Interface) error {
	nodes, err := clients.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	events, err := clients.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + disrupting})
	if err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	said := map[string]string{}
	for i := range events.Items {
		e := &events.Items[i]
		if why, found := strings.CutPrefix(e.Message, opening); found && e.InvolvedObject.Kind == "Node" {
			said[e.InvolvedObject.Name] = why
		}
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if why, found := said[n.Name]; found {
			c[n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:]] = why
		}
	}
	return nil
}
