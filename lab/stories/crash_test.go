package stories

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/lab/labtest"
	"tenon/lab/state"
)

// seedEnv repeats a random run.
const seedEnv = "STORIES_SEED"

func chance(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(seedEnv); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
		seed = given
	}
	t.Logf("%s=%d", seedEnv, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// The controller is killed at random while 500 pods scale out: once while it makes claims, once while they
// are launched and once while nodes join. In the end all pods run, on as many machines as without a crash,
// and every machine in the cloud is a node with its claim.
func TestKilledDuringAScaleOut(t *testing.T) {
	const (
		pods   = 500
		each   = 7 // pods of one processor on a machine of eight
		needed = (pods + each - 1) / each
	)
	s := begin(t, labtest.Start(t))
	dice := chance(t)
	s.apply("class.yaml", "small.yaml", "inflate.yaml")
	s.Scale("inflate", pods)
	for _, moment := range []struct {
		name  string
		count func() int
	}{
		{"claims", func() int { return len(s.claims()) }},
		{"machines", func() int { return len(s.machines()) }},
		{"nodes", s.ready},
	} {
		enough := 1 + dice.IntN(needed*2/3)
		s.Eventually(fmt.Sprintf("there are %d %s", enough, moment.name), func(context.Context) (bool, string) {
			n := moment.count()
			return n >= enough, fmt.Sprintf("there are %d", n)
		})
		t.Logf("killed at %d %s, to be %d", moment.count(), moment.name, needed)
		s.kill(controller())
	}
	s.Running("inflate", pods)
	s.settled(needed)
}

// settled checks that claims, nodes and machines agree, and that there are no more than needed.
func (s *story) settled(needed int) {
	s.Helper()
	s.Eventually("every machine is a node with its claim", func(context.Context) (bool, string) {
		claims, machines := s.claims(), s.machines()
		for _, claim := range claims {
			if machines[claim.Status.ProviderID] != claim.Name || claim.Status.NodeName == "" {
				return false, fmt.Sprintf("%s has machine %q and node %q", claim.Name, claim.Status.ProviderID, claim.Status.NodeName)
			}
		}
		return len(claims) == len(machines), fmt.Sprintf("%d claims, %d machines", len(claims), len(machines))
	})
	// Three machines in a hundred may be superfluous.
	if n := len(s.machines()); n > needed+needed*3/100 {
		s.Errorf("%d machines, %d are needed", n, needed)
	}
	s.Logf("%d machines, %d are needed", len(s.machines()), needed)
}

// ready returns how many claims are ready.
func (s *story) ready() int {
	n := 0
	for _, claim := range s.claims() {
		for _, c := range claim.Status.Conditions {
			if c.Type == "Ready" && c.Status == metav1.ConditionTrue {
				n++
			}
		}
	}
	return n
}

// kill ends a component at once, and waits until the lab has started it again.
func (s *story) kill(name string) {
	s.Helper()
	before := s.component(name)
	if err := syscall.Kill(before.Pid, syscall.SIGKILL); err != nil {
		s.Fatalf("kill %s: %v", name, err)
	}
	s.Eventually(name+" runs again", func(context.Context) (bool, string) {
		now := s.component(name)
		return now.Pid != before.Pid && now.State == "ready", fmt.Sprintf("it is %s", now.State)
	})
}

func (s *story) component(name string) state.Component {
	s.Helper()
	record, _, err := s.Lab.Directory.Load()
	if err != nil {
		s.Fatal(err)
	}
	component, found := record.Find(name)
	if !found {
		s.Fatalf("%s is not among the components", name)
	}
	return component
}
