package kubelet

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// kubeletPort is the port that every Node names; nothing listens there.
	kubeletPort = 10250
	// annotationControllerAttach leaves attaching to the control plane's controller.
	annotationControllerAttach = "volumes.kubernetes.io/controller-managed-attach-detach"
	agentTaintSuffix           = "/agent-not-ready"
	// rememberedFor is how long the fleet remembers what is gone, for late events.
	rememberedFor = 10 * time.Minute
)

// nodeInput is everything that a step of a Node depends on, besides the time.
type nodeInput struct {
	Node      *v1.Node
	Fault     Fault
	Illnesses []Illness
	InUse     []v1.UniqueVolumeName // sorted: the volumes of the pods that are there
	Address   string                // for a machine that brought none
	Config    Config
}

// nodeStep is what to write, where nil parts are not written. At is when to look again if nothing changes
// before.
type nodeStep struct {
	Labels, Annotations map[string]string // to add
	Status              *v1.NodeStatus    // to merge
	Taints              *[]v1.Taint       // to replace all
	At                  time.Time
}

// stepNode decides what a Node's kubelet reports, and what its agents do.
//
//	created ──boot delay──▶ Ready ──agent delay──▶ start-up taints gone
//	                         │  ▲
//	            fault set ───▼──┘ fault removed
//	                      NotReady
func stepNode(in nodeInput, now time.Time) nodeStep {
	if in.Fault.Silent {
		return nodeStep{}
	}
	step := nodeStep{Labels: missingLabels(in.Node), Annotations: missingAnnotations(in.Node)}
	readyAt := readyTime(in)
	if now.Before(readyAt) {
		step.At = readyAt
		// The control plane takes its not-ready taint off a Node that reports no Ready condition.
		if nodeCondition(in.Node.Status.Conditions, v1.NodeReady) == nil {
			step.Status = reportOf(in, readyNotYet, now)
		}
		return step
	}
	want := readyNow
	if in.Fault.NotReady {
		want = readyBroken
	}
	due := heartbeatDue(in.Node, in.Config.StatusInterval)
	if !now.Before(due) || !reports(in.Node, want, in.Illnesses) || !slices.Equal(in.Node.Status.VolumesInUse, in.InUse) {
		step.Status = reportOf(in, want, now)
		return step // the write wakes us again
	}
	step.Taints, step.At = agentTaints(in, now)
	step.At = sooner(step.At, due)
	return step
}

// readyTime returns when the machine has booted. A launched instance gives its remaining boot time in an
// annotation, because most of its boot is over when it joins.
func readyTime(in nodeInput) time.Time {
	delay := durationOf(in.Node.Annotations, AnnotationReadyAfter, in.Config.BootDelay)
	return in.Node.CreationTimestamp.Add(in.Fault.stretch(delay))
}

// nodeReadiness is the readiness of a machine, as its Ready condition reports it.
type nodeReadiness struct {
	status          v1.ConditionStatus
	reason, message string
}

