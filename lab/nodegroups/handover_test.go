package nodegroups

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/lab/labtest"
)

// convert makes a pool of a group with the program that users run, checks it with the same program, and applies it. The pool's nodes get the label of
// a node group of another name, so that pods which name that may be there. The name of the pool is returned.
func (s *story) convert(name, label string) string {
	s.Helper()
	text, said := s.tenon("groups", "convert", s.groups[name])
	s.Logf("what is different:\n%s", said)
	validate := exec.CommandContext(s.Context(), got(labtest.Product())(s), "validate", "-")
	validate.Stdin = bytes.NewReader(text)
	if out, err := validate.CombinedOutput(); err != nil {
		s.Fatalf("the objects are not valid: %v\n%s\n%s", err, out, text)
	}
	class, pool := &awsv1.EC2NodeClass{}, &karpenterv1.NodePool{}
	documents := strings.Split(string(text), "---\n")
	if len(documents) != 2 {
		s.Fatalf("not two objects:\n%s", text)
	}
	for i, object := range []client.Object{class, pool} {
		if err := yaml.Unmarshal([]byte(documents[i]), object); err != nil {
			s.Fatal(err)
		}
	}
	if pool.Spec.Template.Labels == nil {
		pool.Spec.Template.Labels = map[string]string{}
	}
	pool.Spec.Template.Labels[groupLabel] = s.named(label)
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "0"}} // the story is about the group
	s.Create(class)
	s.Create(pool)
	s.Cleanup(func() { // claims go with their pool
		if err := s.Lab.Client.Delete(context.Background(), pool); err != nil {
			s.Error(err)
		}
	})
	return pool.Name
}

// tenon runs the program as a user of the cluster and of the emulated AWS does. Its status is 0, or 2, which says that there is something to do.
func (s *story) tenon(args ...string) (out []byte, said string) {
	s.Helper()
	command := exec.CommandContext(s.Context(), got(labtest.Product())(s), args...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	command.Env = append(os.Environ(), "KUBECONFIG="+s.Lab.Directory.Kubeconfig(),
		"AWS_REGION=us-west-2", "AWS_ENDPOINT_URL="+endpoint(s.T, s.Lab), "AWS_ACCESS_KEY_ID=000000000001", "AWS_SECRET_ACCESS_KEY=lab")
	out, err := command.Output()
	if status, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || status.ExitCode() != 2) {
		s.Fatalf("tenon %v: %v\n%s", args, err, stderr.Bytes())
	}
	return out, stderr.String()
}

// awaitReplaceable waits until a check of a group says that a hand-over would replace so many nodes, and that none would stay.
func (s *story) awaitReplaceable(name string, nodes int) {
	s.Helper()
	s.Eventually("all nodes of the group can be replaced", func(context.Context) (bool, string) {
		out, _ := s.tenon("groups", "check", tenonv1alpha1.ObjectName(s.groups[name]), "-o", "json")
		var check struct {
			Nodes []struct {
				Outcome string `json:"outcome"`
			} `json:"nodes"`
		}
		if err := json.Unmarshal(out, &check); err != nil {
			s.Fatalf("%v in %s", err, out)
		}
		stays := 0
		for _, node := range check.Nodes {
			if node.Outcome == "stays" {
				stays++
			}
		}
		return len(check.Nodes) == nodes && stays == 0, string(out)
	})
}

