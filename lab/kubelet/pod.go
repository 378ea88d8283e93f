package kubelet

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// A pod that starts sooner than this goes straight from Pending to Running,
	// which saves a third of the writes when thousands of pods start.
	quietStart = 5 * time.Second

	exitKilled     = 137 // SIGKILL
	exitTerminated = 143 // SIGTERM
)

// podInput is everything that a step of a pod depends on, besides the time.
type podInput struct {
	Pod          *v1.Pod
	Machine      machine
	IP           string    // the pod's address, or the machine's for host networking
	Bound        time.Time // when the machine first saw the pod
	VolumesReady bool
	Delays       podDelays
}

// podDelays are the configured delays of pods without annotations.
type podDelays struct {
	Start, Stop, JobRun time.Duration
}

// machine is what a pod knows of its node.
type machine struct {
	IP    string
	Ready bool
	Fault Fault
}

// podStep is what to write: a status, or the removal of a pod whose final status is written. At is when to
// look again if nothing changes before; the zero time means never.
type podStep struct {
	Status *v1.PodStatus
	Delete bool
	At     time.Time
}

// stepPod decides what the kubelet does next for a pod that is bound to its node.
//
//	Pending ──start delay, volumes──▶ Running ──processes end──▶ Succeeded / Failed
//	   └────────── deletion: processes stop within the grace ──────▶ terminal, then removed
func stepPod(in podInput, now time.Time) podStep {
	terminal := in.Pod.Status.Phase == v1.PodSucceeded || in.Pod.Status.Phase == v1.PodFailed
	switch {
	case in.Pod.DeletionTimestamp != nil:
		return stopPod(in, terminal, now)
	case terminal:
		return podStep{}
	case in.Pod.Status.Phase == v1.PodRunning:
		return runPod(in, now)
	default:
		return startPod(in, now)
	}
}

// startPod waits for the machine, the volumes and the start delay.
func startPod(in podInput, now time.Time) podStep {
	if !in.Machine.Ready && !in.Pod.Spec.HostNetwork {
		return podStep{} // the node's change wakes its pods
	}
	delay := in.Machine.Fault.stretch(durationOf(in.Pod.Annotations, AnnotationStartDelay, in.Delays.Start))
	due := in.Bound.Add(delay)
	if in.VolumesReady && !now.Before(due) {
		return podStep{Status: startedStatus(in, now)}
	}
	var step podStep
	if now.Before(due) {
		step.At = due
	}
	if shown := len(in.Pod.Status.ContainerStatuses) > 0; !shown && (delay >= quietStart || !in.VolumesReady) {
		step.Status = creatingStatus(in, now)
	}
	return step
}

// creatingStatus shows that the machine is starting the pod.
func creatingStatus(in podInput, now time.Time) *v1.PodStatus {
	p, at := in.Pod, metav1.NewTime(now)
	s := &v1.PodStatus{
		ObservedGeneration: p.Generation,
		Phase:              v1.PodPending,
		StartTime:          &at,
		HostIP:             in.Machine.IP,
		HostIPs:            []v1.HostIP{{IP: in.Machine.IP}},
	}
	for _, c := range p.Spec.InitContainers {
		s.InitContainerStatuses = append(s.InitContainerStatuses, creating(c))
	}
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, creating(c))
	}
	s.Conditions = podConditions(p, s, now)
	return s
}

// startedStatus returns the pod's status with its init containers done, sidecars and main containers
// running.
func startedStatus(in podInput, now time.Time) *v1.PodStatus {
	p := in.Pod
	s := creatingStatus(in, now)
	if p.Status.StartTime != nil {
		s.StartTime = p.Status.StartTime
	}
	s.Phase, s.PodIP, s.PodIPs = v1.PodRunning, in.IP, []v1.PodIP{{IP: in.IP}}
	for i, c := range p.Spec.InitContainers {
		running := process{name: c.Name, image: c.Image, owner: string(p.UID)}.run(0, v1.ContainerState{}, now)
		if !sidecar(c) {
			running = initialised(running, now)
		}
		s.InitContainerStatuses[i] = running
	}
	for i, process := range processesOf(p, in.Delays.JobRun) {
		s.ContainerStatuses[i] = process.run(0, v1.ContainerState{}, now)
	}
	s.Conditions = podConditions(p, s, now)
	return s
}