var (
	readyNow    = nodeReadiness{v1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"}
	readyNotYet = nodeReadiness{v1.ConditionFalse, "KubeletNotReady", "the machine is still starting"}
	readyBroken = nodeReadiness{v1.ConditionFalse, "KubeletNotReady", "the lab was asked to break this machine"}
)

// conditionsOf returns the five conditions that a kubelet owns, given the present ones.
func conditionsOf(old []v1.NodeCondition, ready nodeReadiness, now time.Time) []v1.NodeCondition {
	at := metav1.NewTime(now)
	conditions := []v1.NodeCondition{
		{Type: v1.NodeMemoryPressure, Status: v1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
		{Type: v1.NodeDiskPressure, Status: v1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: v1.NodePIDPressure, Status: v1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
		{Type: v1.NodeReady, Status: ready.status, Reason: ready.reason, Message: ready.message},
	}
	for i := range conditions {
		c := &conditions[i]
		c.LastHeartbeatTime, c.LastTransitionTime = at, at
		if was := nodeCondition(old, c.Type); was != nil && was.Status == c.Status {
			c.LastTransitionTime = was.LastTransitionTime
		}
	}
	return conditions
}

func nodeCondition(conditions []v1.NodeCondition, kind v1.NodeConditionType) *v1.NodeCondition {
	if i := slices.IndexFunc(conditions, func(c v1.NodeCondition) bool { return c.Type == kind }); i >= 0 {
		return &conditions[i]
	}
	return nil
}

// isReady reports what the rest of the cluster sees.
func isReady(n *v1.Node) bool {
	c := nodeCondition(n.Status.Conditions, v1.NodeReady)
	return c != nil && c.Status == v1.ConditionTrue
}

// reports says whether the Node's status is complete and as wanted. The node controller sets all conditions
// to Unknown when heartbeats were missed.
func reports(n *v1.Node, want nodeReadiness, illnesses []Illness) bool {
	for _, c := range withIllnesses(conditionsOf(nil, want, time.Time{}), nil, illnesses, time.Time{}) {
		have := nodeCondition(n.Status.Conditions, c.Type)
		if have == nil || have.Status != c.Status || have.Reason != c.Reason {
			return false
		}
		if !c.LastTransitionTime.IsZero() && !have.LastTransitionTime.Truncate(time.Second).Equal(c.LastTransitionTime.Truncate(time.Second)) {
			return false
		}
	}
	return len(n.Status.Addresses) > 0 && len(n.Status.Allocatable) > 0 && n.Status.NodeInfo.KubeletVersion != ""
}

// reportOf returns the status to merge: always the conditions, and the rest where it is missing.
func reportOf(in nodeInput, want nodeReadiness, now time.Time) *v1.NodeStatus {
	n := in.Node
	own := conditionsOf(n.Status.Conditions, want, now)
	s := &v1.NodeStatus{Conditions: withIllnesses(own, n.Status.Conditions, in.Illnesses, now), VolumesInUse: in.InUse}
	capacity := n.Status.Capacity
	if len(capacity) == 0 {
		capacity = in.Config.DefaultCapacity
		s.Capacity = capacity
	}
	if len(n.Status.Allocatable) == 0 {
		s.Allocatable = capacity
	}
	if len(n.Status.Addresses) == 0 {
		s.Addresses = machineAddresses(n.Name, in.Address)
	}
	if n.Status.NodeInfo.KubeletVersion == "" {
		s.NodeInfo = nodeInfo(n.Name, n.Labels[v1.LabelOSStable], n.Labels[v1.LabelArchStable], "", in.Config)
		s.DaemonEndpoints = v1.NodeDaemonEndpoints{KubeletEndpoint: v1.DaemonEndpoint{Port: kubeletPort}}
	}
	return s
}

// heartbeatDue spreads the repeats of an unchanged status by the node's name, so that nodes which came
// together do not keep reporting together.
func heartbeatDue(n *v1.Node, interval time.Duration) time.Time {
	c := nodeCondition(n.Status.Conditions, v1.NodeReady)
	if c == nil {
		return time.Time{}
	}
	return c.LastHeartbeatTime.Add(spread(n.Name, interval))
}

// spread returns between 90 % and 100 % of an interval, always the same for a name.
func spread(name string, interval time.Duration) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(name)) // a hash's Write never fails
	return interval - interval/10*time.Duration(h.Sum32()%1024)/1024
}

// agentTaints returns the taints that remain once the node's agents run, nil if nothing changes, and when
// that will be.
func agentTaints(in nodeInput, now time.Time) (*[]v1.Taint, time.Time) {
	if !isReady(in.Node) {
		return nil, time.Time{}
	}
	left := slices.DeleteFunc(slices.Clone(in.Node.Spec.Taints), func(t v1.Taint) bool {
		return strings.HasSuffix(t.Key, agentTaintSuffix) || slices.Contains(in.Config.StartupTaints, t.Key)
	})
	if len(left) == len(in.Node.Spec.Taints) {
		return nil, time.Time{}
	}
	since := nodeCondition(in.Node.Status.Conditions, v1.NodeReady).LastTransitionTime
	if due := since.Add(in.Fault.stretch(in.Config.AgentDelay)); now.Before(due) {
		return nil, due
	}
	return &left, time.Time{}
}

// missingLabels returns those labels that a kubelet sets and a hand-made Node lacks.
func missingLabels(n *v1.Node) map[string]string {
	return missing(n.Labels, map[string]string{
		v1.LabelHostname:   n.Name,
		v1.LabelOSStable:   "linux",
		v1.LabelArchStable: "amd64",
		labelOSBeta:        "linux",
		labelArchBeta:      "amd64",
	})
}

func missingAnnotations(n *v1.Node) map[string]string {
	return missing(n.Annotations, map[string]string{annotationControllerAttach: "true"})
}

func missing(have, want map[string]string) map[string]string {
	var lacking map[string]string
	for name, value := range want {
		if _, set := have[name]; set {
			continue
		}
		if lacking == nil {
			lacking = map[string]string{}
		}
		lacking[name] = value
	}
	return lacking
}

// addressOf returns a Node's internal address, empty if it has none.
func addressOf(n *v1.Node) string {
	for _, a := range n.Status.Addresses {
		if a.Type == v1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}

// instanceStep is the next step of a launched instance.
type instanceStep struct {
	Join   bool // create the Node
	Remove bool // delete its Node
	Forget bool // nothing is left of it
	At     time.Time
}

// stepInstance simulates the machine before it has a Node, and the cloud's node controller after the
// machine is terminated.
func stepInstance(i boot, nodeExists bool, c Config, now time.Time) instanceStep {
	switch {
	case !i.terminated.IsZero() && !nodeExists: // a Node that was just created may show up yet
		return due(i.terminated.Add(rememberedFor), now, instanceStep{Forget: true})
	case !i.terminated.IsZero():
		return due(i.terminated.Add(c.NodeDeleteDelay), now, instanceStep{Remove: true})
	case i.joined || nodeExists || i.Fault.NeverJoin:
		return instanceStep{}
	}
	delay := c.BootDelay
	if i.BootDelay > 0 {
		delay = i.BootDelay
	}
	return due(i.launched.Add(i.Fault.stretch(delay)), now, instanceStep{Join: true})
}

// due returns the step when its time has come, and until then the wait for it.
func due(at, now time.Time, step instanceStep) instanceStep {
	if now.Before(at) {
		return instanceStep{At: at}
	}
	return step
}
