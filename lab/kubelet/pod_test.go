package kubelet

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// at is a time of a test, in seconds from its beginning.
func at(seconds float64) time.Time { return epoch.Add(time.Duration(seconds * float64(time.Second))) }

func stamped(seconds float64) metav1.Time { return metav1.NewTime(at(seconds)) }

var testDelays = podDelays{Start: 2 * time.Second, Stop: time.Second, JobRun: 5 * time.Second}

// seenPod is what a healthy machine knows of a pod that it saw at the beginning.
func seenPod(p *v1.Pod) podInput {
	return podInput{
		Pod:          p,
		Machine:      machine{IP: "10.0.0.1", Ready: true},
		IP:           "10.1.0.1",
		Bound:        epoch,
		VolumesReady: true,
		Delays:       testDelays,
	}
}

// running gives a pod the status that its kubelet would have written by then.
func running(seconds float64) podOption {
	return func(p *v1.Pod) { p.Status = *startedStatus(seenPod(p), at(seconds)) }
}

func deleted(seconds float64, grace int64) podOption {
	return func(p *v1.Pod) {
		end := stamped(seconds + float64(grace))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &end, &grace
	}
}

// probed gives the container a readiness probe every ten seconds.
func probed(initialDelay, successes int32) podOption {
	return func(p *v1.Pod) {
		p.Spec.Containers[0].ReadinessProbe = &v1.Probe{InitialDelaySeconds: initialDelay, PeriodSeconds: 10, SuccessThreshold: successes}
	}
}

func preStop(hook *v1.LifecycleHandler) podOption {
	return func(p *v1.Pod) { p.Spec.Containers[0].Lifecycle = &v1.Lifecycle{PreStop: hook} }
}

func execute(command ...string) *v1.LifecycleHandler {
	return &v1.LifecycleHandler{Exec: &v1.ExecAction{Command: command}}
}

func phase(is v1.PodPhase) podOption {
	return func(p *v1.Pod) { p.Status.Phase = is }
}

func deadlineAfter(seconds int64) podOption {
	return func(p *v1.Pod) { p.Spec.ActiveDeadlineSeconds = &seconds }
}

// describeStep prints a step in a line, with times counted from the beginning.
func describeStep(s podStep) string {
	text := "nothing"
	switch {
	case s.Delete:
		text = "delete"
	case s.Status != nil:
		text = describePod(&v1.Pod{Status: v1.PodStatus{Phase: s.Status.Phase, ContainerStatuses: s.Status.ContainerStatuses}})
	}
	if !s.At.IsZero() {
		text += " until " + s.At.Sub(epoch).String()
	}
	return text
}

