package machine_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"tenon/lab/kubelet"
	"tenon/lab/machine"
)

func TestParseTaints(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text    string
		want    []v1.Taint
		refused bool
	}{
		"none":               {text: ""},
		"with a value":       {text: "team=a:NoSchedule", want: []v1.Taint{{Key: "team", Value: "a", Effect: v1.TaintEffectNoSchedule}}},
		"without a value":    {text: "gpu:NoExecute", want: []v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoExecute}}},
		"two":                {text: "a:NoSchedule,b:PreferNoSchedule", want: []v1.Taint{{Key: "a", Effect: v1.TaintEffectNoSchedule}, {Key: "b", Effect: v1.TaintEffectPreferNoSchedule}}},
		"no effect":          {text: "team=a", refused: true},
		"an unknown effect":  {text: "team=a:Never", refused: true},
		"no key":             {text: "=a:NoSchedule", refused: true},
		"a comma at the end": {text: "a:NoSchedule,", refused: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := machine.ParseTaints(tc.text)
			if (err != nil) != tc.refused {
				t.Fatalf("error %v, want refused %v", err, tc.refused)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("taints (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseTaints(f *testing.F) {
	f.Add("team=a:NoSchedule,b:NoExecute")
	f.Add(":,=:")
	f.Fuzz(func(t *testing.T, text string) {
		taints, err := machine.ParseTaints(text)
		if err != nil {
			return
		}
		for _, taint := range taints {
			if taint.Key == "" || taint.Effect == "" {
				t.Errorf("%q gave a taint without key or effect: %+v", text, taint)
			}
		}
	})
}

func TestFormIsOnTheNode(t *testing.T) {
	t.Parallel()
	node, err := machine.Form{CPU: "4", Memory: "16Gi", Zone: "a", Labels: map[string]string{"team": "x"}}.Node("n1")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"team": "x", v1.LabelTopologyZone: "a", machine.MadeByHand: "true"}
	if diff := cmp.Diff(want, node.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got := node.Status.Capacity.Cpu().String() + " " + node.Status.Capacity.Memory().String() + " " + node.Status.Capacity.Pods().String(); got != "4 16Gi 110" {
		t.Errorf("capacity is %s, want 4 16Gi 110", got)
	}
}

func TestAPartOfACapacityIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := (machine.Form{CPU: "4"}).Node("n1"); err == nil {
		t.Error("a machine with cores and no memory was made")
	}
}

func TestFreeNamesSkipExistingNodes(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-2"}})
	names, err := machine.FreeNames(t.Context(), client, "node", 3)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"node-1", "node-3", "node-4"}; !slices.Equal(names, want) {
		t.Errorf("names are %v, want %v", names, want)
	}
}

// An annotation that the simulated kubelet reads makes a machine ill, and healing leaves no trace of it;
// nodes that are not simulated are refused.
func TestIllAndHeal(t *testing.T) {
	t.Parallel()
	played, stranger := kubelet.HandMadeNode("n", nil), &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "stranger"}}
	played.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionFalse}, {Type: "KernelReady", Status: v1.ConditionFalse}}
	client := fake.NewClientset(played, stranger)
	illnesses := []kubelet.Illness{{Type: v1.NodeReady, Status: v1.ConditionFalse}, {Type: "KernelReady", Status: v1.ConditionFalse}}
	if err := machine.Ill(t.Context(), client, []string{"n"}, illnesses); err != nil {
		t.Fatal(err)
	}
	find := func() *v1.Node {
		n, err := client.CoreV1().Nodes().Get(t.Context(), "n", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if text := find().Annotations[kubelet.AnnotationConditions]; text != "Ready=False,KernelReady=False" {
		t.Errorf("annotation = %q", text)
	}
	for _, name := range []string{"stranger", "none"} {
		if err := machine.Ill(t.Context(), client, []string{name}, illnesses); err == nil {
			t.Errorf("node %s is made ill", name)
		}
	}
	if err := machine.Heal(t.Context(), client, []string{"n"}); err != nil {
		t.Fatal(err)
	}
	if n := find(); n.Annotations[kubelet.AnnotationConditions] != "" || len(n.Status.Conditions) != 1 {
		t.Errorf("healed node has annotations %v, conditions %+v", n.Annotations, n.Status.Conditions)
	}
}
