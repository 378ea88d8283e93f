package kubelet

import (
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	crashLife   = 2 * time.Second  // how long a crashing container lives
	backoffBase = 10 * time.Second // Kubernetes: "Pod Lifecycle", restart back-off 10s, 20s, 40s, ...
	backoffMax  = 5 * time.Minute
	backoffCalm = 10 * time.Minute // a run this long clears the back-off
	crashWord   = "crash"

	reasonCreating  = "ContainerCreating"
	reasonCrashLoop = "CrashLoopBackOff"
)

// process is the program of a container: how long it lives, its exit code, and whether it is restarted.
type process struct {
	name, image string
	mortal      bool // it ends by itself after life
	life        time.Duration
	exit        int32
	restart     v1.RestartPolicy
	readyAfter  time.Duration
	neverReady  bool
	owner       string // the pod's UID, for container IDs
}

// processesOf returns a process for each main container of a pod.
func processesOf(p *v1.Pod, jobRunTime time.Duration) []process {
	processes := make([]process, len(p.Spec.Containers))
	for i, c := range p.Spec.Containers {
		processes[i] = processOf(p, c, jobRunTime)
	}
	return processes
}

func processOf(p *v1.Pod, c v1.Container, jobRunTime time.Duration) process {
	crashes := strings.Contains(c.Image, crashWord)
	life := jobRunTime
	if crashes {
		life = crashLife
	}
	_, timed := p.Annotations[AnnotationRunFor]
	exit := int32(0)
	if crashes {
		exit = 1
	}
	readyAfter, everReady := readiness(p, c)
	return process{
		name:       c.Name,
		image:      c.Image,
		mortal:     crashes || timed || p.Spec.RestartPolicy != v1.RestartPolicyAlways,
		life:       durationOf(p.Annotations, AnnotationRunFor, life),
		exit:       int32Of(p.Annotations, AnnotationExitCode, exit),
		restart:    restartPolicy(p, c),
		readyAfter: readyAfter,
		neverReady: !everReady,
		owner:      string(p.UID),
	}
}

// restartPolicy returns the container's own policy if it has one, and the pod's otherwise.
func restartPolicy(p *v1.Pod, c v1.Container) v1.RestartPolicy {
	if c.RestartPolicy != nil {
		return v1.RestartPolicy(*c.RestartPolicy)
	}
	return p.Spec.RestartPolicy
}

// sidecar reports whether an init container keeps running beside the main ones.
func sidecar(c v1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
}

// run returns the status of a process that starts now.
func (p process) run(restarts int32, last v1.ContainerState, now time.Time) v1.ContainerStatus {
	started := true
	return v1.ContainerStatus{
		Name:                 p.name,
		Image:                p.image,
		ImageID:              "sim://" + p.image,
		ContainerID:          containerID(p.owner, p.name, restarts),
		RestartCount:         restarts,
		Started:              &started,
		Ready:                p.readyAfter == 0 && !p.neverReady,
		State:                v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}},
		LastTerminationState: last,
	}
}

// next moves a container to its state at the time now. It reports whether anything changed, and when to
// look again; the zero time means never.
func (p process) next(s v1.ContainerStatus, now time.Time) (next v1.ContainerStatus, changed bool, at time.Time) {
	for {
		moved, step, due := p.step(s, now)
		if !step {
			return s, changed, due
		}
		s, changed = moved, true
	}
}

//	life over                  no back-off
//
// running ─────────────▶ terminated ──────────────────▶ running
//
//	                     │      │ back-off                ▲
//	no restart: it stays ┘      └──▶ CrashLoopBackOff ────┘
func (p process) step(s v1.ContainerStatus, now time.Time) (v1.ContainerStatus, bool, time.Time) {
	switch {
	case s.State.Running != nil:
		return p.stepRunning(s, now)
	case s.State.Terminated != nil:
		return p.stepTerminated(s, now)
	case s.State.Waiting != nil && s.State.Waiting.Reason == reasonCrashLoop && s.LastTerminationState.Terminated != nil:
		return p.stepWaiting(s, now)
	default: // a state that we did not write: start afresh
		return p.run(s.RestartCount, s.LastTerminationState, now), true, time.Time{}
	}
}

