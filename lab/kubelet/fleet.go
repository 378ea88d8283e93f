package kubelet

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Fleet is all simulated machines of a cluster.
//
//	Launch, Terminate, SetFault ─┐
//	watch events ────────────────┼─▶ keys with due times ─▶ workers: read caches, step, write
//	due times ───────────────────┘            ▲                        │
//	                                          └── look again at ◀──────┘
type Fleet struct {
	config   Config
	client   kubernetes.Interface
	watches  *watches
	memory   *memory
	machines *loop // instances, Nodes, Leases: a flood of pods must not starve heartbeats
	work     *loop // pods and volumes
	ready    chan struct{}
}

// Run simulates the kubelets of a cluster until the context ends.
func Run(ctx context.Context, c Config) error {
	f, err := New(c)
	if err != nil {
		return err
	}
	return f.Run(ctx)
}

// New prepares a fleet; Run starts it. Instances may be launched before Run.
func New(c Config) (*Fleet, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(clientConfig(c.RESTConfig))
	if err != nil {
		return nil, fmt.Errorf("client for the simulated kubelets: %w", err)
	}
	w, err := newWatches(client)
	if err != nil {
		return nil, err
	}
	f := &Fleet{config: c, client: client, watches: w, memory: newMemory(c), ready: make(chan struct{})}
	f.machines = newLoop(c, f.serveMachine)
	f.work = newLoop(c, f.serveWork)
	return f, f.handleEvents()
}

// clientConfig returns a configuration without a client-side rate limit: the number of workers is the
// limit.
func clientConfig(c *rest.Config) *rest.Config {
	own := rest.CopyConfig(c)
	own.QPS, own.Burst = -1, -1
	own.ContentConfig.ContentType = "application/vnd.kubernetes.protobuf"
	own.ContentConfig.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	if own.UserAgent == "" {
		own.UserAgent = "tenon-lab-kubelets"
	}
	return own
}

// Run serves until the context ends; it leaves no goroutine behind. It may be called once.
func (f *Fleet) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer f.watches.stop()
	defer cancel()
	if err := f.watches.start(ctx); err != nil {
		f.machines.queue.ShutDown()
		f.work.queue.ShutDown()
		return err
	}
	close(f.ready)
	var loops sync.WaitGroup
	loops.Go(func() { f.machines.run(ctx, f.config.Workers/4+1) })
	loops.Go(func() { f.work.run(ctx, f.config.Workers) })
	loops.Wait()
	return nil
}

// Ready is closed once the caches are filled and the workers run.
func (f *Fleet) Ready() <-chan struct{} { return f.ready }

// Launch boots an instance, which joins as a Node when its boot delay has passed.
// Launching an instance again, by its provider ID, changes nothing.
func (f *Fleet) Launch(i Instance) error {
	if err := i.validate(); err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	if f.memory.launch(i.clone(), f.config.Clock.Now()) {
		f.machines.add(instanceKey(i.ProviderID))
	}
	return nil
}

// Terminate switches an instance off at once: its pods stop, its heartbeats end, and after a delay its Node
// is deleted, as the cloud's node controller would do.
func (f *Fleet) Terminate(providerID string) {
	f.memory.terminate(providerID, f.config.Clock.Now())
	f.wake(providerID)
}

// SetFault breaks a machine, named by its provider ID or its Node, or heals it
// with the zero Fault. It adds to a fault that the Node's annotation asks for.
func (f *Fleet) SetFault(id string, fault Fault) {
	f.memory.setFault(id, fault)
	f.wake(id)
}

// wake queues a machine, named by its provider ID or its Node.
func (f *Fleet) wake(id string) {
	f.machines.add(instanceKey(id))
	if !f.watches.nodes.HasSynced() {
		return // every Node is looked at once the caches are filled
	}
	nodes := list[v1.Node](f.watches.nodes, byProviderID, id)
	if n := find[v1.Node](f.watches.nodes, id); n != nil {
		nodes = append(nodes, n)
	}
	for _, n := range nodes {
		f.wakeNode(n)
	}
}

// wakeNode queues a Node, its machine, and everything on it.
func (f *Fleet) wakeNode(n *v1.Node) {
	f.machines.add(instanceKey(n.Spec.ProviderID))
	f.machines.add(nodeKey(n))
	f.machines.add(key{kind: kindLease, name: n.Name, uid: n.UID})
	f.wakePods(n.Name)
	for _, va := range list[storage.VolumeAttachment](f.watches.attachments, byNode, n.Name) {
		f.work.add(key{kind: kindAttachment, name: va.Name})
	}
}

