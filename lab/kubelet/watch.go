package kubelet

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

const (
	byNode       = "node"       // pods and attachments
	byProviderID = "providerID" // Nodes
	byVolume     = "volume"     // attachments by PersistentVolume
)

// watches holds everything that the simulator knows of the cluster: bound pods, Nodes, and objects for
// volumes. The objects are reduced to what steps read, and must not be changed.
type watches struct {
	assigned, everything informers.SharedInformerFactory

	pods, nodes, attachments, claims, volumes, classes cache.SharedIndexInformer
}

func newWatches(client kubernetes.Interface) (*watches, error) {
	assigned := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTransform(strip),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "spec.nodeName!=" }))
	everything := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(strip))
	w := &watches{
		assigned:    assigned,
		everything:  everything,
		pods:        assigned.Core().V1().Pods().Informer(),
		nodes:       everything.Core().V1().Nodes().Informer(),
		claims:      everything.Core().V1().PersistentVolumeClaims().Informer(),
		volumes:     everything.Core().V1().PersistentVolumes().Informer(),
		attachments: everything.Storage().V1().VolumeAttachments().Informer(),
		classes:     everything.Storage().V1().StorageClasses().Informer(),
	}
	return w, w.index()
}

func (w *watches) index() error {
	for _, add := range []struct {
		informer cache.SharedIndexInformer
		name     string
		value    func(any) string
	}{
		{w.pods, byNode, func(o any) string { return o.(*v1.Pod).Spec.NodeName }},
		{w.nodes, byProviderID, func(o any) string { return o.(*v1.Node).Spec.ProviderID }},
		{w.attachments, byNode, func(o any) string { return o.(*storage.VolumeAttachment).Spec.NodeName }},
		{w.attachments, byVolume, func(o any) string { return volumeOf(o.(*storage.VolumeAttachment)) }},
	} {
		values := func(o any) ([]string, error) { return []string{add.value(o)}, nil }
		if err := add.informer.AddIndexers(cache.Indexers{add.name: values}); err != nil {
			return fmt.Errorf("index by %s: %w", add.name, err)
		}
	}
	return nil
}

func volumeOf(va *storage.VolumeAttachment) string {
	if va.Spec.Source.PersistentVolumeName == nil {
		return ""
	}
	return *va.Spec.Source.PersistentVolumeName
}

// start returns when every cache is filled.
func (w *watches) start(ctx context.Context) error {
	for _, f := range []informers.SharedInformerFactory{w.everything, w.assigned} {
		f.StartWithContext(ctx)
	}
	for _, f := range []informers.SharedInformerFactory{w.everything, w.assigned} {
		if result := f.WaitForCacheSyncWithContext(ctx); result.Err != nil {
			return fmt.Errorf("fill caches: %w", result.Err)
		}
	}
	return nil
}

// stop waits until the watches have ended, which they do with their context.
func (w *watches) stop() {
	w.assigned.Shutdown()
	w.everything.Shutdown()
}

// find returns a cached object, or nil.
func find[T any](informer cache.SharedIndexInformer, name string) *T {
	o, exists, err := informer.GetStore().GetByKey(name)
	if err != nil || !exists { // the store's only error is an impossible key
		return nil
	}
	return o.(*T)
}

// list returns the cached objects with a value in an index.
func list[T any](informer cache.SharedIndexInformer, index, value string) []*T {
	objects, err := informer.GetIndexer().ByIndex(index, value)
	if err != nil {
		panic(fmt.Sprintf("index %s is missing: %v", index, err)) // index names are constants of this file
	}
	found := make([]*T, len(objects))
	for i, o := range objects {
		found[i] = o.(*T)
	}
	return found
}

// strip reduces an object before it is cached.
func strip(o any) (any, error) {
	switch object := o.(type) {
	case *v1.Pod:
		stripPod(object)
	case *v1.Node:
		object.Status.Images = nil
	}
	if accessor, err := meta.Accessor(o); err == nil { // tombstones have none, and nothing to strip
		accessor.SetManagedFields(nil)
	}
	return o, nil
}

func stripPod(p *v1.Pod) {
	p.ObjectMeta = metav1.ObjectMeta{
		Namespace: p.Namespace, Name: p.Name, UID: p.UID,
		ResourceVersion: p.ResourceVersion, Generation: p.Generation,
		CreationTimestamp: p.CreationTimestamp,
		DeletionTimestamp: p.DeletionTimestamp, DeletionGracePeriodSeconds: p.DeletionGracePeriodSeconds,
		Annotations: ownAnnotations(p.Annotations),
	}
	p.Spec = v1.PodSpec{
		NodeName:              p.Spec.NodeName,
		HostNetwork:           p.Spec.HostNetwork,
		RestartPolicy:         p.Spec.RestartPolicy,
		ActiveDeadlineSeconds: p.Spec.ActiveDeadlineSeconds,
		ReadinessGates:        p.Spec.ReadinessGates,
		InitContainers:        stripContainers(p.Spec.InitContainers),
		Containers:            stripContainers(p.Spec.Containers),
		Volumes:               claimVolumes(p.Spec.Volumes),
	}
}

func ownAnnotations(all map[string]string) map[string]string {
	var own map[string]string
	for name, value := range all {
		if strings.HasPrefix(name, annotationPrefix) {
			if own == nil {
				own = map[string]string{}
			}
			own[name] = value
		}
	}
	return own
}

func stripContainers(all []v1.Container) []v1.Container {
	left := make([]v1.Container, len(all))
	for i, c := range all {
		left[i] = v1.Container{
			Name: c.Name, Image: c.Image, RestartPolicy: c.RestartPolicy,
			Lifecycle: c.Lifecycle, ReadinessProbe: c.ReadinessProbe,
		}
	}
	return left
}

// claimVolumes returns the volumes that have a claim, without the templates of ephemeral ones.
func claimVolumes(all []v1.Volume) []v1.Volume {
	var left []v1.Volume
	for _, volume := range all {
		switch {
		case volume.PersistentVolumeClaim != nil:
			left = append(left, volume)
		case volume.Ephemeral != nil:
			left = append(left, v1.Volume{Name: volume.Name, VolumeSource: v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}}})
		}
	}
	return left
}
