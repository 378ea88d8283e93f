package provisioner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tenon/cloud/aws/instancetype"

	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/provision"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/testing/apply"
)

// BenchmarkBurst makes the decisions of a burst as the loop does: 5,000 pods of 40 workloads
// arrive 200 at a time, each decision is carried out before the next, and all of them know the
// same pools, DaemonSets and catalogue.
func BenchmarkBurst(b *testing.B) {
	const step, steps = 200, 25
	built := instancetype.Build(instancetype.Defaults("us-west-2"))
	for b.Loop() {
		s := emptyRegion(&built)
		memory := provision.NewMemory()
		dice := rand.New(rand.NewPCG(5, 5))
		for turn := range steps {
			arrive(s, dice, step)
			d := decide.Decide(s, decide.Budget{Memory: memory})
			if len(d.Plan.Unplaced) > 0 {
				b.Fatalf("%d pods find no place", len(d.Plan.Unplaced))
			}
			s, _ = apply.Of(s, &d.Plan, time.Second, turn)
		}
	}
}

// emptyRegion has three pools, three DaemonSets and 40 workloads, and no node yet.
func emptyRegion(built *instancetype.Result) *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Now:      time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC),
		Settings: snapshot.Settings{Preferences: snapshot.Respect, WellKnown: instancetype.Vocabulary().WellKnown()},
	}
	s.Catalogs = append(s.Catalogs, built.Catalog)
	for _, name := range []string{"compute", "general", "memory"} {
		labels := map[string]string{requirement.KeyNodePool: name}
		s.Pools = append(s.Pools, snapshot.Pool{Name: name, Labels: labels, Requirements: requirement.FromLabels(labels).With(
			requirement.New("karpenter.k8s.aws/instance-category", requirement.In, "c", "m", "r"),
			requirement.New(requirement.KeyArch, requirement.In, "amd64"),
			requirement.New(requirement.KeyOS, requirement.In, "linux"),
			requirement.New(requirement.KeyCapacityType, requirement.In, "on-demand"),
		)})
	}
	for _, name := range []string{"agent", "cni", "proxy"} {
		s.Templates = append(s.Templates, snapshot.Template{Namespace: "kube-system", Daemon: true, Requests: model.Resources{CPU: 50, Memory: 64 << 20, Pods: 1}})
		s.Daemons = append(s.Daemons, snapshot.Daemon{Namespace: "kube-system", Name: name, Template: snapshot.TemplateIndex(len(s.Templates) - 1)})
	}
	dice := rand.New(rand.NewPCG(40, 0))
	for i := range 40 {
		s.Templates = append(s.Templates, snapshot.Template{
			Namespace: "default", Labels: map[string]string{"app": fmt.Sprint("web-", i)},
			Requests: model.Resources{CPU: []int64{100, 250, 500, 1000, 2000, 4000}[dice.IntN(6)], Memory: 128 << 20 << dice.IntN(7), Pods: 1},
		})
	}
	return s
}

// arrive adds pods of random workloads.
func arrive(s *snapshot.Snapshot, dice *rand.Rand, n int) {
	for range n {
		s.Pods = append(s.Pods, snapshot.Pod{
			Namespace: "default", Name: fmt.Sprintf("web-%05d", len(s.Pods)), UID: fmt.Sprint(len(s.Pods)),
			Template: snapshot.TemplateIndex(len(s.Daemons) + dice.IntN(40)), Pending: true, Created: s.Now,
		})
	}
}
