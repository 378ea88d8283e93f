package kubelet

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type nodeOption func(*nodeInput)

// bootedNode is a complete, Ready node that was created at the beginning.
func bootedNode(options ...nodeOption) nodeInput {
	n := HandMadeNode("n", quantities("cpu", "4"))
	n.CreationTimestamp = metav1.NewTime(epoch)
	in := nodeInput{Node: n, Address: "10.0.0.1", Config: Defaults()}
	n.Labels = missingLabels(n)
	n.Annotations[annotationControllerAttach] = "true"
	n.Status = *reportOf(in, readyNow, at(20))
	n.Status.Capacity = quantities("cpu", "4")
	for _, option := range options {
		option(&in)
	}
	return in
}

func tainted(keys ...string) nodeOption {
	return func(in *nodeInput) {
		for _, key := range keys {
			in.Node.Spec.Taints = append(in.Node.Spec.Taints, v1.Taint{Key: key, Effect: v1.TaintEffectNoSchedule})
		}
	}
}

func conditions(ready nodeReadiness) nodeOption {
	return func(in *nodeInput) { in.Node.Status.Conditions = conditionsOf(nil, ready, at(20)) }
}

func faulty(f Fault) nodeOption { return func(in *nodeInput) { in.Fault = f } }

func TestStepNode(t *testing.T) {
	t.Parallel()
	unknown := nodeReadiness{v1.ConditionUnknown, "NodeStatusUnknown", ""}
	cases := map[string]struct {
		in     nodeInput
		now    float64
		ready  string   // written; empty if no status is
		taints []string // written; nil if none are
		until  float64  // 0: no time is set
	}{
		"a Node without conditions is reported as booting": {
			in: bootedNode(func(in *nodeInput) { in.Node.Status.Conditions = nil }), now: 5, ready: "False", until: 20},
		"a booting Node waits":            {in: bootedNode(conditions(readyNotYet)), now: 5, until: 20},
		"a booted Node is Ready":          {in: bootedNode(conditions(readyNotYet)), now: 20, ready: "True"},
		"a slow machine boots slowly":     {in: bootedNode(conditions(readyNotYet), faulty(Fault{Slow: 4})), now: 20, until: 80},
		"a broken one is not Ready":       {in: bootedNode(faulty(Fault{NotReady: true})), now: 30, ready: "False"},
		"a broken one reports that once":  {in: bootedNode(conditions(readyBroken), faulty(Fault{NotReady: true})), now: 30, until: 20 + 600},
		"a healed one is Ready":           {in: bootedNode(conditions(readyBroken)), now: 30, ready: "True"},
		"a silent one reports nothing":    {in: bootedNode(conditions(unknown), faulty(Fault{Silent: true})), now: 30},
		"Unknown is answered":             {in: bootedNode(conditions(unknown)), now: 30, ready: "True"},
		"a Ready one repeats rarely":      {in: bootedNode(), now: 30, until: 20 + 600},
		"a Ready one repeats at last":     {in: bootedNode(), now: 20 + 600, ready: "True"},
		"volumes are reported":            {in: bootedNode(func(in *nodeInput) { in.InUse = []v1.UniqueVolumeName{"v"} }), now: 30, ready: "True"},
		"agents' taints stay at first":    {in: bootedNode(tainted("ebs.csi.aws.com/agent-not-ready", "team")), now: 21, until: 22},
		"agents' taints go, others stay":  {in: bootedNode(tainted("ebs.csi.aws.com/agent-not-ready", "team")), now: 22, taints: []string{"team"}, until: 20 + 600},
		"configured taints go too":        {in: bootedNode(tainted("x"), func(in *nodeInput) { in.Config.StartupTaints = []string{"x"} }), now: 22, taints: []string{}, until: 20 + 600},
		"taints stay on a broken machine": {in: bootedNode(tainted("a/agent-not-ready"), conditions(readyBroken), faulty(Fault{NotReady: true})), now: 99, until: 20 + 600},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := stepNode(tc.in, at(tc.now))
			var ready string
			if step.Status != nil {
				ready = readyStatus(&v1.Node{Status: *step.Status})
			}
			if ready != tc.ready {
				t.Errorf("reported Ready = %q, want %q", ready, tc.ready)
			}
			if (step.Taints != nil) != (tc.taints != nil) {
				t.Fatalf("taints written = %v, want %v", step.Taints, tc.taints)
			}
			if step.Taints != nil && !slices.Equal(taintKeys(&v1.Node{Spec: v1.NodeSpec{Taints: *step.Taints}}), tc.taints) {
				t.Errorf("taints = %v, want %v", *step.Taints, tc.taints)
			}
			checkUntil(t, step.At, tc.until)
		})
	}
}

// checkUntil allows for the spread of repeated reports.
func checkUntil(t *testing.T, got time.Time, want float64) {
	t.Helper()
	if want == 0 {
		if !got.IsZero() {
			t.Errorf("looks again at %s, want never", got.Sub(epoch))
		}
		return
	}
	earliest := at(want)
	if want > 600 {
		earliest = at(want - 60)
	}
	if got.Before(earliest) || got.After(at(want)) {
		t.Errorf("looks again at %s, want %vs", got.Sub(epoch), want)
	}
}

