package randomcluster

import (
	"bytes"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	karpenterv1 "tenon/api/karpenter/v1"
)

// header is the first document of a written cluster: everything that is not an API object.
type header struct {
	metav1.TypeMeta `json:",inline"`
	Seed            uint64   `json:"seed"`
	Settings        Settings `json:"settings"`
	Types           []Type   `json:"types"`
}

var headerKind = metav1.TypeMeta{APIVersion: "chance", Kind: "Cluster"}

// emptyObject returns an empty object of one of the kinds that clusters consist of.
func emptyObject(kind string) (Object, bool) {
	switch kind {
	case "Pod":
		return &corev1.Pod{}, true
	case "Node":
		return &corev1.Node{}, true
	case "Namespace":
		return &corev1.Namespace{}, true
	case "PersistentVolume":
		return &corev1.PersistentVolume{}, true
	case "PersistentVolumeClaim":
		return &corev1.PersistentVolumeClaim{}, true
	case "StorageClass":
		return &storagev1.StorageClass{}, true
	case "CSINode":
		return &storagev1.CSINode{}, true
	case "DaemonSet":
		return &appsv1.DaemonSet{}, true
	case "PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}, true
	case "NodePool":
		return &karpenterv1.NodePool{}, true
	case "NodeClaim":
		return &karpenterv1.NodeClaim{}, true
	}
	return nil, false
}

const divider = "---\n"

// YAML writes the cluster: its seed, settings and catalogue first, then its objects.
func (c *Cluster) YAML() []byte {
	var b bytes.Buffer
	write := func(document any) {
		text, err := yaml.Marshal(document)
		if err != nil {
			panic(fmt.Sprintf("chance: a document that cannot be written: %v", err)) // plain values and API objects can
		}
		if b.Len() > 0 {
			b.WriteString(divider)
		}
		b.Write(text)
	}
	write(header{TypeMeta: headerKind, Seed: c.Seed, Settings: c.Settings, Types: c.Types})
	for _, o := range c.Objects {
		write(o)
	}
	return b.Bytes()
}

// Read reads what YAML wrote.
func Read(data []byte) (*Cluster, error) {
	documents := bytes.Split(data, []byte("\n"+divider))
	var first header
	if err := yaml.UnmarshalStrict(documents[0], &first); err != nil {
		return nil, fmt.Errorf("read cluster: document 0: %w", err)
	}
	if first.TypeMeta != headerKind {
		return nil, fmt.Errorf("read cluster: document 0 is a %s of %s, not a %s of %s", first.Kind, first.APIVersion, headerKind.Kind, headerKind.APIVersion)
	}
	out := &Cluster{Seed: first.Seed, Settings: first.Settings, Types: first.Types}
	for i, document := range documents[1:] {
		o, err := readObject(document)
		if err != nil {
			return nil, fmt.Errorf("read cluster: document %d: %w", i+1, err)
		}
		out.Objects = append(out.Objects, o)
	}
	return out, nil
}

func readObject(document []byte) (Object, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	o, known := emptyObject(kind.Kind)
	if !known {
		return nil, fmt.Errorf("clusters have no %q", kind.Kind)
	}
	return o, yaml.UnmarshalStrict(document, o)
}
