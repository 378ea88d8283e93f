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

// instancesOf returns the instances that have nodes, by the names of the nodes.
func instancesOf(ctx context.Context, clients kubernetes.Interface) (map[string]string, error) {
	nodes, err := clients.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	out := map[string]string{}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		out[n.Name] = n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:]
	}
	return out, nil
}

// learn reads the events of nodes, of which the instances are given by name.
func (c causes) learn(ctx context.Context, clients kubernetes.Interface, instances map[string]string) error {
	events, err := clients.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + disrupting})
	if err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	for i := range events.Items {
		e := &events.Items[i]
		if why, found := strings.CutPrefix(e.Message, opening); found && e.InvolvedObject.Kind == "Node" {
			if instance := instances[e.InvolvedObject.Name]; instance != "" {
				c[instance] = why
			}
		}
	}
	return nil
}
