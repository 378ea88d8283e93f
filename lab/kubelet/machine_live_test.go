package kubelet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func launched(name string) Instance {
	return Instance{
		Name:         name,
		ProviderID:   "aws:///eu-west-1a/i-" + name,
		InstanceType: "m5.large",
		Region:       "eu-west-1",
		Zone:         "eu-west-1a",
		ZoneID:       "euw1-az1",
		Labels:       map[string]string{"karpenter.sh/nodepool": "default"},
		Taints: []v1.Taint{
			{Key: "karpenter.sh/unregistered", Effect: v1.TaintEffectNoExecute},
			{Key: "ebs.csi.aws.com/agent-not-ready", Effect: v1.TaintEffectNoExecute},
			{Key: "team", Value: "a", Effect: v1.TaintEffectNoSchedule},
		},
		Capacity:    quantities("cpu", "2", "memory", "8Gi", "ephemeral-storage", "20Gi", "pods", "29"),
		VolumeLimit: 27,
	}
}

func TestLaunchedInstanceJoinsBootsAndLosesItsAgentTaints(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		if err := w.fleet.Launch(launched("a")); err != nil {
			t.Fatal(err)
		}
		w.pass(19 * time.Second)
		if n := w.node("a"); n != nil {
			t.Fatalf("the node exists after 19s of a boot that takes 20s")
		}
		w.pass(time.Second)
		n := w.node("a")
		if got := readyStatus(n); got != "False" {
			t.Errorf("Ready after the boot = %s, want False", got)
		}
		for name, want := range map[string]string{
			"karpenter.sh/nodepool":            "default",
			"kubernetes.io/hostname":           "a",
			"kubernetes.io/arch":               "amd64",
			"kubernetes.io/os":                 "linux",
			"node.kubernetes.io/instance-type": "m5.large",
			"topology.kubernetes.io/zone":      "eu-west-1a",
			"topology.kubernetes.io/region":    "eu-west-1",
			"topology.k8s.aws/zone-id":         "euw1-az1",
		} {
			if got := n.Labels[name]; got != want {
				t.Errorf("label %s = %q, want %q", name, got, want)
			}
		}
		if n.Spec.ProviderID != "aws:///eu-west-1a/i-a" || addressOf(n) == "" {
			t.Errorf("provider ID %q, address %q", n.Spec.ProviderID, addressOf(n))
		}
		w.pass(2 * time.Second)
		if n := w.node("a"); readyStatus(n) != "True" || len(n.Spec.Taints) != 3 {
			t.Errorf("after the ready delay: Ready=%s taints=%v", readyStatus(n), taintKeys(n))
		}
		w.pass(2 * time.Second)
		if got, want := taintKeys(w.node("a")), []string{"karpenter.sh/unregistered", "team"}; !slices.Equal(got, want) {
			t.Errorf("taints after the agents came up = %v, want %v", got, want)
		}
		c, err := w.client.StorageV1().CSINodes().Get(context.Background(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if d := c.Spec.Drivers[0]; d.Name != Driver || d.NodeID != "i-a" || *d.Allocatable.Count != 27 || c.OwnerReferences[0].UID != n.UID {
			t.Errorf("CSINode = %+v of %+v", d, c.OwnerReferences)
		}
		w.pass(time.Hour)
		if w.log.Len() > 0 {
			t.Errorf("log is not empty:\n%s", w.log)
		}
	})
}

func TestLaunchRefusesWhatCannotBecomeANode(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		for _, i := range []Instance{{ProviderID: "x"}, {Name: "x"}} {
			if err := w.fleet.Launch(i); err == nil {
				t.Errorf("launch of %+v is accepted", i)
			}
		}
	})
}

func TestLaunchingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		for range 3 {
			if err := w.fleet.Launch(launched("a")); err != nil {
				t.Fatal(err)
			}
			w.pass(15 * time.Second)
		}
		if got := w.written("POST nodes"); got != 1 {
			t.Errorf("node was created %d times", got)
		}
	})
}