func TestStepPod(t *testing.T) {
	t.Parallel()
	job := restarting(v1.RestartPolicyNever)
	cases := map[string]struct {
		pod     *v1.Pod
		machine func(*podInput)
		now     float64
		want    string
	}{
		"a new pod waits for the start delay":                    {pod: boundPod("p", "n"), now: 1, want: "nothing until 2s"},
		"it runs when the delay is over":                         {pod: boundPod("p", "n"), now: 2, want: "Running main:running/0"},
		"a long start is shown":                                  {pod: boundPod("p", "n", annotated(AnnotationStartDelay, "1m")), now: 0, want: "Pending main:ContainerCreating/0 until 1m0s"},
		"a delay that is no duration is ignored":                 {pod: boundPod("p", "n", annotated(AnnotationStartDelay, "soon")), now: 0, want: "nothing until 2s"},
		"a pod waits for its machine":                            {pod: boundPod("p", "n"), machine: func(in *podInput) { in.Machine.Ready = false }, now: 9, want: "nothing"},
		"host networking does not wait for the machine":          {pod: boundPod("p", "n", func(p *v1.Pod) { p.Spec.HostNetwork = true }), machine: func(in *podInput) { in.Machine.Ready = false }, now: 9, want: "Running main:running/0"},
		"a pod waits for its volumes, and its status shows that": {pod: boundPod("p", "n"), machine: func(in *podInput) { in.VolumesReady = false }, now: 9, want: "Pending main:ContainerCreating/0"},
		"a slow machine starts slowly":                           {pod: boundPod("p", "n"), machine: func(in *podInput) { in.Machine.Fault.Slow = 2 }, now: 3, want: "nothing until 4s"},

		"a server runs for ever":                               {pod: boundPod("p", "n", running(2)), now: 1e6, want: "nothing"},
		"a server with a lifetime runs that long":              {pod: boundPod("p", "n", annotated(AnnotationRunFor, "30s"), running(2)), now: 10, want: "nothing until 32s"},
		"it is started again at once the first time":           {pod: boundPod("p", "n", annotated(AnnotationRunFor, "30s"), running(2)), now: 32, want: "Running main:running/1 until 1m2s"},
		"a job's pod runs for the default time":                {pod: boundPod("p", "n", job, running(2)), now: 3, want: "nothing until 7s"},
		"then it has succeeded":                                {pod: boundPod("p", "n", job, running(2)), now: 7, want: "Succeeded main:exit0/0"},
		"or failed":                                            {pod: boundPod("p", "n", job, annotated(AnnotationExitCode, "9"), running(2)), now: 7, want: "Failed main:exit9/0"},
		"a failure is tried again with OnFailure":              {pod: boundPod("p", "n", restarting(v1.RestartPolicyOnFailure), annotated(AnnotationExitCode, "9"), running(2)), now: 7, want: "Running main:running/1 until 12s"},
		"a crashing job's pod has failed":                      {pod: boundPod("p", "n", job, image("crash"), running(2)), now: 4, want: "Failed main:exit1/0"},
		"readiness comes after its delay":                      {pod: boundPod("p", "n", annotated(AnnotationReadyAfter, "10s"), running(2)), now: 4, want: "nothing until 12s"},
		"a readiness probe succeeds after its initial delay":   {pod: boundPod("p", "n", probed(10, 1), running(2)), now: 4, want: "nothing until 12s"},
		"and after as many probes as it asks for":              {pod: boundPod("p", "n", probed(0, 3), running(2)), now: 4, want: "nothing until 22s"},
		"a pod whose probe has succeeded is left alone":        {pod: boundPod("p", "n", probed(0, 1), running(2)), now: 4, want: "nothing"},
		"a pause image answers no probe":                       {pod: boundPod("p", "n", probed(0, 1), image("public.ecr.aws/eks-distro/kubernetes/pause:3.2"), running(2)), now: 1e6, want: "nothing"},
		"the active deadline ends a pod":                       {pod: boundPod("p", "n", deadlineAfter(60), running(2)), now: 62, want: "Failed main:exit143/0"},
		"until then it runs":                                   {pod: boundPod("p", "n", deadlineAfter(60), running(2)), now: 61, want: "nothing until 1m2s"},
		"a pod on a machine that is not ready reports nothing": {pod: boundPod("p", "n", job, running(2)), machine: func(in *podInput) { in.Machine.Ready = false }, now: 99, want: "nothing"},
		"a finished pod stays as it is":                        {pod: boundPod("p", "n", phase(v1.PodSucceeded)), now: 99, want: "nothing"},

		"a deleted pod takes its time to stop":                {pod: boundPod("p", "n", running(2), deleted(10, 30)), now: 10.5, want: "nothing until 11s"},
		"a deleted server succeeds":                           {pod: boundPod("p", "n", running(2), deleted(10, 30)), now: 11, want: "Succeeded main:exit0/0"},
		"an interrupted job has failed":                       {pod: boundPod("p", "n", job, running(2), deleted(3, 30)), now: 4, want: "Failed main:exit143/0"},
		"one that does not stop is killed":                    {pod: boundPod("p", "n", annotated(AnnotationStopAfter, "1h"), running(2), deleted(10, 30)), now: 40, want: "Failed main:exit137/0"},
		"but not before its grace is over":                    {pod: boundPod("p", "n", annotated(AnnotationStopAfter, "1h"), running(2), deleted(10, 30)), now: 39, want: "nothing until 40s"},
		"a preStop hook sleeps before it stops":               {pod: boundPod("p", "n", running(2), deleted(10, 30), preStop(&v1.LifecycleHandler{Sleep: &v1.SleepAction{Seconds: 5}})), now: 15, want: "nothing until 16s"},
		"a command that sleeps, too":                          {pod: boundPod("p", "n", running(2), deleted(10, 30), preStop(execute("/bin/sh", "-c", "nginx -s quit; sleep 5"))), now: 15, want: "nothing until 16s"},
		"a hook that outlasts the grace is killed":            {pod: boundPod("p", "n", running(2), deleted(10, 30), preStop(execute("/bin/sleep", "300"))), now: 40, want: "Failed main:exit137/0"},
		"a hook that does not sleep takes no time":            {pod: boundPod("p", "n", running(2), deleted(10, 30), preStop(execute("sleep", "well"))), now: 11, want: "Succeeded main:exit0/0"},
		"a stopped pod is removed":                            {pod: boundPod("p", "n", phase(v1.PodFailed), deleted(10, 30)), now: 11, want: "delete"},
		"without grace the object goes by itself":             {pod: boundPod("p", "n", phase(v1.PodFailed), deleted(10, 0)), now: 11, want: "nothing"},
		"after a forced deletion there is no status to write": {pod: boundPod("p", "n", running(2), deleted(10, 0)), now: 10, want: "nothing"},
		"with a finalizer, a forced deletion kills":           {pod: boundPod("p", "n", running(2), deleted(10, 0), finalizer("example.com/hold")), now: 10, want: "Failed main:exit137/0"},
		"a pod that never started has failed":                 {pod: boundPod("p", "n", deleted(0, 0), finalizer("example.com/hold")), now: 1, want: "Failed"},
		"a deleted pod stops on a machine that is not ready":  {pod: boundPod("p", "n", running(2), deleted(10, 30)), machine: func(in *podInput) { in.Machine.Ready = false }, now: 11, want: "Succeeded main:exit0/0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := seenPod(tc.pod)
			if tc.machine == nil {
				tc.machine = func(*podInput) {}
			}
			tc.machine(&in)
			before := tc.pod.DeepCopy()
			if got := describeStep(stepPod(in, at(tc.now))); got != tc.want {
				t.Errorf("step = %q, want %q", got, tc.want)
			}
			if diff := cmp.Diff(before, tc.pod); diff != "" {
				t.Errorf("the step changed its input (-before +after):\n%s", diff)
			}
		})
	}
}

