package labtest_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
	"tenon/lab/machine"
)

func TestMain(m *testing.M) { labtest.Main(m, labtest.Options{}) }

// The second test finds nothing that the first one left: neither running pods, nor an object with a
// finalizer that no controller removes, nor a Deployment that would make its pods again.
func TestALabIsCleanForTheNextTest(t *testing.T) {
	t.Run("one test leaves everything behind", func(t *testing.T) {
		lab := labtest.Start(t)
		namespace := lab.Namespace(t)
		lab.Nodes(t, machine.Form{}, "left-behind")
		replicas := int32(3)
		labels := map[string]string{"app": "left"}
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "left"},
			Spec: appsv1.DeploymentSpec{
				Replicas: &replicas,
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: v1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: "example.com/web:1"}}},
				},
			},
		}
		held := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "left", Finalizers: []string{"example.com/nobody-serves-this"}}, Value: 7}
		for _, object := range []client.Object{deployment, held} {
			if err := lab.Client.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
		if err := lab.Client.List(t.Context(), &awsv1.EC2NodeClassList{}); err != nil {
			t.Errorf("the client does not know the product's kinds: %v", err)
		}
		lab.AwaitPods(t, namespace, "app=left", 3, labtest.PodReady)
	})
	t.Run("the next test finds nothing", func(t *testing.T) {
		lab := labtest.Start(t)
		for _, list := range []client.ObjectList{
			&appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &v1.PodList{}, &v1.NodeList{}, &karpenterv1.NodePoolList{},
		} {
			if err := lab.Client.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			remaining, err := listed(list)
			if err != nil || remaining != 0 {
				t.Errorf("%d of %T are left, %v", remaining, list, err)
			}
		}
		var classes schedulingv1.PriorityClassList
		if err := lab.Client.List(t.Context(), &classes); err != nil {
			t.Fatal(err)
		}
		for _, class := range classes.Items {
			if class.Name == "left" {
				t.Error("the priority class is still there")
			}
		}
		if len(classes.Items) == 0 {
			t.Error("the cluster's built-in priority classes were removed as well")
		}
	})
}

func listed(list client.ObjectList) (int, error) {
	items, err := meta.ExtractList(list)
	return len(items), err
}

// Tests that share the lab run in parallel, each in its namespace.
func TestTestsThatShareALabHaveSeparateNamespaces(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	first, second := lab.Namespace(t), lab.Namespace(t)
	if first == second {
		t.Fatalf("both are %s", first)
	}
	config := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: first, Name: "mine"}}
	if err := lab.Client.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if err := lab.Client.Get(t.Context(), client.ObjectKey{Namespace: second, Name: "mine"}, config); err == nil {
		t.Error("the object is in the other namespace as well")
	}
}