func TestReportKeepsTransitionTimesAndFillsInWhatIsMissing(t *testing.T) {
	t.Parallel()
	in := bootedNode()
	s := reportOf(in, readyBroken, at(99))
	for kind, want := range map[v1.NodeConditionType]time.Time{v1.NodeReady: at(99), v1.NodeDiskPressure: at(20)} {
		if got := nodeCondition(s.Conditions, kind); !got.LastTransitionTime.Time.Equal(want) || !got.LastHeartbeatTime.Time.Equal(at(99)) {
			t.Errorf("%s: transition %s, heartbeat %s", kind, got.LastTransitionTime, got.LastHeartbeatTime)
		}
	}
	if s.Capacity != nil || s.Addresses != nil || s.NodeInfo.KubeletVersion != "" {
		t.Errorf("a complete node is written again: %+v", s)
	}
	in.Node.Status = v1.NodeStatus{}
	s = reportOf(in, readyNow, at(99))
	if s.Capacity.Cpu().String() != "8" || s.Allocatable.Cpu().String() != "8" || s.Addresses[0].Address != "10.0.0.1" {
		t.Errorf("an empty node is not filled in: %+v", s)
	}
}

func TestStepInstance(t *testing.T) {
	t.Parallel()
	c := Defaults()
	cases := map[string]struct {
		boot  boot
		node  bool
		now   float64
		want  instanceStep
		until float64
	}{
		"it boots":                               {boot: boot{launched: epoch}, now: 1, until: 20},
		"it joins":                               {boot: boot{launched: epoch}, now: 20, want: instanceStep{Join: true}},
		"an instance's own boot delay":           {boot: boot{launched: epoch, Instance: Instance{BootDelay: time.Minute}}, now: 20, until: 60},
		"slowly":                                 {boot: boot{launched: epoch, Instance: Instance{Fault: Fault{Slow: 2}}}, now: 20, until: 40},
		"never":                                  {boot: boot{launched: epoch, Instance: Instance{Fault: Fault{NeverJoin: true}}}, now: 99},
		"it joins once":                          {boot: boot{launched: epoch, joined: true}, now: 99},
		"its Node exists already":                {boot: boot{launched: epoch}, node: true, now: 99},
		"a terminated one's Node stays at first": {boot: boot{terminated: at(100)}, node: true, now: 101, until: 105},
		"a terminated one's Node is removed":     {boot: boot{terminated: at(100)}, node: true, now: 105, want: instanceStep{Remove: true}},
		"a terminated one without a Node is remembered": {boot: boot{terminated: at(100)}, now: 105, until: 700},
		"then forgotten": {boot: boot{terminated: at(100)}, now: 700, want: instanceStep{Forget: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := stepInstance(tc.boot, tc.node, c, at(tc.now))
			if tc.until != 0 {
				tc.want.At = at(tc.until)
			}
			if got != tc.want {
				t.Errorf("step = %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestSpreadIsWithinATenthAndDiffers(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		got := spread(name, time.Minute)
		if got < 54*time.Second || got > time.Minute || got != spread(name, time.Minute) {
			t.Errorf("spread of %s = %s", name, got)
		}
		seen[got] = true
	}
	if len(seen) < 4 {
		t.Errorf("six names share %d moments", len(seen))
	}
}

// Kubernetes, "Well-Known Labels, Annotations and Taints": kubelets and cloud controllers set the
// deprecated labels beside their replacements.
func TestFormerLabelsAreSetToo(t *testing.T) {
	t.Parallel()
	labels := labelsOf(Instance{Name: "n", InstanceType: "m5.large", Architecture: "arm64", OS: "linux", Region: "us-west-2", Zone: "us-west-2a"})
	for former, now := range map[string]string{
		"beta.kubernetes.io/arch": v1.LabelArchStable, "beta.kubernetes.io/os": v1.LabelOSStable,
		"beta.kubernetes.io/instance-type":         v1.LabelInstanceTypeStable,
		"failure-domain.beta.kubernetes.io/zone":   v1.LabelTopologyZone,
		"failure-domain.beta.kubernetes.io/region": v1.LabelTopologyRegion,
	} {
		if labels[former] == "" || labels[former] != labels[now] {
			t.Errorf("%s is %q, %s is %q", former, labels[former], now, labels[now])
		}
	}
}

// A machine reports the conditions in its annotation once, since the given time, and is healthy again
// without the annotation.
func TestIllnesses(t *testing.T) {
	t.Parallel()
	long := at(-3600)
	text := "Ready=False@" + long.UTC().Format(time.RFC3339) + ",KernelReady=False"
	illnesses, err := ParseIllnesses(text)
	if err != nil || len(illnesses) != 2 || illnesses[0].String()+","+illnesses[1].String() != text {
		t.Fatalf("%q is read as %v, %v", text, illnesses, err)
	}
	in := bootedNode(func(in *nodeInput) { in.Illnesses = illnesses })
	step := stepNode(in, at(30))
	if step.Status == nil {
		t.Fatal("nothing is reported")
	}
	ready, kernel := nodeCondition(step.Status.Conditions, v1.NodeReady), nodeCondition(step.Status.Conditions, "KernelReady")
	if ready.Status != v1.ConditionFalse || !ready.LastTransitionTime.Time.Equal(long) || kernel.Status != v1.ConditionFalse || !kernel.LastTransitionTime.Time.Equal(at(30)) {
		t.Errorf("Ready %+v, KernelReady %+v", ready, kernel)
	}
	in.Node.Status.Conditions = step.Status.Conditions
	if again := stepNode(in, at(31)); again.Status != nil {
		t.Errorf("reported twice: %+v", again.Status.Conditions)
	}
	in.Illnesses = nil
	if healed := stepNode(in, at(32)); healed.Status == nil || nodeCondition(healed.Status.Conditions, v1.NodeReady).Status != v1.ConditionTrue {
		t.Errorf("healed: %+v", healed.Status)
	}
	for _, wrong := range []string{"Ready", "Ready=Perhaps", "=False", "Ready=False@today", "a b=True"} {
		if got, err := ParseIllnesses(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, got)
		}
	}
}
