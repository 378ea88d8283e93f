package viewer

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/teatest/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/internal/intervention"
	"tenon/internal/journal"
	"tenon/internal/view"
)

// With -rewrite the tests write golden files anew, to be reviewed like code.
var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func quantities(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourcePods: resource.MustParse("58")}
}

// sample is a fleet whose real use is not measured.
func sample() *view.Fleet { return sampled(nil) }

// sampled is a fleet with one of everything: two pools and a node group, a starting node, a leaving node,
// one without a price, daemons, and pods that wait.
func sampled(used map[string]model.Resources) *view.Fleet {
	s := view.NewState(nil)
	s.Measure(used)
	s.PricedIn(func(string) string { return "USD" })
	hours := 0
	node := func(name, pool, price, kind, capacity string, ready bool) {
		hours += 7
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-time.Duration(hours) * time.Hour)), Labels: map[string]string{
			corev1.LabelInstanceTypeStable: kind, corev1.LabelTopologyZone: "us-west-2a", karpenterv1.LabelCapacityType: capacity, view.PriceLabel: price, "team": "web",
		}}}
		n.Labels[karpenterv1.LabelNodePool] = pool
		if pool == "" {
			delete(n.Labels, karpenterv1.LabelNodePool)
			n.Labels["eks.amazonaws.com/nodegroup"] = "base"
		}
		n.Status.Allocatable = quantities("4", "16Gi")
		status := corev1.ConditionFalse
		if ready {
			status = corev1.ConditionTrue
		}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.NewTime(noon.Add(-3 * time.Minute))}}
		s.Put(n)
	}
	claim := func(name, node, pool string, conditions ...metav1.Condition) *karpenterv1.NodeClaim {
		c := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-time.Minute)), Labels: map[string]string{karpenterv1.LabelNodePool: pool}}}
		c.Status.NodeName, c.Status.ProviderID, c.Status.Conditions = node, "aws:///us-west-2a/i-0"+name, conditions
		return c
	}
	condition := func(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(noon.Add(-40 * time.Second))}
	}
	yes := true
	pod := func(name, on, cpu, memory, owner string) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))}, Spec: corev1.PodSpec{NodeName: on}}
		kind, owner, _ := strings.Cut(owner, "/")
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: owner, UID: "1", Controller: &yes}}
		p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: quantities(cpu, memory)}}}
		p.Status.Phase = corev1.PodRunning
		if on == "" {
			p.Status.Phase = corev1.PodPending
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/6 nodes are available: 6 Insufficient cpu."}}
		}
		if name == "db-0" {
			p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
		}
		s.Put(p)
	}
	limits := quantities("20", "100Gi")
	delete(limits, corev1.ResourcePods)
	for _, name := range []string{"default", "spot"} {
		p := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if name == "default" {
			p.Spec.Limits = karpenterv1.Limits(limits)
			p.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "50%"}, {Nodes: "0", Reasons: []karpenterv1.DisruptionReason{karpenterv1.DisruptionDrifted}}}
			p.Status.Conditions = []metav1.Condition{condition(karpenterv1.ConditionLimitReached, metav1.ConditionTrue, "LimitReached", "2 pods wait for nodes that the limit of cpu forbids")}
		}
		s.Put(p)
	}
	node("ip-10-0-1-9.us-west-2.compute.internal", "default", "0.192", "m5.xlarge", "on-demand", true)
	node("ip-10-0-1-10.us-west-2.compute.internal", "default", "0.192", "m5.xlarge", "on-demand", true)
	node("ip-10-0-2-7.us-west-2.compute.internal", "spot", "0.071", "m6i.xlarge", "spot", true)
	node("ip-10-0-2-8.us-west-2.compute.internal", "spot", "", "z9.xlarge", "spot", false)
	node("ip-10-0-3-1.us-west-2.compute.internal", "", "0.192", "m5.xlarge", "on-demand", true)
	initialized := condition(karpenterv1.ConditionInitialized, metav1.ConditionTrue, "Initialized", "")
	s.Put(claim("default-9", "ip-10-0-1-9.us-west-2.compute.internal", "default", initialized,
		condition(karpenterv1.ConditionDisruptable, metav1.ConditionFalse, "Blocked", `Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=shop/db-0)`)))
	s.Put(claim("default-10", "ip-10-0-1-10.us-west-2.compute.internal", "default", initialized,
		condition(karpenterv1.ConditionDisruptable, metav1.ConditionFalse, "Kept", "Can't replace with a cheaper node")))
	going := claim("spot-7", "ip-10-0-2-7.us-west-2.compute.internal", "spot", initialized)
	going.DeletionTimestamp = &metav1.Time{Time: noon.Add(-90 * time.Second)}
	s.Put(going)
	s.Put(claim("spot-new", "", "spot", condition(karpenterv1.ConditionLaunched, metav1.ConditionTrue, "Launched", "")))
	for i, at := range []string{"ip-10-0-1-9", "ip-10-0-1-10", "ip-10-0-2-7", "ip-10-0-3-1"} {
		at += ".us-west-2.compute.internal"
		pod(fmt.Sprintf("agent-%d", i), at, "200m", "512Mi", "DaemonSet/agent")
		pod(fmt.Sprintf("web-%d", i), at, fmt.Sprintf("%d00m", 9*(4-i)), "4Gi", "ReplicaSet/web")
	}
	pod("db-0", "ip-10-0-1-9.us-west-2.compute.internal", "100m", "9Gi", "StatefulSet/db")
	pod("web-8", "", "8", "4Gi", "ReplicaSet/web")
	pod("web-9", "", "8", "4Gi", "ReplicaSet/web")
	about := func(kind, namespace, name string) corev1.ObjectReference {
		return corev1.ObjectReference{Kind: kind, Namespace: namespace, Name: name}
	}
	s.Put(&corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "e1"}, InvolvedObject: about("Pod", "shop", "web-8"), Reason: "FailedScheduling", LastTimestamp: metav1.NewTime(noon), Source: corev1.EventSource{Component: "karpenter"},
		Message: "Failed to schedule pod, pool default: limit of cpu is reached (20 of 20); pool spot: no instance type met all requirements; smallest change: raise the limit of cpu of pool default by 4"})
	s.Put(&corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "e2"}, InvolvedObject: about("Node", "", "ip-10-0-2-7.us-west-2.compute.internal"), Reason: "DisruptionTerminating", LastTimestamp: metav1.NewTime(noon.Add(-90 * time.Second)),
		Source: corev1.EventSource{Component: "karpenter"}, Message: "Disrupting Node: Underutilized/x7k2p"})
	return s.Fleet()
}