// watchPods notes, until the returned function is called, the longest time for which a pod of an app had no node.
func (s *story) watchPods(app string) (longest func() time.Duration) {
	s.Helper()
	ctx, stop := context.WithCancel(s.Context())
	var worst time.Duration
	var done sync.WaitGroup
	done.Go(func() {
		since := map[string]time.Time{}
		for ctx.Err() == nil {
			var pods v1.PodList
			if err := s.Lab.Client.List(ctx, &pods, client.InNamespace(s.Namespace), client.MatchingLabels{"app": app}); err != nil {
				continue
			}
			now := time.Now()
			for _, pod := range pods.Items {
				if pod.Spec.NodeName != "" {
					continue
				}
				if since[pod.Name].IsZero() {
					since[pod.Name] = now
				}
				worst = max(worst, now.Sub(since[pod.Name]))
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return func() time.Duration {
		stop()
		done.Wait()
		return worst
	}
}

// change patches the NodeGroup of a node group.
func (s *story) change(name, merge string) {
	s.Helper()
	s.Patch(&tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: tenonv1alpha1.ObjectName(s.groups[name])}}, merge)
}

// steady waits until no node of a group is about to leave, and returns the group's size, which AWS and the object agree on.
func (s *story) steady(name string) int64 {
	s.Helper()
	var size int64
	s.Eventually("no node of the group is leaving", func(ctx context.Context) (bool, string) {
		var nodes v1.NodeList
		if err := s.Lab.Client.List(ctx, &nodes, client.MatchingLabels{groupLabel: s.named(name)}); err != nil {
			return false, err.Error()
		}
		for _, node := range nodes.Items {
			if node.DeletionTimestamp != nil || node.Annotations[karpenterv1.AnnotationDisruption] != "" {
				return false, node.Name + " is leaving"
			}
		}
		o, found := s.object(name)
		if !found || o.Status.Size == nil {
			return false, "the group is not shown"
		}
		size = int64(len(nodes.Items))
		return o.Status.Size.Desired == size && int64(*s.described(name).DesiredCapacity) == size, fmt.Sprintf("%d nodes, size %+v", size, *o.Status.Size)
	})
	return size
}

// handedOver is how many nodes are handed over: HANDOVER_NODES, or else so few that the story does not take long.
func handedOver(t *testing.T) int {
	t.Helper()
	text := os.Getenv("HANDOVER_NODES")
	if text == "" {
		return 12
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 12 {
		t.Fatalf("HANDOVER_NODES=%q is not a number from 12 on", text)
	}
	return n
}

// TestAGroupIsHandedOver: nodes of a pool that was converted from a group replace those of the group, whose pods have a PodDisruptionBudget, and no pod waits for a node
// meanwhile. In the middle it is paused, taken back so that the group grows again, and begun again.
func TestAGroupIsHandedOver(t *testing.T) {
	s := tell(t)
	nodes := handedOver(t)
	s.Within = max(within, time.Duration(nodes)*10*time.Second)
	s.native("web", "m5.large", "a", size{0, 0, int32(nodes) + 1})
	s.shown()
	s.deploy("web", int32(nodes), "web", "own")
	s.Create(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: &intstr.IntOrString{IntVal: 2}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}})
	s.Running("web", nodes)
	s.awaitSizes(map[string]int32{"web": int32(nodes)})
	own := s.convert("web", "own")
	s.awaitReplaceable("web", nodes)
	longest, begun := s.watchPods("web"), time.Now()

	s.change("web", `{"spec":{"mode":"handover","disruption":{"consolidateAfter":"Never","budgets":[{"nodes":"25%"}]}}}`)
	s.Eventually("some nodes have been replaced", func(context.Context) (bool, string) {
		n := *s.described("web").DesiredCapacity
		return n <= int32(nodes)-3, fmt.Sprint(n)
	})
	s.change("web", `{"metadata":{"annotations":{"tenon.sh/handover-paused":"true"}}}`)
	half := s.steady("web")
	if o, _ := s.object("web"); half == 0 || !meta.IsStatusConditionPresentAndEqual(o.Status.Conditions, tenonv1alpha1.ConditionHandedOver, metav1.ConditionFalse) {
		t.Fatalf("%d nodes are left; conditions %+v", half, o.Status.Conditions)
	}

	// Back from the middle: the group is as it was before, and grows.
	s.change("web", `{"spec":{"mode":"native"},"metadata":{"annotations":{"tenon.sh/handover-paused":null}}}`)
	s.deploy("more", 1, "web")
	s.Running("more", 1)
	if grown := s.steady("web"); grown != half+1 {
		t.Errorf("the group has %d nodes after it was taken back, want %d", grown, half+1)
	}
	s.Delete(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "more"}})

	s.change("web", `{"spec":{"mode":"handover"}}`)
	s.awaitSizes(map[string]int32{"web": 0})
	s.Eventually("the group says that it is handed over", func(context.Context) (bool, string) {
		o, _ := s.object("web")
		return meta.IsStatusConditionTrue(o.Status.Conditions, tenonv1alpha1.ConditionHandedOver), fmt.Sprintf("%+v", o.Status.Conditions)
	})
	var pooled v1.NodeList
	if err := s.Lab.Client.List(t.Context(), &pooled, client.MatchingLabels{karpenterv1.LabelNodePool: own}); err != nil {
		t.Fatal(err)
	}
	for _, pod := range s.Running("web", nodes) {
		if !slices.ContainsFunc(pooled.Items, func(n v1.Node) bool { return n.Name == pod.Spec.NodeName }) {
			t.Errorf("pod %s is on %s, which is no node of the pool", pod.Name, pod.Spec.NodeName)
		}
	}
	t.Logf("%d nodes were handed over in %s, with a pause and a return in the middle", nodes, time.Since(begun).Round(time.Second))
	// A pod that waited for a node would wait for the boot of a machine.
	waited := longest()
	t.Logf("a pod waited %s for a node at most", waited.Round(100*time.Millisecond))
	if waited >= boot {
		t.Errorf("a pod waited %s for a node", waited)
	}
}
