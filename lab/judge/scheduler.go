package judge

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	schedulerruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"tenon/internal/ingest"
)

// scheduler is the framework of a scheduler with its filters, to which one finished cluster after
// the other is shown.
type scheduler struct {
	ctx       context.Context
	cancel    context.CancelFunc
	factory   informers.SharedInformerFactory
	framework framework.Framework
	view      *view
}

// view is the cluster that the plugins see. They keep it from the start, so what they see
// is changed behind it.
type view struct{ fwk.SharedLister }

// filters are the scheduler's own, with nothing left out that says where a pod may go.
// Queue sort and binder are there because a framework must have them.
var filters = []string{
	names.PrioritySort, names.DefaultBinder,
	names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts,
	names.NodeResourcesFit, names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone,
	names.PodTopologySpread, names.InterPodAffinity,
}

var registerMetrics sync.Once

func newScheduler(ctx context.Context, objects *ingest.Objects, s *cluster) (*scheduler, error) {
	registerMetrics.Do(metrics.Register) // plugins panic when they count without it
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, klog.Logger{}))
	client := fake.NewClientset(served(objects, s)...)
	c := &scheduler{ctx: ctx, cancel: cancel, factory: informers.NewSharedInformerFactory(client, time.Duration(0)), view: &view{cache.NewEmptySnapshot()}}
	profile, err := profile()
	if err == nil {
		c.framework, err = schedulerruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile,
			schedulerruntime.WithClientSet(client),
			schedulerruntime.WithInformerFactory(c.factory),
			schedulerruntime.WithSnapshotSharedLister(c.view),
			schedulerruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(c.factory.Storage().V1().CSINodes().Lister())),
			schedulerruntime.WithParallelism(1),
		)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("set up the scheduler's filters: %w", err)
	}
	c.factory.Start(ctx.Done())
	for kind, ok := range c.factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			c.close()
			return nil, fmt.Errorf("read %s: %w", kind, context.Cause(ctx))
		}
	}
	return c, nil
}

func (c *scheduler) close() {
	c.cancel()
	c.factory.Shutdown()
}

// profile is the scheduler's default one, reduced to the filters.
func profile() (*config.KubeSchedulerProfile, error) {
	configuration, err := latest.Default()
	if err != nil {
		return nil, err
	}
	out := configuration.Profiles[0].DeepCopy()
	out.Plugins = &config.Plugins{}
	for _, name := range filters {
		out.Plugins.MultiPoint.Enabled = append(out.Plugins.MultiPoint.Enabled, config.Plugin{Name: name, Weight: 1})
	}
	return out, nil
}

// served are the objects that plugins look up by themselves.
func served(objects *ingest.Objects, s *cluster) []runtime.Object {
	var out []runtime.Object
	for _, o := range objects.Others {
		if served, ok := o.(runtime.Object); ok {
			out = append(out, served)
		}
		if claim, ok := o.(*corev1.PersistentVolumeClaim); ok {
			out = append(out, movedElsewhere(claim))
		}
	}
	for _, n := range s.nodes {
		out = append(out, n)
	}
	return out
}

// ask puts a pod before the filters: may it go to the node while the others are where
// they are? The answer is empty, or the scheduler's reason.
func (c *scheduler) ask(pod *corev1.Pod, node string, others []*corev1.Pod, nodes []*corev1.Node) string {
	pod = pod.DeepCopy()
	pod.Spec.NodeName = ""
	snapshot := cache.NewSnapshot(others, nodes)
	c.view.SharedLister = snapshot
	info, err := snapshot.NodeInfos().Get(node)
	if err != nil {
		return "the node is not there: " + err.Error()
	}
	state := framework.NewCycleState()
	result, status, _ := c.framework.RunPreFilterPlugins(c.ctx, state, pod)
	if !status.IsSuccess() {
		return describe(status)
	}
	if !result.AllNodes() && !result.NodeNames.Has(node) {
		return "the node is not among those that the pod names"
	}
	if status := c.framework.RunFilterPlugins(c.ctx, state, pod, info); !status.IsSuccess() {
		return describe(status)
	}
	return ""
}

func describe(status *fwk.Status) string { return status.Plugin() + ": " + status.Message() }