func TestHandMadeNodeIsAdoptedAndFilledIn(t *testing.T) {
	t.Parallel()
	for name, annotation := range map[string][2]string{
		"by the lab's annotation": {AnnotationSimulated, "true"},
		"by KWOK's annotation":    {AnnotationKwokNode, "fake"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live(t, func(w *world) {
				w.createNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{annotation[0]: annotation[1]}}})
				w.pass(10 * time.Second)
				if got := readyStatus(w.node("n")); got != "False" {
					t.Errorf("Ready while it boots = %s, want False", got)
				}
				w.pass(10 * time.Second)
				n := w.node("n")
				if readyStatus(n) != "True" || n.Status.Capacity.Cpu().String() != "8" || n.Status.Allocatable.Pods().Value() != 110 {
					t.Errorf("Ready=%s capacity=%v allocatable=%v", readyStatus(n), n.Status.Capacity, n.Status.Allocatable)
				}
				if addressOf(n) == "" || n.Labels[v1.LabelHostname] != "n" || n.Status.NodeInfo.KubeletVersion == "" {
					t.Errorf("address %q, labels %v, version %q", addressOf(n), n.Labels, n.Status.NodeInfo.KubeletVersion)
				}
			})
		})
	}
}

func TestOtherNodesAreNotChanged(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.createNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "real"}})
		w.createPod(boundPod("p", "real"))
		before := w.allWrites()
		w.pass(time.Hour)
		if got := w.allWrites() - before; got != 0 {
			t.Errorf("%d writes about a node that is not ours", got)
		}
	})
}

func TestTerminatedInstanceLosesItsNodeAndPods(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		if err := w.fleet.Launch(launched("a")); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		w.createPod(boundPod("p", "a"))
		w.pass(10 * time.Second)
		renewed := w.written("PUT leases")
		w.fleet.Terminate(launched("a").ProviderID)
		w.pass(4 * time.Second)
		if w.node("a") == nil || describePod(w.pod("p"))[:7] != "Running" {
			t.Errorf("a switched-off machine was cleaned up before the cloud's delay")
		}
		w.pass(time.Second)
		if n, p := w.node("a"), w.pod("p"); n != nil || p != nil {
			t.Errorf("after the delay: node %s, pod %s", readyStatus(n), describePod(p))
		}
		w.pass(time.Hour)
		if got := w.written("PUT leases"); got != renewed {
			t.Errorf("lease was renewed %d times after the end", got-renewed)
		}
		if len(w.fleet.memory.instances)+len(w.fleet.memory.registered)+len(w.fleet.memory.sandboxes) != 0 {
			t.Errorf("the machine is still remembered: %+v", w.fleet.memory)
		}
	})
}

func TestInstanceTerminatedWhileItBootsNeverJoins(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		if err := w.fleet.Launch(launched("a")); err != nil {
			t.Fatal(err)
		}
		w.pass(10 * time.Second)
		w.fleet.Terminate(launched("a").ProviderID)
		w.pass(time.Hour)
		if got := w.written("POST nodes"); got != 0 {
			t.Errorf("its node was created %d times", got)
		}
	})
}

func TestFaultsBreakAMachineAndHeal(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		w.annotateNode("n", `{"lab.tenon.dev/fault":"not-ready"}`)
		w.pass(time.Second)
		if got := readyStatus(w.node("n")); got != "False" {
			t.Errorf("Ready with the annotation = %s, want False", got)
		}
		w.createPod(boundPod("late", "n"))
		w.pass(time.Minute)
		if got := describePod(w.pod("late")); got != "Pending" {
			t.Errorf("a new pod on a broken machine is %q", got)
		}
		w.annotateNode("n", `{"lab.tenon.dev/fault":null}`)
		w.pass(time.Second)
		if got := describePod(w.pod("late")); readyStatus(w.node("n")) != "True" || !strings.HasPrefix(got, "Running") {
			t.Errorf("healed: Ready=%s, pod %q", readyStatus(w.node("n")), got)
		}
	})
}

