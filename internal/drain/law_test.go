package drain_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/internal/drain"
	"tenon/internal/podpolicy"
)

// Laws that every decision keeps, tried on random nodes.
func TestLaws(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		s := randomScene(rand.New(rand.NewPCG(seed, 1)))
		d := drain.Decide(s)
		for _, broken := range brokenLaws(s, d) {
			t.Errorf("seed %d: %s\n%s", seed, broken, text(d))
		}
	}
}

func brokenLaws(s drain.State, d drain.Decision) []string {
	var broken []string
	law := func(holds bool, format string, args ...any) {
		if !holds {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	forced := map[string]bool{}
	for _, step := range d.Steps {
		pod := step.Pod
		law(d.Awaits(pod.UID), "%s is told to leave although it is not waited for", pod.Name)
		law(!podpolicy.Mirror(pod) && !podpolicy.Stays(pod) && !podpolicy.Terminal(pod), "%s stays with its node", pod.Name)
		if step.Forced {
			forced[pod.Name] = true
			law(!s.Deadline.IsZero(), "%s is forced without a deadline", pod.Name)
			law(step.Grace >= 1 && step.Grace <= max(int64(s.Deadline.Sub(s.Now)/time.Second), 1), "%s gets %d seconds", pod.Name, step.Grace)
			continue
		}
		law(!podpolicy.Terminating(pod), "%s is evicted again", pod.Name)
		law(!podpolicy.ProtectionOf(pod).Holds(s.Now), "%s is protected", pod.Name)
		law(drain.GroupOf(pod) == d.Turn, "%s is evicted out of turn", pod.Name)
	}
	for _, pod := range d.Waiting {
		early := drain.GroupOf(pod) < d.Turn && !podpolicy.Terminating(pod) && !forced[pod.Name]
		law(!early, "%s is passed over", pod.Name)
	}
	law(d.Next.IsZero() || d.Next.After(s.Now), "the next change is not in the future")
	law(len(d.Waiting) > 0 || d.Turn == drain.NoPods && len(d.Steps) == 0, "there is something to do for no pods")
	return broken
}

func randomScene(dice *rand.Rand) drain.State {
	s := drain.State{Now: now}
	if dice.IntN(2) == 0 {
		s.Deadline = now.Add(time.Duration(dice.IntN(1200)-300) * time.Second)
	}
	changes := []change{daemon, static, critical, stays, unready, graceless, grace(0), grace(600), protected("true"), protected("15m"),
		protected("5m"), protected("soon"), phase(corev1.PodSucceeded), phase(corev1.PodPending), ending(time.Minute, 60),
		ending(-90*time.Second, 30), ending(20*time.Minute, 1800), ending(-time.Second, 1)}
	for i := range dice.IntN(12) {
		p := pod(fmt.Sprintf("p%02d", i))
		for range dice.IntN(4) {
			changes[dice.IntN(len(changes))](p)
		}
		s.Pods = append(s.Pods, p)
	}
	return s
}
