// Package machine makes and removes simulated machines by hand, as a user or a test would: it creates and
// deletes Nodes, which the simulated kubelets adopt.
package machine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"tenon/lab/kubelet"
)

// Form describes a machine. The simulated kubelets fill empty fields.
type Form struct {
	CPU, Memory, Pods string // quantities
	Zone              string
	Labels            map[string]string
	Taints            []v1.Taint
	Annotations       map[string]string
}

// MadeByHand is the label of machines made by this package, by which HandMade finds them.
const MadeByHand = "lab.tenon.dev/made-by-hand"

// writers is how many machines are created or deleted at a time.
const writers = 16

// Node returns the Node of a machine with this form.
func (f Form) Node(name string) (*v1.Node, error) {
	capacity, err := f.capacity()
	if err != nil {
		return nil, err
	}
	node := kubelet.HandMadeNode(name, capacity)
	node.Labels = maps.Clone(f.Labels)
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Labels[MadeByHand] = "true"
	if f.Zone != "" {
		node.Labels[v1.LabelTopologyZone] = f.Zone
	}
	maps.Copy(node.Annotations, f.Annotations)
	node.Spec.Taints = append([]v1.Taint{}, f.Taints...)
	return node, nil
}

// defaultPods and defaultDisk complete a capacity that is given in part.
const (
	defaultPods = "110"
	defaultDisk = "100Gi"
)

func (f Form) capacity() (v1.ResourceList, error) {
	if f.CPU == "" && f.Memory == "" && f.Pods == "" {
		return nil, nil
	}
	list := v1.ResourceList{}
	for name, text := range map[v1.ResourceName]string{
		v1.ResourceCPU:              f.CPU,
		v1.ResourceMemory:           f.Memory,
		v1.ResourcePods:             or(f.Pods, defaultPods),
		v1.ResourceEphemeralStorage: defaultDisk,
	} {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", name, text, err)
		}
		list[name] = quantity
	}
	return list, nil
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// Add creates machines with the given names.
func Add(ctx context.Context, client kubernetes.Interface, names []string, form Form) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, name := range names {
		group.Go(func() error {
			node, err := form.Node(name)
			if err != nil {
				return err
			}
			if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("add node %s: %w", name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// FreeNames returns the first names of the form PREFIX-NUMBER that no node has.
func FreeNames(ctx context.Context, client kubernetes.Interface, prefix string, count int) ([]string, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	taken := map[string]bool{}
	for _, node := range nodes.Items {
		taken[node.Name] = true
	}
	var names []string
	for number := 1; len(names) < count; number++ {
		if name := fmt.Sprintf("%s-%d", prefix, number); !taken[name] {
			names = append(names, name)
		}
	}
	return names, nil
}

// HandMade returns the names of all machines that were made by hand.
func HandMade(ctx context.Context, client kubernetes.Interface) ([]string, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: MadeByHand})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	var names []string
	for _, node := range nodes.Items {
		names = append(names, node.Name)
	}
	return names, nil
}

// Delete deletes the Nodes with the given names, which may be gone already.
func Delete(ctx context.Context, client kubernetes.Interface, names []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, name := range names {
		group.Go(func() error {
			err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("delete node %s: %w", name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// AwaitReady waits until all the named nodes are Ready and have lost the not-ready taint.
func AwaitReady(ctx context.Context, client kubernetes.Interface, names []string, within time.Duration) error {
	waiting := map[string]bool{}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, within, true, func(ctx context.Context) (bool, error) {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return false, err
		}
		clear(waiting)
		for _, name := range names {
			waiting[name] = true
		}
		for i := range nodes.Items {
			if Ready(&nodes.Items[i]) {
				delete(waiting, nodes.Items[i].Name)
			}
		}
		return len(waiting) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("wait until nodes are ready: %d of %d are not, among them %s: %w", len(waiting), len(names), anyOf(waiting), err)
	}
	return nil
}

func anyOf(names map[string]bool) string {
	for name := range names {
		return name
	}
	return "none"
}

// Ready reports whether a node takes pods.
func Ready(node *v1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == v1.TaintNodeNotReady || taint.Key == v1.TaintNodeUnreachable {
			return false
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == v1.NodeReady {
			return condition.Status == v1.ConditionTrue
		}
	}
	return false
}

// ParseLabels reads KEY=VALUE,KEY=VALUE.
func ParseLabels(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	set, err := labels.ConvertSelectorToLabelsMap(text)
	if err != nil {
		return nil, fmt.Errorf("labels %q: want KEY=VALUE,KEY=VALUE: %w", text, err)
	}
	return set, nil
}

// ParseTaints reads KEY=VALUE:EFFECT,KEY:EFFECT.
func ParseTaints(text string) ([]v1.Taint, error) {
	if text == "" {
		return nil, nil
	}
	var taints []v1.Taint
	for _, part := range strings.Split(text, ",") {
		taint, err := parseTaint(part)
		if err != nil {
			return nil, fmt.Errorf("taint %q: %w", part, err)
		}
		taints = append(taints, taint)
	}
	return taints, nil
}

func parseTaint(text string) (v1.Taint, error) {
	pair, effect, found := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	if !found || key == "" {
		return v1.Taint{}, errors.New("want KEY=VALUE:EFFECT or KEY:EFFECT")
	}
	switch e := v1.TaintEffect(effect); e {
	case v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute:
		return v1.Taint{Key: key, Value: value, Effect: e}, nil
	default:
		return v1.Taint{}, fmt.Errorf("effect %q: want NoSchedule, PreferNoSchedule or NoExecute", effect)
	}
}