// initialised returns the status of an init container that is done; it counts as ready.
func initialised(s v1.ContainerStatus, now time.Time) v1.ContainerStatus {
	s = ended(s, 0, reasonOf(0), now)
	s.Ready = true
	return s
}

// runPod moves the containers on, and the pod's phase and conditions with them. On a machine that is not
// Ready the node controller sets the readiness, and we leave it alone.
func runPod(in podInput, now time.Time) podStep {
	if !in.Machine.Ready {
		return podStep{}
	}
	p := in.Pod
	if end := deadline(p); !end.IsZero() && !now.Before(end) {
		return podStep{Status: deadlineStatus(p, now)}
	}
	s := currentStatus(p)
	moved, at := moveContainers(s, processesOf(p, in.Delays.JobRun), now)
	at = sooner(at, deadline(p))
	if phase := phaseOf(p, s); phase != v1.PodRunning {
		return podStep{Status: finishedStatus(p, s, phase, now)}
	}
	s.Conditions = podConditions(p, s, now)
	if !moved && sameConditions(p.Status.Conditions, s.Conditions) {
		return podStep{At: at}
	}
	return podStep{Status: s, At: at}
}

// currentStatus returns a copy of those parts of the pod's status that we own.
func currentStatus(p *v1.Pod) *v1.PodStatus {
	return &v1.PodStatus{
		ObservedGeneration:    p.Generation,
		Phase:                 p.Status.Phase,
		StartTime:             p.Status.StartTime,
		InitContainerStatuses: slices.Clone(p.Status.InitContainerStatuses),
		ContainerStatuses:     slices.Clone(p.Status.ContainerStatuses),
	}
}

// moveContainers advances the main containers in place, and adds a missing status.
func moveContainers(s *v1.PodStatus, processes []process, now time.Time) (moved bool, at time.Time) {
	statuses := make([]v1.ContainerStatus, len(processes))
	for i, process := range processes {
		current := v1.ContainerStatus{Name: process.name}
		if j := slices.IndexFunc(s.ContainerStatuses, func(c v1.ContainerStatus) bool { return c.Name == process.name }); j >= 0 {
			current = s.ContainerStatuses[j]
		}
		next, changed, due := process.next(current, now)
		statuses[i], moved, at = next, moved || changed, sooner(at, due)
	}
	s.ContainerStatuses = statuses
	return moved, at
}

// phaseOf returns Running until every main container has ended for good.
func phaseOf(p *v1.Pod, s *v1.PodStatus) v1.PodPhase {
	phase := v1.PodSucceeded
	for i, c := range p.Spec.Containers {
		done := s.ContainerStatuses[i].State.Terminated
		if done == nil || (process{restart: restartPolicy(p, c)}).restarts(done.ExitCode) {
			return v1.PodRunning
		}
		if done.ExitCode != 0 {
			phase = v1.PodFailed
		}
	}
	return phase
}

// finishedStatus returns the status of a pod whose containers have all ended; its sidecars end with it.
func finishedStatus(p *v1.Pod, s *v1.PodStatus, phase v1.PodPhase, now time.Time) *v1.PodStatus {
	s.Phase = phase
	endRunning(s.InitContainerStatuses, 0, now)
	s.Conditions = podConditions(p, s, now)
	return s
}

// deadline returns when activeDeadlineSeconds ends the pod; the zero time means never.
func deadline(p *v1.Pod) time.Time {
	if p.Spec.ActiveDeadlineSeconds == nil || p.Status.StartTime == nil {
		return time.Time{}
	}
	return p.Status.StartTime.Add(time.Duration(*p.Spec.ActiveDeadlineSeconds) * time.Second)
}

