package labtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/lab/measure"
)

// workloads returns the kinds that make pods, and those that hold pods and volumes. They are deleted first:
// if they outlived their pods, they would make new ones.
func workloads() []client.ObjectList {
	return []client.ObjectList{
		&appsv1.DeploymentList{}, &appsv1.StatefulSetList{}, &appsv1.DaemonSetList{}, &appsv1.ReplicaSetList{},
		&v1.ReplicationControllerList{}, &batchv1.CronJobList{}, &batchv1.JobList{},
		&policyv1.PodDisruptionBudgetList{}, &karpenterv1.NodePoolList{}, &autoscalingv1beta1.CapacityBufferList{}, &autoscalingv1.ProvisioningRequestList{}, &tenonv1alpha1.NodeGroupList{},
	}
}

// holdings returns the kinds that remain then: pods, machines, and volumes.
func holdings() []client.ObjectList {
	return []client.ObjectList{
		&v1.PodList{}, &v1.PersistentVolumeClaimList{}, &karpenterv1.NodeClaimList{}, &v1.NodeList{},
		&storagev1.VolumeAttachmentList{}, &v1.PersistentVolumeList{}, &awsv1.EC2NodeClassList{},
		&karpenterv1alpha1.NodeOverlayList{}, &schedulingv1.PriorityClassList{},
	}
}

// cleanWithin is how long cleaning may take.
const cleanWithin = 2 * time.Minute

// clean removes everything that a test may have made. It deletes namespaces without waiting for their end:
// they are empty by then, and their names are not used again.
func (l *Lab) clean(t testing.TB) {
	t.Helper()
	// The test's own context ends before its cleaning.
	ctx, cancel := context.WithTimeout(context.Background(), cleanWithin)
	defer cancel()
	for _, kinds := range [][]client.ObjectList{workloads(), holdings()} {
		if err := l.removeAll(ctx, kinds); err != nil {
			t.Errorf("clean the lab: %v", err)
			return
		}
	}
	if err := l.removeNamespaces(ctx); err != nil {
		t.Errorf("clean the lab: %v", err)
	}
}

func (l *Lab) removeAll(ctx context.Context, kinds []client.ObjectList) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, kind := range kinds {
		group.Go(func() error { return l.removeKind(ctx, kind) })
	}
	return group.Wait()
}

// removeKind deletes all objects of a kind until none is left. After some rounds it also removes
// finalizers, because the controller that should remove them may not run.
func (l *Lab) removeKind(ctx context.Context, list client.ObjectList) error {
	for round := 0; ; round++ {
		if err := l.Client.List(ctx, list); err != nil {
			return fmt.Errorf("list %T: %w", list, err)
		}
		objects, err := objectsOf(list)
		if err != nil {
			return err
		}
		left := 0
		for _, object := range objects {
			if builtIn(object) {
				continue
			}
			left++
			if err := l.remove(ctx, object, round > politeRounds); err != nil {
				return err
			}
		}
		if left == 0 {
			return nil
		}
		if err := measure.Pause(ctx, pollEvery); err != nil {
			return fmt.Errorf("%d of %T are still there: %w", left, list, err)
		}
	}
}

// politeRounds is the number of rounds in which removeKind respects finalizers.
const politeRounds = 20

func (l *Lab) remove(ctx context.Context, object client.Object, force bool) error {
	options := []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationBackground)}
	if _, isPod := object.(*v1.Pod); isPod {
		options = append(options, client.GracePeriodSeconds(0))
	}
	if object.GetDeletionTimestamp() == nil || force {
		if err := client.IgnoreNotFound(l.Client.Delete(ctx, object, options...)); err != nil {
			return fmt.Errorf("delete %T %s: %w", object, object.GetName(), err)
		}
	}
	if !force || len(object.GetFinalizers()) == 0 {
		return nil
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := client.IgnoreNotFound(l.Client.Patch(ctx, object, patch)); err != nil {
		return fmt.Errorf("free %T %s of its finalizers: %w", object, object.GetName(), err)
	}
	return nil
}

// builtIn reports whether an object belongs to the lab itself.
func builtIn(object client.Object) bool {
	_, isPriority := object.(*schedulingv1.PriorityClass)
	return isPriority && strings.HasPrefix(object.GetName(), "system-")
}

func (l *Lab) removeNamespaces(ctx context.Context) error {
	namespaces, err := l.Clients.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: testLabel})
	if err != nil {
		return fmt.Errorf("list namespaces: %w", err)
	}
	for _, namespace := range namespaces.Items {
		err := l.Clients.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete namespace %s: %w", namespace.Name, err)
		}
	}
	return nil
}

// testLabel marks namespaces of tests.
const testLabel = "lab.tenon.dev/test"

// Namespace makes a namespace for a test, which is deleted with its content when the test ends.
func (l *Lab) Namespace(t testing.TB) string {
	t.Helper()
	name := "test-" + rand.String(8)
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:        name,
		Labels:      map[string]string{testLabel: "true"},
		Annotations: map[string]string{testLabel: t.Name()},
	}}
	if _, err := l.Clients.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatalf("make namespace: %v", err)
	}
	l.awaitServiceAccount(t, name)
	t.Cleanup(func() {
		err := l.Clients.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			t.Errorf("delete namespace: %v", err)
		}
	})
	return name
}

// awaitServiceAccount waits until pods can be made in a namespace.
func (l *Lab) awaitServiceAccount(t testing.TB, namespace string) {
	t.Helper()
	l.Eventually(t, "the service account of namespace "+namespace, func(ctx context.Context) (bool, string) {
		_, err := l.Clients.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
}
