package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"tenon/lab/kubelet"
)

// Ill makes simulated machines report conditions instead of healthy ones.
func Ill(ctx context.Context, client kubernetes.Interface, names []string, illnesses []kubelet.Illness) error {
	var words []string
	for _, a := range illnesses {
		words = append(words, a.String())
	}
	return each(names, func(name string) error {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("make node %s ill: %w", name, err)
		}
		if !kubelet.Simulated(node) {
			return fmt.Errorf("make node %s ill: it is not simulated", name)
		}
		return annotate(ctx, client, name, strings.Join(words, ","))
	})
}

// Heal ends what Ill began. Conditions that no kubelet owns are removed from the status.
func Heal(ctx context.Context, client kubernetes.Interface, names []string) error {
	return each(names, func(name string) error {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("heal node %s: %w", name, err)
		}
		illnesses, err := kubelet.ParseIllnesses(node.Annotations[kubelet.AnnotationConditions])
		if err != nil {
			return fmt.Errorf("heal node %s: %w", name, err)
		}
		if err := annotate(ctx, client, name, nil); err != nil {
			return err
		}
		return forget(ctx, client, name, illnesses)
	})
}

// forget removes conditions that no kubelet would correct.
func forget(ctx context.Context, client kubernetes.Interface, name string, illnesses []kubelet.Illness) error {
	var gone []map[string]any
	for _, a := range illnesses {
		if !kubelet.KubeletOwns(a.Type) {
			gone = append(gone, map[string]any{"type": v1.NodeConditionType(a.Type), "$patch": "delete"})
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return patch(ctx, client, name, types.StrategicMergePatchType, map[string]any{"status": map[string]any{"conditions": gone}}, "status")
}

func annotate(ctx context.Context, client kubernetes.Interface, name string, value any) error {
	return patch(ctx, client, name, types.MergePatchType,
		map[string]any{"metadata": map[string]any{"annotations": map[string]any{kubelet.AnnotationConditions: value}}})
}

func patch(ctx context.Context, client kubernetes.Interface, name string, kind types.PatchType, change map[string]any, subresources ...string) error {
	body, err := json.Marshal(change)
	if err == nil {
		_, err = client.CoreV1().Nodes().Patch(ctx, name, kind, body, metav1.PatchOptions{}, subresources...)
	}
	if err != nil {
		return fmt.Errorf("change node %s: %w", name, err)
	}
	return nil
}

// each calls do for every machine, and returns all errors.
func each(names []string, do func(string) error) error {
	var failures []error
	for _, name := range names {
		failures = append(failures, do(name))
	}
	return errors.Join(failures...)
}
