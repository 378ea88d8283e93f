package viewer

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/view"
)

// large is a cluster of 5,000 nodes in 20 pools, with 20 pods each.
func large() (*view.State, *corev1.Pod) {
	s := view.NewState(nil)
	var last *corev1.Pod
	for i := range 5000 {
		name := fmt.Sprintf("ip-10-%d-%d-%d.us-west-2.compute.internal", i/10000, i/100, i%100)
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-time.Duration(i) * time.Minute)), Labels: map[string]string{
			corev1.LabelInstanceTypeStable: "m5.xlarge", corev1.LabelTopologyZone: "us-west-2a", karpenterv1.LabelCapacityType: "spot", view.PriceLabel: "0.192", karpenterv1.LabelNodePool: fmt.Sprintf("pool-%d", i%20),
		}}}
		n.Status.Allocatable = quantities("4", "16Gi")
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		s.Put(n)
		for k := range 20 {
			last = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%d-%d", i, k)}, Spec: corev1.PodSpec{NodeName: name}}
			last.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: quantities("150m", "512Mi")}}}
			last.Status.Phase = corev1.PodRunning
			s.Put(last)
		}
	}
	return s, last
}

// BenchmarkFrame measures, with 5,000 nodes and 100,000 pods, a frame after a key, one after a letter of the filter, and one after a pod has
// changed, with the picture that it is drawn from; and the memory that all of it takes.
func BenchmarkFrame(b *testing.B) {
	s, pod := large()
	m := New(options())
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 50})
	m.Update(Fleet{Fleet: s.Fleet()})
	m.Text()
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			m.Update(press("down"))
			m.Text()
		}
	})
	b.Run("filter", func(b *testing.B) {
		m.Update(press("/"))
		for b.Loop() {
			m.Update(press("7"))
			m.Text()
			m.Update(press("backspace"))
			m.Text()
		}
		m.Update(press("esc"))
	})
	b.Run("change", func(b *testing.B) {
		for b.Loop() {
			s.Put(pod)
			m.Update(Fleet{Fleet: s.Fleet()})
			m.Text()
		}
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "MiB")
	})
}
