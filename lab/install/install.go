// Package install puts into a new cluster what the lab needs before anything else runs: the resource
// definitions of the product, the rights of the cluster's users, and a storage class.
package install

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"tenon/api/crds"
)

//go:embed manifests/*.yaml
var manifests embed.FS

// owner is the field manager of everything that is installed.
const owner = "tenon-lab"

var definitions = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// Manifests applies the lab's own manifests.
func Manifests(ctx context.Context, config *rest.Config) error {
	files, err := manifests.ReadDir("manifests")
	if err != nil {
		return fmt.Errorf("list manifests: %w", err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	for _, file := range files {
		text, err := manifests.ReadFile("manifests/" + file.Name())
		if err != nil {
			return fmt.Errorf("read manifest %s: %w", file.Name(), err)
		}
		if err := apply(ctx, client, text); err != nil {
			return fmt.Errorf("apply %s: %w", file.Name(), err)
		}
	}
	return nil
}

// Definitions applies resource definitions and waits until the API server serves them. It returns
// how many there are.
func Definitions(ctx context.Context, config *rest.Config, all []crds.Definition) (int, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return 0, fmt.Errorf("make client: %w", err)
	}
	for _, definition := range all {
		if err := apply(ctx, client, definition.YAML); err != nil {
			return 0, fmt.Errorf("apply definition %s: %w", definition.Name, err)
		}
	}
	for _, definition := range all {
		if err := awaitEstablished(ctx, client, definition.Name); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// Apply applies every document of a manifest that users write. What has no namespace but needs one
// is in the default one.
func Apply(ctx context.Context, config *rest.Config, text []byte) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	return apply(ctx, client, text)
}

// apply applies every document of a manifest.
func apply(ctx context.Context, client dynamic.Interface, text []byte) error {
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read manifest: %w", err)
		}
		if len(object.Object) == 0 {
			continue // a comment between two separators
		}
		if err := applyObject(ctx, client, object); err != nil {
			return err
		}
	}
}

func applyObject(ctx context.Context, client dynamic.Interface, object *unstructured.Unstructured) error {
	// The kinds that a lab installs are few, and their plurals are regular: no discovery is needed.
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	var target dynamic.ResourceInterface = client.Resource(resource)
	namespace := object.GetNamespace()
	if namespace == "" && object.GetKind() == "Deployment" {
		namespace = metav1.NamespaceDefault
	}
	if namespace != "" {
		target = client.Resource(resource).Namespace(namespace)
	}
	options := metav1.ApplyOptions{FieldManager: owner, Force: true}
	if _, err := target.Apply(ctx, object.GetName(), object, options); err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

func awaitEstablished(ctx context.Context, client dynamic.Interface, name string) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		definition, err := client.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return established(definition), nil
	})
	if err != nil {
		return fmt.Errorf("wait until %s is served: %w", name, err)
	}
	return nil
}

func established(definition *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, entry := range conditions {
		condition, ok := entry.(map[string]any)
		if ok && condition["type"] == "Established" && condition["status"] == "True" {
			return true
		}
	}
	return false
}
