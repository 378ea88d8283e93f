package whatif

import (
	"bytes"
	"strings"
	"testing"

	"tenon/core/snapshot"
	"tenon/internal/testing/randomcluster"
)

// A trial never changes the given snapshot, and its result can be written and read again.
func TestTheOriginalStays(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		s := randomcluster.World(seed, 12).Snapshot()
		before := written(t, s)
		var trial Trial
		for i := range s.Nodes {
			trial.Without = append(trial.Without, Object{Kind: "Node", Name: s.Nodes[i].Name})
			break
		}
		for i := range s.Pods {
			if kind, name, ok := strings.Cut(s.Templates[s.Pods[i].Template].Owner, "/"); ok {
				trial.Scales = []Scale{{Object{Kind: kind, Namespace: s.Pods[i].Namespace, Name: name}, 30}}
				break
			}
		}
		for _, c := range s.Catalogs {
			trial.Interrupted = []string{c.Types[0].Offerings[0].Zone}
			break
		}
		out, _, err := trial.Apply(s)
		if err != nil && !strings.Contains(err.Error(), "spot") && !strings.Contains(err.Error(), "no pod that others") {
			t.Fatalf("seed %d: %s", seed, err)
		}
		if written(t, s) != before {
			t.Fatalf("seed %d: the snapshot was changed", seed)
		}
		if err != nil {
			continue
		}
		if _, err := snapshot.Read(strings.NewReader(written(t, out))); err != nil {
			t.Errorf("seed %d: %s", seed, err)
		}
	}
}

func written(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	var text bytes.Buffer
	if err := snapshot.Write(&text, s); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// With fewer replicas pending pods are removed first, then the youngest; a workload whose name exists
// in two namespaces needs the namespace.
func TestScale(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{
		Templates: []snapshot.Template{{Namespace: "a", Owner: "Deployment/web"}, {Namespace: "b", Owner: "Deployment/web"}},
		Pods: []snapshot.Pod{
			{Namespace: "a", Name: "web-1", Node: "n"}, {Namespace: "a", Name: "web-2", Pending: true}, {Namespace: "a", Name: "web-3", Node: "n"},
			{Namespace: "b", Name: "web-1", Node: "n", Template: 1},
		},
	}
	for name, tc := range map[string]struct {
		scale, want string
	}{
		"more":                  {"deployment/a/web=5", "a/web-1 a/web-2 a/web-3 a/web-whatif-3 a/web-whatif-4 b/web-1"},
		"the same":              {"deployment/b/web=1", "a/web-1 a/web-2 a/web-3 b/web-1"},
		"one less":              {"deploy/a/web=2", "a/web-1 a/web-3 b/web-1"},
		"two less":              {"deployments/a/web=1", "a/web-1 b/web-1"},
		"none":                  {"deployment/b/web=0", "a/web-1 a/web-2 a/web-3"},
		"of two namespaces":     {"deployment/web=3", "several"},
		"of no pod":             {"deployment/api=3", "give its manifest"},
		"a kind without number": {"daemonset/a/web=3", "has no replicas"},
		"a number that is none": {"deployment/a/web=-1", "is not a number of replicas"},
		"a name in four parts":  {"deployment/a/b/web=1", "is neither"},
	} {
		scale, err := ParseScale(tc.scale)
		got := ""
		if err == nil {
			var out *snapshot.Snapshot
			trial := Trial{Scales: []Scale{scale}}
			if out, _, err = trial.Apply(s); err == nil {
				got = keys(out)
			}
		}
		if err != nil {
			got = err.Error()
		}
		if got != tc.want && (err == nil || !strings.Contains(got, tc.want)) {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func keys(s *snapshot.Snapshot) string {
	var names []string
	for i := range s.Pods {
		names = append(names, s.Pods[i].Key())
	}
	return strings.Join(names, " ")
}

// Pods of a lost node need a place if their controllers create them again; daemons and bare pods
// are lost.
func TestLost(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{
		Nodes:     []snapshot.Node{{Name: "n", Pool: "p"}, {Name: "m", Pool: "q"}},
		Pools:     []snapshot.Pool{{Name: "p"}, {Name: "q"}},
		Templates: []snapshot.Template{{Owner: "ReplicaSet/x"}, {Owner: "DaemonSet/d", Daemon: true}},
		Pods: []snapshot.Pod{
			{Namespace: "a", Name: "back", Node: "n", Tie: snapshot.Tie{Returns: true, Budgets: []string{"b"}}}, {Namespace: "a", Name: "bare", Node: "n"},
			{Namespace: "a", Name: "daemon", Node: "n", Template: 1, Tie: snapshot.Tie{Returns: true}}, {Namespace: "a", Name: "stays", Node: "m"},
		},
	}
	trial := Trial{Without: []Object{{Kind: "NodePool", Name: "p"}}}
	out, effect, err := trial.Apply(s)
	if err != nil || keys(out) != "a/back a/stays" || !out.Pods[0].Pending || out.Pods[0].Node != "" || len(out.Pools) != 1 || effect.Pods != 1 || strings.Join(effect.Nodes, "") != "n" {
		t.Errorf("%v %s %+v", err, keys(out), effect)
	}
}