func options() Options {
	return Options{Title: "lab", Style: DefaultStyle(), Clock: func() time.Time { return noon }}
}

func shown(o Options, width, height int, keys ...string) *Model {
	m := New(o)
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.Update(Fleet{Fleet: sample()})
	m.Update(decided())
	m.Text() // the first drawing determines how many rows have room
	for _, key := range keys {
		// An answer comes at once.
		if _, next := m.Update(press(key)); next != nil {
			m.Update(next())
		}
		m.Text()
	}
	return m
}

// consulted are options with which every question is answered, except about decision 4712, whose snapshot is gone.
func consulted() Options {
	o := options()
	o.Answers = Answers{
		Describe: func(kind, name string) (view.Details, bool) {
			d := view.Details{Kind: kind, Name: name, Sections: []view.Section{{Title: "Claim", Facts: []view.Fact{{Name: "expires after", Value: "720h"}, {Name: "image", Value: "ami-1"}}}},
				Conditions: []view.Condition{{Of: "NodeClaim", Type: "Disruptable", Status: "False", Reason: "Blocked", Message: "a pod forbids it", Since: noon.Add(-time.Minute)}, {Of: "Node", Type: "DiskPressure", Status: "True", Attention: true}}}
			if kind == "NodePool" {
				d.Budgets = &view.Budgets{Nodes: 3, Allowed: []view.Allowance{{Reason: "Empty", Nodes: 1}}, Lines: []view.Budget{{Nodes: "0", Reasons: []string{"Drifted"}, Schedule: "0 9 * * 1-5", Duration: "8h"}}}
			}
			return d, true
		},
		Explain: func(kind, name string, decision int64) (string, error) {
			return fmt.Sprintf("%s %s: Blocked\n  holds: pod shop/db-0: its annotation do-not-disrupt\n  holds: PodDisruptionBudget shop/db lets none of its pods go now: db-0, and this sentence goes on beyond the edge of the screen (%d)\n", kind, name, decision), nil
		},
		WhatIf: func(change string, _ int64) (string, error) {
			if change == "?" {
				return "", errors.New("? is no change")
			}
			return "What if: " + change + "\n\nNodes  3  2  -1\n", nil
		},
		Past: func(decision int64) (*view.Fleet, error) {
			if decision == 4712 {
				return nil, errors.New("decision 4712: its snapshot is not kept any more")
			}
			return sample().Where(func(n *view.Node) bool { return n.Pool == "spot" }), nil
		},
		Change: func(c intervention.Change) (string, error) {
			if c.Verb == intervention.Cordon {
				return "", errors.New("cordon node/a: nothing to do: it is so already")
			}
			return "Done: " + c.String() + ", as alice.\n", nil
		},
	}
	return o
}

