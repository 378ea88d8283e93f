package store

import (
	"fmt"
	"reflect"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"tenon/api/admission"
	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	awsv1 "tenon/api/aws/v1"
	"tenon/api/crds"
	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// Kind is what a server knows about one kind of object.
type Kind struct {
	GVK        schema.GroupVersionKind
	Resource   schema.GroupResource
	Namespaced bool
	// Status says that the status is a subresource: it is written separately from the rest.
	Status bool
	// BornWithStatus says that a create request may set the status (nodes).
	BornWithStatus bool
	// StatusLabels says that a write of the status may change labels and annotations.
	StatusLabels bool
	// Counted says that objects have a generation.
	Counted bool
	// Unconditional says that an update needs no resource version.
	Unconditional bool
	// Graceful says that deleted objects have a grace period (pods).
	Graceful bool
	// admit checks custom objects. It is nil for a kind of Kubernetes' own.
	admit *admission.Admitter
	// passed are the statuses that the kind's rules have accepted.
	passed *Passed
	// selectable are the fields of custom objects by which clients can list them.
	selectable []string

	proto client.Object
}

// Scheme has all kinds that the store serves.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, karpenterv1.AddToScheme, karpenterv1alpha1.AddToScheme,
		awsv1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv1beta1.AddToScheme, tenonv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return scheme, nil
}

// ownKinds are Kubernetes' own kinds, as its API server treats them.
func ownKinds() []Kind {
	return []Kind{
		{proto: &corev1.Pod{}, Namespaced: true, Status: true, StatusLabels: true, Counted: true, Unconditional: true, Graceful: true},
		{proto: &corev1.Node{}, Status: true, BornWithStatus: true, StatusLabels: true, Unconditional: true},
		{proto: &corev1.Namespace{}, Status: true, Unconditional: true},
		{proto: &corev1.PersistentVolume{}, Status: true, StatusLabels: true, Unconditional: true},
		{proto: &corev1.PersistentVolumeClaim{}, Namespaced: true, Status: true, StatusLabels: true, Unconditional: true},
		{proto: &corev1.PodTemplate{}, Namespaced: true, Counted: true, Unconditional: true},
		{proto: &corev1.LimitRange{}, Namespaced: true, Unconditional: true},
		{proto: &corev1.ResourceQuota{}, Namespaced: true, Status: true, StatusLabels: true, Unconditional: true},
		{proto: &corev1.ConfigMap{}, Namespaced: true, Unconditional: true},
		{proto: &corev1.Secret{}, Namespaced: true, Unconditional: true},
		{proto: &appsv1.Deployment{}, Namespaced: true, Status: true, Counted: true, Unconditional: true},
		{proto: &appsv1.ReplicaSet{}, Namespaced: true, Status: true, Counted: true, Unconditional: true},
		{proto: &appsv1.DaemonSet{}, Namespaced: true, Status: true, Counted: true, Unconditional: true},
		{proto: &appsv1.StatefulSet{}, Namespaced: true, Status: true, Counted: true, Unconditional: true},
		{proto: &batchv1.Job{}, Namespaced: true, Status: true, StatusLabels: true, Counted: true, Unconditional: true},
		{proto: &policyv1.PodDisruptionBudget{}, Namespaced: true, Status: true, StatusLabels: true, Counted: true},
		{proto: &storagev1.StorageClass{}, Unconditional: true},
		{proto: &storagev1.VolumeAttachment{}, Status: true},
		{proto: &storagev1.CSINode{}},
		{proto: &coordinationv1.Lease{}, Namespaced: true},
		{proto: &schedulingv1.PriorityClass{}, Counted: true, Unconditional: true},
	}
}

// customKinds are the product's kinds, by the names of their definitions.
func customKinds() map[string]client.Object {
	return map[string]client.Object{
		crds.NodePool:       &karpenterv1.NodePool{},
		crds.NodeClaim:      &karpenterv1.NodeClaim{},
		crds.NodeOverlay:    &karpenterv1alpha1.NodeOverlay{},
		crds.EC2NodeClass:   &awsv1.EC2NodeClass{},
		crds.CapacityBuffer: &autoscalingv1beta1.CapacityBuffer{},
		crds.NodeGroup:      &tenonv1alpha1.NodeGroup{},

		crds.ProvisioningRequest: &autoscalingv1.ProvisioningRequest{},
	}
}

func allKinds(scheme *runtime.Scheme) (map[schema.GroupVersionKind]*Kind, error) {
	all := map[schema.GroupVersionKind]*Kind{}
	for _, k := range ownKinds() {
		gvk, err := apiutil.GVKForObject(k.proto, scheme)
		if err != nil {
			return nil, fmt.Errorf("find kind of %T: %w", k.proto, err)
		}
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		k.GVK, k.Resource = gvk, plural.GroupResource()
		all[gvk] = &k
	}
	custom, err := readKinds()
	for _, k := range custom {
		all[k.GVK] = &k
	}
	return all, err
}

// readKinds reads the definitions of the product's kinds, once for all stores.
var readKinds = sync.OnceValues(func() ([]Kind, error) {
	var out []Kind
	protos := customKinds()
	for _, definition := range crds.All() {
		k, err := customKind(definition, protos[definition.Name])
		if err != nil {
			return nil, err
		}
		out = append(out, *k)
	}
	return out, nil
})

func customKind(definition crds.Definition, proto client.Object) (*Kind, error) {
	admit, err := admission.New(definition.YAML)
	if err != nil {
		return nil, fmt.Errorf("admission of %s: %w", definition.Name, err)
	}
	d := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(definition.YAML, d); err != nil {
		return nil, fmt.Errorf("read definition %s: %w", definition.Name, err)
	}
	version := d.Spec.Versions[0]
	k := &Kind{
		GVK:        schema.GroupVersionKind{Group: d.Spec.Group, Version: version.Name, Kind: d.Spec.Names.Kind},
		Resource:   schema.GroupResource{Group: d.Spec.Group, Resource: d.Spec.Names.Plural},
		Namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Status:     version.Subresources != nil && version.Subresources.Status != nil,
		Counted:    true,
		admit:      admit,
		proto:      proto,
	}
	for _, f := range version.SelectableFields {
		k.selectable = append(k.selectable, f.JSONPath[1:])
	}
	return k, nil
}

// servedBy returns the kind of each Go type of an object or a list. Unstructured objects name their kind themselves.
func servedBy(scheme *runtime.Scheme, kinds map[schema.GroupVersionKind]*Kind) map[reflect.Type]*Kind {
	types := map[reflect.Type]*Kind{}
	for gvk, k := range kinds { // the order does not matter
		types[reflect.TypeOf(k.proto)] = k
		if list, known := scheme.AllKnownTypes()[gvk.GroupVersion().WithKind(gvk.Kind+"List")]; known {
			types[reflect.PointerTo(list)] = k
		}
	}
	return types
}

func mapperOf(kinds map[schema.GroupVersionKind]*Kind) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for gvk, k := range kinds {
		scope := meta.RESTScopeRoot
		if k.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		plural := k.Resource.WithVersion(gvk.Version)
		mapper.AddSpecific(gvk, plural, plural, scope)
	}
	return mapper
}

// blank returns an empty object of the kind.
func (k *Kind) blank() client.Object {
	if k.proto == nil {
		return nil
	}
	return k.proto.DeepCopyObject().(client.Object)
}

// GroupKind returns the kind as errors name it.
func (k *Kind) GroupKind() schema.GroupKind { return k.GVK.GroupKind() }
