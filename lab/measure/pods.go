package measure

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// perDeployment is how many pods one Deployment has, because real clusters have many Deployments.
const perDeployment = 250

// pods makes all pods at once, and records when the last is bound and when the last runs.
func (r run) pods(ctx context.Context) error {
	bound, running := make(chan struct{}), make(chan struct{})
	stop := r.count(ctx, bound, running)
	defer stop()

	began := time.Now()
	for left, number := r.plan.Pods, 1; left > 0; left, number = left-perDeployment, number+1 {
		deployment := deployment(fmt.Sprintf("load-%d", number), int32(min(left, perDeployment)))
		_, err := r.client.AppsV1().Deployments(metav1.NamespaceDefault).Create(ctx, deployment, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("ask for pods: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, podsWithin)
	defer cancel()
	for _, wait := range []struct {
		done <-chan struct{}
		into *float64
		what string
	}{{bound, &r.result.PodsBoundSeconds, "bound"}, {running, &r.result.PodsRunningSeconds, "running"}} {
		select {
		case <-wait.done:
			*wait.into = time.Since(began).Seconds()
		case <-ctx.Done():
			return fmt.Errorf("wait until %d pods are %s: %w", r.plan.Pods, wait.what, ctx.Err())
		}
	}
	return nil
}

// count watches pods and closes the channels when all are bound, and when all run.
func (r run) count(ctx context.Context, bound, running chan struct{}) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(r.client, 0)
	informer := factory.Core().V1().Pods().Informer()
	boundPods, runningPods := map[string]bool{}, map[string]bool{}
	// The handler is called from one goroutine, so that the maps need no lock.
	see := func(object any) {
		pod, ok := object.(*v1.Pod)
		if !ok {
			return
		}
		note(boundPods, pod, pod.Spec.NodeName != "", r.plan.Pods, bound)
		note(runningPods, pod, pod.Status.Phase == v1.PodRunning, r.plan.Pods, running)
	}
	// AddEventHandler fails only for an informer that has been stopped.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    see,
		UpdateFunc: func(_, object any) { see(object) },
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return func() {
		cancel()
		factory.Shutdown()
	}
}

func note(seen map[string]bool, pod *v1.Pod, is bool, all int, done chan struct{}) {
	if !is || seen[pod.Name] {
		return
	}
	seen[pod.Name] = true
	if len(seen) == all {
		close(done)
	}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: v1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: v1.PodSpec{Containers: []v1.Container{{
					Name:  "main",
					Image: "registry.k8s.io/pause:3.10",
					Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
						v1.ResourceCPU:    resource.MustParse("100m"),
						v1.ResourceMemory: resource.MustParse("128Mi"),
					}},
				}}},
			},
		},
	}
}
