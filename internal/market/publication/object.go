package publication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// Name is the ConfigMap's; its label is what readers look for, since it is in the controller's namespace.
const (
	Name       = "tenon-market"
	Label      = "tenon.sh/publication"
	labelValue = "market"
	key        = "market.jsonl.gz"
	// AnnotationAt says when it was written.
	AnnotationAt = "tenon.sh/published"
	// Most is how large the text may be: the API server refuses objects of more than a megabyte, in which
	// it is a third larger.
	Most = 700 << 10
)

// Object is the ConfigMap with a text.
func Object(namespace string, text []byte, at time.Time) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: Name, Labels: map[string]string{Label: labelValue},
			Annotations: map[string]string{AnnotationAt: at.UTC().Format(time.RFC3339)},
		},
		BinaryData: map[string][]byte{key: text},
	}
}

// FromObject reads the ConfigMap.
func FromObject(o *corev1.ConfigMap) (*Publication, error) {
	p, err := Decode(o.BinaryData[key])
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s: %w", o.Namespace, o.Name, err)
	}
	if p.At, err = time.Parse(time.RFC3339, o.Annotations[AnnotationAt]); err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s: read its annotation: %w", o.Namespace, o.Name, err)
	}
	return p, nil
}

// ErrNone is for clusters in which no controller publishes its market, or not to this user.
var ErrNone = errors.New("no controller publishes its market here")

// Namespaces are where a controller may publish its market, for users who may not look everywhere.
func Namespaces(lookup func(string) (string, bool)) []string {
	own, _ := lookup("SYSTEM_NAMESPACE")
	return slices.DeleteFunc([]string{own, "kube-system", "karpenter", "tenon"}, func(name string) bool { return name == "" })
}

// Read finds what the controller of a cluster publishes. A user who may not list ConfigMaps of all namespaces gets
// the one of the first of the given namespaces in which there is one that the user may read.
func Read(ctx context.Context, config *rest.Config, namespaces ...string) (*Publication, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("prepare a client for %s: %w", config.Host, err)
	}
	found, err := list(ctx, client.RESTClient(), "/api/v1/configmaps")
	if apierrors.IsForbidden(err) {
		found, err = one(ctx, client.RESTClient(), namespaces)
	}
	if err == nil && len(found) == 0 {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("look for the published market: %w", err)
	}
	return newest(found)
}

// one reads the object by its name, which the right to get that one object allows.
func one(ctx context.Context, client rest.Interface, namespaces []string) ([]corev1.ConfigMap, error) {
	for _, namespace := range namespaces {
		text, err := client.Get().AbsPath("/api/v1/namespaces/" + namespace + "/configmaps/" + Name).Do(ctx).Raw()
		if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var found corev1.ConfigMap
		if err := json.Unmarshal(text, &found); err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		return []corev1.ConfigMap{found}, nil
	}
	return nil, nil
}

func list(ctx context.Context, client rest.Interface, path string) ([]corev1.ConfigMap, error) {
	result := client.Get().AbsPath(path).Param("labelSelector", Label+"="+labelValue).Do(ctx)
	if err := result.Error(); err != nil { // it reads the server's reason, which Raw does not
		return nil, err
	}
	text, err := result.Raw()
	if err != nil {
		return nil, err
	}
	var found corev1.ConfigMapList
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return found.Items, nil
}

// newest is the one that was written last: a controller that moved to another namespace leaves one behind.
func newest(found []corev1.ConfigMap) (*Publication, error) {
	at := 0
	for i := range found {
		if found[i].Annotations[AnnotationAt] > found[at].Annotations[AnnotationAt] {
			at = i
		}
	}
	return FromObject(&found[at])
}