// TestUseIsShownWhereItIsMeasured compares screens of a fleet whose real use is measured, except of one node, with golden files.
func TestUseIsShownWhereItIsMeasured(t *testing.T) {
	t.Parallel()
	used := map[string]model.Resources{}
	for i, node := range []string{"1-9", "1-10", "2-7", "2-8"} {
		used["ip-10-0-"+node+".us-west-2.compute.internal"] = model.Resources{CPU: int64(300 + 700*i), Memory: int64(9-2*i) << 30}
	}
	for name, tc := range map[string]struct {
		width int
		keys  []string
	}{"used-80": {80, nil}, "used-140": {140, []string{"g", "g", "g", "g", "s", "s"}}, "used-detail": {120, []string{"down", "down", "down", "enter"}}} {
		m := New(options())
		m.Update(tea.WindowSizeMsg{Width: tc.width, Height: 24})
		m.Update(Fleet{Fleet: sampled(used)})
		m.Text()
		for _, key := range tc.keys {
			m.Update(press(key))
		}
		var lines []string
		for line := range strings.SplitSeq(ansi.Strip(m.Text()), "\n") {
			if ansi.StringWidth(line) > tc.width {
				t.Errorf("%s: a line is %d wide: %s", name, ansi.StringWidth(line), line)
			}
			lines = append(lines, strings.TrimRight(line, " "))
		}
		golden(t, name, strings.Join(lines, "\n")+"\n")
	}
}

// TestAnswersComeLate checks that an answer is shown only while its question is open, and a past moment only while it is asked for.
func TestAnswersComeLate(t *testing.T) {
	t.Parallel()
	m := shown(consulted(), 80, 24, "down")
	_, first := m.Update(press("w"))
	m.Update(press("esc"))
	if m.Update(first()); m.pane != nil {
		t.Errorf("the answer to a question that was left opens %+v", m.pane)
	}
	m.Update(press("w"))
	if m.Update(first()); m.pane.text != "Working it out …" {
		t.Errorf("the answer to the question before is shown: %s", m.pane.text)
	}
	m.Update(press("esc"))
	m.Update(press("["))
	_, older := m.Update(press("["))
	m.Update(press("esc"))
	if m.Update(older()); m.past != nil || m.fleet.Total.Nodes != sample().Total.Nodes {
		t.Errorf("a past moment that was left is shown: %+v", m.past)
	}
}

// TestThePastStays checks that news of the cluster do not replace the past moment that is shown, and are shown after it.
func TestThePastStays(t *testing.T) {
	t.Parallel()
	m := shown(consulted(), 80, 24, "[", "[")
	m.Update(Fleet{Fleet: sample().Where(func(n *view.Node) bool { return n.Pool == "default" })})
	if m.past == nil || m.fleet.Total.Nodes != 3 || m.now() != noon.Add(-2*time.Minute) {
		t.Errorf("the past became %+v of %d nodes", m.past, m.fleet.Total.Nodes)
	}
	if m.Update(press("esc")); m.past != nil || m.fleet.Total.Nodes != 2 || m.now() != noon {
		t.Errorf("after the past %d nodes are shown", m.fleet.Total.Nodes)
	}
}