func (f *Fleet) wakePods(node string) {
	for _, p := range list[v1.Pod](f.watches.pods, byNode, node) {
		f.work.add(podKey(p))
	}
}

func instanceKey(providerID string) key { return key{kind: kindInstance, name: providerID} }

func nodeKey(n *v1.Node) key { return key{kind: kindNode, name: n.Name, uid: n.UID} }

func podKey(p *v1.Pod) key {
	return key{kind: kindPod, namespace: p.Namespace, name: p.Name, uid: p.UID}
}

func (f *Fleet) serveMachine(ctx context.Context, k key) (time.Time, error) {
	switch k.kind {
	case kindInstance:
		return f.serveInstance(ctx, k)
	case kindNode:
		return f.serveNode(ctx, k)
	case kindLease:
		return f.serveLease(ctx, k)
	default:
		panic("no machine is a " + string(k.kind)) // the kinds of this queue are added in this file
	}
}

func (f *Fleet) serveWork(ctx context.Context, k key) (time.Time, error) {
	switch k.kind {
	case kindPod:
		return f.servePod(ctx, k)
	case kindAttachment:
		return f.serveAttachment(ctx, k)
	case kindClaim:
		return f.serveClaim(ctx, k)
	case kindVolume:
		return f.serveVolume(ctx, k)
	default:
		panic("no work is a " + string(k.kind)) // the kinds of this queue are added in this package
	}
}

// handleEvents turns events of the watches into keys.
func (f *Fleet) handleEvents() error {
	for _, on := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{
		{f.watches.nodes, handler(f.nodeChanged, f.nodeGone)},
		{f.watches.pods, handler(f.podChanged, f.podGone)},
		{f.watches.attachments, handler(f.attachmentChanged, f.attachmentGone)},
		{f.watches.claims, handler(f.claimChanged, nil)},
		{f.watches.volumes, handler(f.volumeChanged, nil)},
	} {
		if _, err := on.informer.AddEventHandler(on.handler); err != nil {
			return fmt.Errorf("follow a watch: %w", err)
		}
	}
	return nil
}

// handler adapts typed functions; was is nil for a new object.
func handler[T any](changed func(was, is *T), gone func(*T)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { changed(nil, o.(*T)) },
		UpdateFunc: func(was, is any) { changed(was.(*T), is.(*T)) },
		DeleteFunc: func(o any) {
			if missed, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = missed.Obj
			}
			if last, ok := o.(*T); ok && gone != nil {
				gone(last)
			}
		},
	}
}

func (f *Fleet) nodeChanged(was, is *v1.Node) {
	f.memory.arrive(is.Name)
	if !Simulated(is) {
		return
	}
	news := was == nil || was.UID != is.UID || isReady(was) != isReady(is) ||
		was.Annotations[AnnotationFault] != is.Annotations[AnnotationFault] ||
		was.Annotations[AnnotationConditions] != is.Annotations[AnnotationConditions] || !Simulated(was)
	if news {
		f.wakeNode(is)
		return
	}
	f.machines.add(nodeKey(is))
}

func (f *Fleet) nodeGone(n *v1.Node) {
	if Simulated(n) {
		f.memory.depart(n.Name, f.config.Clock.Now())
	}
	f.wakeNode(n)
}

func (f *Fleet) podChanged(_, is *v1.Pod) {
	f.work.add(podKey(is))
	f.wakeVolumeUser(is)
}

func (f *Fleet) podGone(p *v1.Pod) {
	f.work.add(podKey(p))
	f.wakeVolumeUser(p)
}

// wakeVolumeUser queues the pod's Node, so that it reports which volumes its pods use.
func (f *Fleet) wakeVolumeUser(p *v1.Pod) {
	if len(p.Spec.Volumes) == 0 {
		return
	}
	if n := find[v1.Node](f.watches.nodes, p.Spec.NodeName); n != nil {
		f.machines.add(nodeKey(n))
	}
}

func (f *Fleet) attachmentChanged(was, is *storage.VolumeAttachment) {
	f.work.add(key{kind: kindAttachment, name: is.Name})
	if was != nil && !was.Status.Attached && is.Status.Attached {
		f.wakePods(is.Spec.NodeName)
	}
}

func (f *Fleet) attachmentGone(va *storage.VolumeAttachment) {
	f.work.add(key{kind: kindVolume, name: volumeOf(va)})
}

func (f *Fleet) claimChanged(_, is *v1.PersistentVolumeClaim) {
	f.work.add(key{kind: kindClaim, namespace: is.Namespace, name: is.Name})
}

func (f *Fleet) volumeChanged(_, is *v1.PersistentVolume) {
	f.work.add(key{kind: kindVolume, name: is.Name})
}
