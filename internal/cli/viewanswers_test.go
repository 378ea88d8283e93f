package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/snapshot"
	"tenon/internal/aws"
	"tenon/internal/journal"
)

// TestAnswersForTheViewer checks the answers of the viewer from a journal: what holds a node, what a change would do, and what the fleet
// was at a decision; and that a cluster of which a plan would be wrong is not planned for.
func TestAnswersForTheViewer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	folder := t.TempDir()
	j, err := journal.Open(journal.Options{Folder: folder, Bytes: 50 << 20}, now)
	if err != nil {
		t.Fatal(err)
	}
	j.PricedIn("USD")
	for i := range 2 {
		size := model.Resources{CPU: 4000, Memory: 16 << 30, Pods: 50}
		s := &snapshot.Snapshot{
			Now: now.Add(time.Duration(i) * time.Minute), Templates: []snapshot.Template{{Namespace: "shop", Owner: "StatefulSet/db", Requests: model.Resources{CPU: 1000, Pods: 1}}},
			Nodes: []snapshot.Node{{Name: "a", Initialized: true, Price: model.Unit / 5, Allocatable: size, Capacity: size}},
			Pods:  []snapshot.Pod{{Namespace: "shop", Name: "db-0", Node: "a", Tie: snapshot.Tie{Returns: true, Protected: true}}},
		}
		if i == 1 {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "b", Initialized: true, Price: model.Unit / 10, Allocatable: size, Capacity: size})
		}
		d := decide.Decide(s, decide.Budget{})
		j.Decided(journal.Record{By: "provisioner", Woke: "a test", Snapshot: s, Decision: &d})
	}
	env := Env{LookupEnv: func(string) (string, bool) { return "", false }, Cloud: aws.Cloud()}
	c := &viewAnswers{ctx: t.Context(), env: env, journal: folder}
	text, err := c.explain("node", "a", 0)
	if err != nil || !strings.Contains(text, "by decision 3, 2026-03-01T12:01:00Z") || !strings.Contains(text, "holds: pod shop/db-0: its annotation do-not-disrupt") {
		t.Errorf("why node a: %v\n%s", err, text)
	}
	text, err = c.whatIf("scale statefulset/shop/db=4; without node/b", 0)
	if err != nil || !strings.Contains(text, "What if: without node/b; scale statefulset/shop/db=4") || !strings.Contains(text, "Nodes                 ") {
		t.Errorf("what if: %v\n%s", err, text)
	}
	if _, err := c.whatIf("without node/b", 2); err == nil || !strings.Contains(err.Error(), "no Node/b") {
		t.Errorf("at the first decision, which had no node b: %v", err)
	}
	f, err := c.past(2)
	if err != nil || len(f.Nodes) != 1 || f.Currency != "USD" || f.Nodes[0].Price != model.Unit/5 || f.Nodes[0].Verdict.Word == "" {
		t.Errorf("the past: %v, %+v", err, f)
	}
	for question, want := range map[string]error{
		"decision 99 is no longer in the journal": last(c.past(99)),
		"a plan says nothing of a nodegroup":      last(c.explain("nodegroup", "a", 0)),
		`"drop it" is no change`:                  last(c.whatIf("drop it", 0)),
		"there is no node c":                      last(c.explain("node", "c", 0)),
	} {
		if want == nil || !strings.Contains(want.Error(), question) {
			t.Errorf("%v, want %q", want, question)
		}
	}
	kubeconfig := lonely(t)
	config, _, err := cluster(kubeconfig, "", env)
	if err != nil {
		t.Fatal(err)
	}
	live := &viewAnswers{ctx: t.Context(), env: env, config: config}
	both := &viewAnswers{ctx: t.Context(), env: env, config: config, journal: folder}
	if text, err := both.explain("node", "b", 0); err != nil || !strings.Contains(text, "by decision 3") {
		t.Errorf("a cluster that may not be read whole, with a journal: %v\n%s", err, text)
	}
	if _, err := live.explain("pod", "shop/web-1", 0); err == nil || !strings.Contains(err.Error(), "does not let this user list /apis/karpenter.sh/v1/nodepools") {
		t.Errorf("a cluster that may not be read whole: %v", err)
	}
}

func last[T any](_ T, err error) error { return err }

// TestChangesAreRead checks which texts are changes.
func TestChangesAreRead(t *testing.T) {
	t.Parallel()
	got, err := parseChange("without node/a ; scale deployment/web=5;spot-interrupted us-west-2a; with pool.yaml")
	if err != nil || !slices.Equal(got.Without, []string{"node/a"}) || !slices.Equal(got.Scale, []string{"deployment/web=5"}) || !slices.Equal(got.SpotInterrupted, []string{"us-west-2a"}) || !slices.Equal(got.With, []string{"pool.yaml"}) {
		t.Errorf("read as %+v, %v", got, err)
	}
	for _, text := range []string{"", "without", "drop node/a", "with -", "without node/a;"} {
		if _, err := parseChange(text); err == nil {
			t.Errorf("%q is a change", text)
		}
	}
}