func TestSilentMachineStopsItsHeartbeatsUntilItHeals(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		w.createPod(boundPod("p", "n"))
		w.pass(time.Minute)
		w.fleet.SetFault("n", Fault{Silent: true})
		before := w.allWrites()
		w.deletePod("p")
		w.pass(time.Hour)
		if got := w.allWrites() - before; got != 1 || w.pod("p") == nil {
			t.Errorf("a silent machine wrote %d times, its pod is %s", got-1, describePod(w.pod("p")))
		}
		w.fleet.SetFault("n", Fault{})
		w.pass(time.Second)
		if w.written("PUT leases") == 0 || w.pod("p") != nil {
			t.Errorf("healed: %d renewals, pod %s", w.written("PUT leases"), describePod(w.pod("p")))
		}
	})
}

func TestUnknownOfTheNodeControllerBecomesTrueAgain(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		n := w.node("n")
		for i := range n.Status.Conditions {
			n.Status.Conditions[i].Status, n.Status.Conditions[i].Reason = v1.ConditionUnknown, "NodeStatusUnknown"
		}
		if _, err := w.client.CoreV1().Nodes().UpdateStatus(context.Background(), n, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Second)
		if got := readyStatus(w.node("n")); got != "True" {
			t.Errorf("Ready = %s, want True", got)
		}
	})
}

func TestInstanceThatNeverJoinsJoinsOnceHealed(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		i := launched("a")
		i.Fault = Fault{NeverJoin: true}
		if err := w.fleet.Launch(i); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Hour)
		if w.node("a") != nil {
			t.Fatal("it joined")
		}
		w.fleet.SetFault(i.ProviderID, Fault{})
		w.pass(time.Second)
		if w.node("a") == nil {
			t.Error("it does not join after it was healed")
		}
	})
}

func TestSlowMachineMultipliesItsDelays(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		i := launched("a")
		i.Fault = Fault{Slow: 3}
		if err := w.fleet.Launch(i); err != nil {
			t.Fatal(err)
		}
		w.pass(59 * time.Second)
		if w.node("a") != nil {
			t.Error("it joined before three boot delays")
		}
		w.pass(7 * time.Second)
		w.createPod(boundPod("p", "a"))
		w.pass(5 * time.Second)
		if got := describePod(w.pod("p"))[:7]; got != "Pending" {
			t.Errorf("pod is %s before three start delays", got)
		}
		w.pass(time.Second)
		if got := describePod(w.pod("p"))[:7]; got != "Running" {
			t.Errorf("pod is %s after three start delays", got)
		}
	})
}

func TestRestartedSimulatorContinuesWithFewWrites(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		w.createPod(boundPod("p", "n"))
		w.pass(time.Minute)
		ip := w.pod("p").Status.PodIP
		w.stop()
		before := w.allWrites()
		w.run(func(*Config) {})
		w.createPod(boundPod("q", "n"))
		w.pass(time.Minute)
		if got := w.written("PATCH pods/status"); got != 2 {
			t.Errorf("%d status writes for two pods", got)
		}
		if got := w.allWrites() - before; got > 6 { // a pod, its status, and heartbeats
			t.Errorf("%d writes after the restart", got)
		}
		p, q := w.pod("p"), w.pod("q")
		if p.Status.PodIP != ip || q.Status.PodIP == ip {
			t.Errorf("addresses: %s before, then %s and %s", ip, p.Status.PodIP, q.Status.PodIP)
		}
	})
}

// The README states the writes of 2,000 idle nodes. They grow with the number of nodes, so a tenth of the
// nodes writes a tenth as often.
func TestIdleNodesWriteRarely(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		const nodes = 200
		for i := range nodes {
			w.createNode(HandMadeNode(fmt.Sprintf("n%04d", i), nil))
		}
		w.pass(15 * time.Minute)
		before := w.allWrites()
		w.pass(20 * time.Minute)
		perSecond := float64(w.allWrites()-before) / (20 * 60) * 2000 / nodes
		if perSecond < 50 || perSecond > 60 {
			t.Errorf("2,000 idle nodes cost %.1f writes a second, want about 56", perSecond)
		}
		t.Logf("2,000 idle nodes: %.1f writes a second", perSecond)
	})
}