// TestChangesAreConfirmed checks that a change is made once, and only after its confirmation was typed.
func TestChangesAreConfirmed(t *testing.T) {
	t.Parallel()
	var made []string
	o := consulted()
	o.Answers.Change = func(c intervention.Change) (string, error) {
		made = append(made, c.String())
		return "Done", nil
	}
	for _, keys := range [][]string{{"1", "enter"}, {"1", "n", "enter"}, {"1", "y", "e", "s", "esc"}, {"9"}, {"esc"}} {
		if shown(o, 80, 24, append([]string{"down", "a"}, keys...)...); len(made) > 0 {
			t.Errorf("%v: %v was done", keys, made)
		}
	}
	if shown(o, 80, 24, "down", "a", "2", "y", "e", "s", "enter"); !slices.Equal(made, []string{"unpin node/ip-10-0-3-1.us-west-2.compute.internal"}) {
		t.Errorf("done: %v", made)
	}
}

// decided is a journal's tail.
func decided() Decisions {
	saved := 0.121
	return Decisions{Entries: []journal.Entry{
		{ID: 4712, Decision: journal.Decision{At: noon.Add(-5 * time.Second), By: "provisioner", Woke: "pod shop/web-8",
			Unplaced: []journal.Unplaced{{Pods: 2, Names: []string{"shop/web-8", "shop/web-9"}, Why: "pool default: limit of cpu is reached (20 of 20); pool spot: no instance type met all requirements"}}}},
		{ID: 4698, Decision: journal.Decision{At: noon.Add(-2 * time.Minute), By: "disruption", Woke: "the usual time", Cost: &journal.Cost{Before: 0.768, After: 0.647, Currency: "USD"},
			Disruptions: []journal.Disruption{{Reason: "Underutilized", Decision: "delete", Nodes: []string{"ip-10-0-2-7.us-west-2.compute.internal"}, Evictions: 2, Savings: saved}}},
			Outcomes: []journal.Outcome{{At: noon.Add(-119 * time.Second), Action: journal.ActionDisrupt, NodeClaims: []string{"spot-7"}, Result: journal.Begun}}, Again: 3},
	}}
}

// press returns a key: a special one by its name, or a letter.
func press(name string) tea.KeyPressMsg {
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "down": tea.KeyDown, "up": tea.KeyUp, "pgdown": tea.KeyPgDown, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "right": tea.KeyRight}
	if code, is := special[name]; is {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: rune(name[0]), Text: name}
}