// A pod is ready when its readiness probe would have succeeded often enough, and with a pause image never.
func TestReadinessProbes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options []podOption
		ready   float64 // seconds from the start; negative for never
	}{
		"none":                     {ready: 0},
		"none, pause image":        {options: []podOption{image("registry.k8s.io/pause:3.10")}, ready: 0},
		"at once":                  {options: []podOption{probed(0, 1)}, ready: 0},
		"late":                     {options: []podOption{probed(15, 1)}, ready: 15},
		"late, and several":        {options: []podOption{probed(15, 3)}, ready: 35},
		"the program takes longer": {options: []podOption{probed(15, 1), annotated(AnnotationReadyAfter, "1m")}, ready: 60},
		"pause image":              {options: []podOption{probed(0, 1), image("registry.k8s.io/pause:3.10")}, ready: -1},
		"pause image by digest":    {options: []podOption{probed(0, 1), image("localhost:5000/pause@sha256:0a")}, ready: -1},
		"an image like it":         {options: []podOption{probed(0, 1), image("example.com/pause/server")}, ready: 0},
	} {
		p := boundPod("p", "n", append(c.options, running(0))...)
		for _, second := range []float64{0, 1, 14, 15, 34, 35, 59, 60, 3600} {
			if step := stepPod(seenPod(p), at(second)); step.Status != nil {
				p.Status = *step.Status
			}
			want := v1.ConditionFalse
			if c.ready >= 0 && second >= c.ready {
				want = v1.ConditionTrue
			}
			if ready := findCondition(p.Status.Conditions, v1.PodReady); ready.Status != want {
				t.Errorf("%s: after %gs Ready is %s", name, second, ready.Status)
			}
		}
	}
}

