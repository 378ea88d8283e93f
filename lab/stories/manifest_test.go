package stories

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// apply makes the objects in files of testdata, as kubectl create would, and adapts them so that parallel
// stories stay apart: names without a namespace get the story's suffix, its nodes a label and a taint, and
// its pods the matching selector and toleration.
func (s *story) apply(files ...string) {
	s.Helper()
	for _, file := range files {
		for _, object := range s.read(file) {
			if err := s.Lab.Client.Create(s.Context(), object); err != nil {
				s.Fatalf("%s: create %s %s: %v", file, object.GetKind(), object.GetName(), err)
			}
			if object.GetNamespace() == "" {
				s.leftover = append(s.leftover, object)
			}
		}
	}
}

// read returns what apply would make.
func (s *story) read(name string) []*unstructured.Unstructured {
	s.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		s.Fatal(err)
	}
	defer file.Close()
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		switch {
		case errors.Is(err, io.EOF):
			return objects
		case err != nil:
			s.Fatalf("%s: %v", name, err)
		case len(object.Object) == 0:
			continue
		}
		s.adapt(object)
		objects = append(objects, object)
	}
}

func (s *story) adapt(object *unstructured.Unstructured) {
	switch object.GetKind() {
	case "NodePool":
		s.rename(object, "metadata", "name")
		s.rename(object, "spec", "template", "spec", "nodeClassRef", "name")
		s.put(object, s.Namespace, "metadata", "labels", teamLabel)
		s.put(object, s.Namespace, "spec", "template", "metadata", "labels", teamLabel)
		s.add(object, s.taint(), "spec", "template", "spec", "taints")
	case "NodeClaim":
		s.rename(object, "metadata", "name")
		s.rename(object, "spec", "nodeClassRef", "name")
		s.put(object, s.Namespace, "metadata", "labels", teamLabel)
		s.add(object, s.taint(), "spec", "taints")
	case "EC2NodeClass", "PersistentVolume", "StorageClass":
		s.rename(object, "metadata", "name")
		s.rename(object, "spec", "storageClassName")
	case "PersistentVolumeClaim":
		object.SetNamespace(s.Namespace)
		s.rename(object, "spec", "storageClassName")
		s.rename(object, "spec", "volumeName")
	case "Deployment", "StatefulSet":
		object.SetNamespace(s.Namespace)
		s.direct(object, "spec", "template", "spec")
	case "PodTemplate":
		object.SetNamespace(s.Namespace)
		s.direct(object, "template", "spec")
	case "Pod":
		object.SetNamespace(s.Namespace)
		s.direct(object, "spec")
	case "PodDisruptionBudget", "CapacityBuffer":
		object.SetNamespace(s.Namespace)
	default:
		s.Fatalf("there is no rule for kind %q", object.GetKind())
	}
}

// direct sends pods to the nodes of the story.
func (s *story) direct(object *unstructured.Unstructured, spec ...string) {
	s.put(object, s.Namespace, append(spec[:len(spec):len(spec)], "nodeSelector", teamLabel)...)
	s.add(object, map[string]any{"key": teamLabel, "operator": "Exists"}, append(spec[:len(spec):len(spec)], "tolerations")...)
}

func (s *story) taint() map[string]any {
	return map[string]any{"key": teamLabel, "value": s.Namespace, "effect": "NoSchedule"}
}

// rename adds the story's suffix to a name, if there is one.
func (s *story) rename(object *unstructured.Unstructured, path ...string) {
	if name, found, _ := unstructured.NestedString(object.Object, path...); found && name != "" {
		s.put(object, s.named(name), path...)
	}
}

func (s *story) put(object *unstructured.Unstructured, value string, path ...string) {
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		s.Fatal(err)
	}
}

func (s *story) add(object *unstructured.Unstructured, item map[string]any, path ...string) {
	list, _, err := unstructured.NestedSlice(object.Object, path...)
	if err == nil {
		err = unstructured.SetNestedSlice(object.Object, append(list, item), path...)
	}
	if err != nil {
		s.Fatal(err)
	}
}