func (p process) stepRunning(s v1.ContainerStatus, now time.Time) (v1.ContainerStatus, bool, time.Time) {
	began := s.State.Running.StartedAt.Time
	if end := began.Add(p.life); p.mortal && !now.Before(end) {
		return ended(s, p.exit, reasonOf(p.exit), end), true, time.Time{}
	}
	readyAt := began.Add(p.readyAfter)
	if ready := !p.neverReady && !now.Before(readyAt); ready != s.Ready {
		s.Ready = ready
		return s, true, time.Time{}
	}
	var due time.Time
	if p.mortal {
		due = began.Add(p.life)
	}
	if !s.Ready && !p.neverReady {
		due = sooner(due, readyAt)
	}
	return s, false, due
}

func (p process) stepTerminated(s v1.ContainerStatus, now time.Time) (v1.ContainerStatus, bool, time.Time) {
	done := s.State.Terminated
	if !p.restarts(done.ExitCode) {
		return s, false, time.Time{}
	}
	if backoff(s.RestartCount, done) == 0 {
		return p.run(s.RestartCount+1, s.State, now), true, time.Time{}
	}
	s.LastTerminationState = s.State
	s.State = v1.ContainerState{Waiting: &v1.ContainerStateWaiting{
		Reason:  reasonCrashLoop,
		Message: "back-off " + backoff(s.RestartCount, done).String() + " restarting failed container " + p.name,
	}}
	return s, true, time.Time{}
}

func (p process) stepWaiting(s v1.ContainerStatus, now time.Time) (v1.ContainerStatus, bool, time.Time) {
	last := s.LastTerminationState.Terminated
	until := last.FinishedAt.Add(backoff(s.RestartCount, last))
	if now.Before(until) {
		return s, false, until
	}
	return p.run(s.RestartCount+1, s.LastTerminationState, now), true, time.Time{}
}

// restarts reports whether a container that ended with this exit code runs again.
func (p process) restarts(exit int32) bool {
	return p.restart == v1.RestartPolicyAlways || p.restart == v1.RestartPolicyOnFailure && exit != 0
}

// backoff returns the pause before the next run: none after the first, then doubling.
func backoff(restarts int32, last *v1.ContainerStateTerminated) time.Duration {
	if restarts == 0 || last.FinishedAt.Sub(last.StartedAt.Time) >= backoffCalm {
		return 0
	}
	pause := backoffBase
	for range restarts - 1 {
		if pause *= 2; pause >= backoffMax {
			return backoffMax
		}
	}
	return pause
}

// ended returns a container's status after its process ended.
func ended(s v1.ContainerStatus, exit int32, reason string, at time.Time) v1.ContainerStatus {
	done := &v1.ContainerStateTerminated{
		ExitCode:    exit,
		Reason:      reason,
		FinishedAt:  metav1.NewTime(at),
		ContainerID: s.ContainerID,
	}
	if s.State.Running != nil {
		done.StartedAt = s.State.Running.StartedAt
	}
	stopped := false
	s.Ready, s.Started = false, &stopped
	s.State = v1.ContainerState{Terminated: done}
	return s
}

func reasonOf(exit int32) string {
	if exit == 0 {
		return "Completed"
	}
	return "Error"
}

// creating returns the status of a container that has not started yet.
func creating(c v1.Container) v1.ContainerStatus {
	started := false
	return v1.ContainerStatus{
		Name:    c.Name,
		Image:   c.Image,
		Started: &started,
		State:   v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reasonCreating}},
	}
}

// sooner returns the earlier of two times, where the zero time means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