// After a step is written, the pod needs no further step at the same time. Otherwise the simulator would
// write for ever.
func TestStepsSettle(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*v1.Pod{
		"server":    boundPod("p", "n"),
		"job":       boundPod("p", "n", restarting(v1.RestartPolicyNever)),
		"crash":     boundPod("p", "n", image("crash")),
		"late":      boundPod("p", "n", annotated(AnnotationReadyAfter, "7s")),
		"slow":      boundPod("p", "n", annotated(AnnotationStartDelay, "9s")),
		"immediate": boundPod("p", "n", annotated(AnnotationRunFor, "0s"), restarting(v1.RestartPolicyNever)),
		"deadline":  boundPod("p", "n", deadlineAfter(20)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for second := range 120 {
				now := at(float64(second))
				for writes := 0; ; writes++ {
					step := stepPod(seenPod(p), now)
					if step.Status == nil {
						if !step.At.IsZero() && !step.At.After(now) {
							t.Fatalf("at %ds it would look again at %s", second, step.At.Sub(epoch))
						}
						break
					}
					if writes == 3 {
						t.Fatalf("at %ds it still writes %s", second, describeStep(step))
					}
					p.Status = *step.Status
				}
			}
		})
	}
}

func TestOrphanStep(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pod  *v1.Pod
		want string
	}{
		"a running pod has failed":                 {boundPod("p", "n", running(2)), "Failed main:exit137/0"},
		"a failed pod is removed":                  {boundPod("p", "n", phase(v1.PodFailed)), "delete"},
		"a pod being deleted gets no grace period": {boundPod("p", "n", phase(v1.PodFailed), deleted(5, 600)), "delete"},
		"a pod with a finalizer waits for it":      {boundPod("p", "n", phase(v1.PodFailed), deleted(5, 0)), "nothing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := describeStep(orphanStep(tc.pod, at(10))); got != tc.want {
				t.Errorf("step = %q, want %q", got, tc.want)
			}
		})
	}
}

// "After containers in a Pod exit, the kubelet restarts them with an exponential
// backoff delay (10s, 20s, 40s, ...), that is capped at 300 seconds. Once a
// container has executed for 10 minutes without any problems, the kubelet resets
// the restart backoff timer" (Kubernetes: Pod Lifecycle).
func TestBackoff(t *testing.T) {
	t.Parallel()
	run := func(d time.Duration) *v1.ContainerStateTerminated {
		return &v1.ContainerStateTerminated{StartedAt: metav1.NewTime(epoch), FinishedAt: metav1.NewTime(epoch.Add(d))}
	}
	for _, tc := range []struct {
		restarts int32
		lived    time.Duration
		want     time.Duration
	}{
		{0, time.Second, 0},
		{1, time.Second, 10 * time.Second},
		{2, time.Second, 20 * time.Second},
		{5, time.Second, 160 * time.Second},
		{6, time.Second, 5 * time.Minute},
		{1000, time.Second, 5 * time.Minute},
		{6, 10 * time.Minute, 0},
	} {
		if got := backoff(tc.restarts, run(tc.lived)); got != tc.want {
			t.Errorf("back-off after %d restarts and %s = %s, want %s", tc.restarts, tc.lived, got, tc.want)
		}
	}
}