// TestRenderings compares the screen, page by page and at several sizes, with golden files.
func TestRenderings(t *testing.T) {
	t.Parallel()
	classic := options()
	classic.Classic, classic.Resources, classic.Labels, classic.Sort = true, []string{"cpu", "memory"}, []string{"team", "eks-node-viewer/node-cpu-usage"}, "creation=dsc"
	letters := options()
	letters.Style.ASCII = true
	unpriced := options()
	unpriced.NoPrices = true
	cases := map[string]struct {
		options       Options
		width, height int
		keys          []string
	}{
		"nodes-80":        {options(), 80, 24, nil},
		"nodes-120":       {options(), 120, 24, []string{"down"}},
		"nodes-200":       {options(), 200, 30, nil},
		"nodes-40":        {options(), 40, 12, nil},
		"nodes-by-zone":   {options(), 120, 24, []string{"g"}},
		"nodes-by-type":   {options(), 80, 24, []string{"g", "g", "enter"}},
		"nodes-flat":      {options(), 120, 24, []string{"g", "g", "g", "g", "s"}},
		"nodes-columns":   {options(), 80, 24, []string{"c", "t", "y", "p", "e", ",", "p", "r", "i", "c", "e", "/", "h", "enter"}},
		"nodes-folded":    {options(), 80, 24, []string{"enter"}},
		"nodes-filtered":  {options(), 80, 24, []string{"/", "s", "p", "o", "t", "enter"}},
		"nodes-no-match":  {options(), 80, 24, []string{"/", "x", "y", "z"}},
		"nodes-ascii":     {letters, 80, 24, nil},
		"nodes-unpriced":  {unpriced, 80, 24, nil},
		"detail-80":       {options(), 80, 24, []string{"down", "enter"}},
		"detail-120":      {options(), 120, 30, []string{"down", "down", "enter"}},
		"pools-80":        {options(), 80, 24, []string{"2", "down"}},
		"pools-160":       {options(), 160, 24, []string{"2", "down"}},
		"pending-80":      {options(), 80, 24, []string{"3"}},
		"pending-120":     {options(), 120, 24, []string{"3"}},
		"events-100":      {options(), 100, 24, []string{"4"}},
		"decisions-80":    {options(), 80, 24, []string{"5"}},
		"decisions-140":   {options(), 140, 30, []string{"5", "down"}},
		"describe-node":   {consulted(), 80, 24, []string{"down", "d"}},
		"describe-end":    {consulted(), 80, 24, []string{"down", "d", "end"}},
		"describe-pod":    {consulted(), 80, 24, []string{"3", "d"}},
		"describe-pool":   {consulted(), 80, 24, []string{"2", "down", "d"}},
		"describe-event":  {consulted(), 80, 24, []string{"4", "enter"}},
		"describe-choice": {consulted(), 120, 24, []string{"5", "down", "d"}},
		"why-node":        {consulted(), 80, 24, []string{"down", "w"}},
		"why-nothing":     {consulted(), 80, 24, []string{"w"}},
		"whatif-prompt":   {consulted(), 80, 24, []string{"down", "x"}},
		"whatif-replicas": {consulted(), 80, 24, []string{"3", "x"}},
		"whatif-answer":   {consulted(), 80, 24, []string{"down", "x", "enter"}},
		"whatif-wrong":    {consulted(), 80, 24, []string{"x", "?", "enter"}},
		"change-node":     {consulted(), 80, 24, []string{"down", "a"}},
		"change-pool":     {consulted(), 80, 24, []string{"2", "down", "a"}},
		"change-confirm":  {consulted(), 80, 24, []string{"down", "a", "1", "y"}},
		"change-done":     {consulted(), 80, 24, []string{"down", "a", "1", "y", "e", "s", "enter"}},
		"change-refused":  {consulted(), 80, 24, []string{"down", "a", "3", "y", "e", "s", "enter"}},
		"change-not":      {consulted(), 80, 24, []string{"down", "a", "1", "n", "o", "enter"}},
		"change-off":      {options(), 80, 24, []string{"down", "a"}},
		"change-past":     {consulted(), 80, 24, []string{"[", "[", "down", "a"}},
		"past":            {consulted(), 120, 24, []string{"[", "["}},
		"past-by-choice":  {consulted(), 80, 24, []string{"5", "down", "enter"}},
		"past-missing":    {consulted(), 80, 24, []string{"["}},
		"past-now-again":  {consulted(), 80, 24, []string{"[", "[", "]", "]"}},
		"help":            {options(), 80, 24, []string{"?"}},
		"classic-160":     {classic, 160, 24, nil},
		"classic-80-next": {classic, 80, 14, []string{"right"}},
		"too-small":       {options(), 30, 5, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := ansi.Strip(shown(tc.options, tc.width, tc.height, tc.keys...).Text()) + "\n"
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			for i, line := range lines {
				if ansi.StringWidth(line) > tc.width && name != "too-small" && name != "help" {
					t.Errorf("line %d is %d wide: %s", i, ansi.StringWidth(line), line)
				}
				lines[i] = strings.TrimRight(line, " ")
			}
			if len(lines) > tc.height {
				t.Errorf("%d lines on a screen of %d", len(lines), tc.height)
			}
			golden(t, name, strings.Join(lines, "\n")+"\n")
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestCursorsStayOnTheirRow checks that a new picture does not move the cursor to another node.
func TestCursorsStayOnTheirRow(t *testing.T) {
	t.Parallel()
	m := shown(options(), 80, 24, "g", "g", "g", "g", "end")
	before, _ := m.current().selected()
	m.Update(Fleet{Fleet: sample().Where(func(n *view.Node) bool { return n.Pool == "" || n.Pool == "spot" })})
	if after, _ := m.current().selected(); after.id != before.id {
		t.Errorf("the cursor went from %s to %s", before.id, after.id)
	}
}

// TestMouse checks that the wheel scrolls, a click chooses and a second one opens.
func TestMouse(t *testing.T) {
	t.Parallel()
	m := shown(options(), 80, 24)
	m.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	m.Text()
	if r, _ := m.current().selected(); m.current().cursor != 3 {
		t.Errorf("the wheel led to %s", r.id)
	}
	at := tea.MouseClickMsg{X: 10, Y: m.current().from + 1}
	m.Update(at)
	r, _ := m.current().selected()
	m.Text()
	m.Update(at)
	if m.detail != r.id || r.id == "" {
		t.Errorf("clicks on %s opened %q", r.id, m.detail)
	}
	m.Update(tea.MouseClickMsg{X: 1 + len("[1 Nodes (6)]"), Y: tabLine})
	if m.tab != poolsTab || m.detail != "" {
		t.Errorf("a click on the pools shows page %d", m.tab)
	}
}

// TestAClickOnATitleSorts checks that a click on a column's title sorts by it, and the next one turns the order around.
func TestAClickOnATitleSorts(t *testing.T) {
	t.Parallel()
	m := shown(options(), 80, 24, "g", "g", "g", "g")
	titles := m.current().from - 1
	price := strings.Index(strings.Split(ansi.Strip(m.Text()), "\n")[titles], "USD/H")
	order := func() []float64 {
		m.Update(tea.MouseClickMsg{X: price, Y: titles})
		m.Text()
		var out []float64
		for _, r := range m.current().rows {
			out = append(out, m.fleet.Find(r.id).Price.Float())
		}
		return out
	}
	up := order()
	down := order()
	if m.current().sort != "PRICE/H" || !slices.IsSorted(up) || up[0] == up[len(up)-1] {
		t.Errorf("sorted by %s: %v", m.current().sort, up)
	}
	if slices.Reverse(down); !slices.IsSorted(down) {
		t.Errorf("the second click left %v in the order of prices", down)
	}
	m.Update(tea.MouseClickMsg{X: 0, Y: titles})
	if m.current().sort != "PRICE/H" {
		t.Errorf("a click beside the titles sorts by %s", m.current().sort)
	}
}

// TestNumbersInNamesAreNumbers checks the order of names with numbers in them.
func TestNumbersInNamesAreNumbers(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"n9", "n10"}, {"n09", "n10"}, {"a", "b"}, {"a-2-x", "a-10-a"}, {"n", "n1"}} {
		if natural(pair[0], pair[1]) >= 0 || natural(pair[1], pair[0]) <= 0 {
			t.Errorf("%s does not come before %s", pair[0], pair[1])
		}
	}
}

// TestStylesAreThreeColours checks which texts are a style.
func TestStylesAreThreeColours(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{"#04B575,#FFFF00,#FF0000": true, "#04b575, #ffff00, #ff0000": true, "green,yellow,red": false, "#04B575,#FFFF00": false, "#04B57,#FFFF00,#FF0000": false} {
		if _, err := ParseStyle(text, false); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestProgram drives the program by keys as a user would: open a node, go back, look at what waits, quit.
func TestProgram(t *testing.T) {
	t.Parallel()
	tm := teatest.NewTestModel(t, New(options()), teatest.WithInitialTermSize(100, 30))
	tm.Send(Fleet{Fleet: sample()})
	for _, key := range []string{"down", "enter", "esc", "3"} {
		tm.Send(press(key))
	}
	teatest.WaitFor(t, tm.Output(), func(text []byte) bool { return strings.Contains(string(text), "shop/web-8") }, teatest.WithDuration(time.Minute))
	tm.Send(press("q"))
	final, ok := tm.FinalModel(t, teatest.WithFinalTimeout(time.Minute)).(*Model)
	if _, err := io.ReadAll(tm.FinalOutput(t)); err != nil || !ok || final.tab != pendingTab {
		t.Errorf("the program ended with %v on another page than that of pending pods", err)
	}
}