func deadlineStatus(p *v1.Pod, now time.Time) *v1.PodStatus {
	s := currentStatus(p)
	endRunning(s.ContainerStatuses, exitTerminated, now)
	s.Reason = "DeadlineExceeded"
	s.Message = "The pod ran for its activeDeadlineSeconds of " + strconv.FormatInt(*p.Spec.ActiveDeadlineSeconds, 10)
	return finishedStatus(p, s, v1.PodFailed, now)
}

// stopPod waits until the processes have stopped, writes the final status, and removes the object. Once the
// grace period is 0, the API server removes the object with its last finalizer, so we do not delete it
// again. Without finalizers it is gone already, and there is no status to write.
func stopPod(in podInput, terminal bool, now time.Time) podStep {
	p := in.Pod
	var grace time.Duration
	if seconds := p.DeletionGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	wants := in.Machine.Fault.stretch(longestPreStop(p) + durationOf(p.Annotations, AnnotationStopAfter, in.Delays.Stop))
	stopped := p.DeletionTimestamp.Add(min(wants, grace) - grace)
	switch {
	case grace == 0 && len(p.Finalizers) == 0:
		return podStep{}
	case terminal:
		return podStep{Delete: grace > 0}
	case now.Before(stopped):
		return podStep{At: stopped}
	default:
		return podStep{Status: stoppedStatus(p, wants > grace, now)} // the write wakes us to remove it
	}
}

// longestPreStop is how long the preStop hooks of a running pod's containers sleep, before their processes are asked to stop. Hooks of other
// kinds take no time.
func longestPreStop(p *v1.Pod) time.Duration {
	longest := time.Duration(0)
	for i := range p.Spec.Containers {
		switch hook := p.Spec.Containers[i].Lifecycle; {
		case hook == nil || hook.PreStop == nil || p.Status.Phase != v1.PodRunning:
		case hook.PreStop.Sleep != nil:
			longest = max(longest, time.Duration(hook.PreStop.Sleep.Seconds)*time.Second)
		case hook.PreStop.Exec != nil:
			longest = max(longest, slept(hook.PreStop.Exec.Command))
		}
	}
	return longest
}

// slept is how long a command sleeps at its end, by itself or in a shell, such as ["sh", "-c", "nginx -s quit; sleep 5"]; what it does before takes no time.
func slept(command []string) time.Duration {
	words := strings.Fields(strings.Join(command, " "))
	if len(words) < 2 || path.Base(words[len(words)-2]) != "sleep" {
		return 0
	}
	seconds, err := strconv.ParseUint(words[len(words)-1], 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// stoppedStatus returns the status of a pod that was asked to stop. A server ends with success; an
// interrupted job fails, because its controller would otherwise count it as done.
func stoppedStatus(p *v1.Pod, killed bool, now time.Time) *v1.PodStatus {
	exit := int32(0)
	switch {
	case killed:
		exit = exitKilled
	case p.Spec.RestartPolicy != v1.RestartPolicyAlways:
		exit = exitTerminated
	}
	phase := v1.PodSucceeded
	if exit != 0 || p.Status.Phase != v1.PodRunning {
		phase = v1.PodFailed
	}
	s := currentStatus(p)
	endRunning(s.ContainerStatuses, exit, now)
	return finishedStatus(p, s, phase, now)
}

// endRunning ends in place the containers that run or wait to run.
func endRunning(statuses []v1.ContainerStatus, exit int32, now time.Time) {
	for i, s := range statuses {
		switch {
		case s.State.Running != nil:
			statuses[i] = ended(s, exit, reasonOf(exit), now)
		case s.State.Waiting != nil:
			statuses[i] = ended(s, exitKilled, "ContainerStatusUnknown", now)
		}
	}
}

// orphanStep is the step of a pod whose Node is gone: no kubelet will run it again.
func orphanStep(p *v1.Pod, now time.Time) podStep {
	if p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
		step := podStep{Status: stoppedStatus(p, true, now)}
		step.Status.Reason = "NodeLost"
		step.Status.Message = "The node that ran the pod is gone"
		return step
	}
	grace := p.DeletionGracePeriodSeconds
	return podStep{Delete: p.DeletionTimestamp == nil || grace != nil && *grace > 0}
}
