package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tenon/core/model"
	"tenon/core/reason"
)

// What is shown without --explain.
const (
	manyGroups = 8
	manyPools  = 2
	fewNames   = 3
)

// unplacedGroup is pods of one workload without a place, for one reason.
type unplacedGroup struct {
	workload string
	verdict  *reason.Verdict
	pods     []int
}

func (t *writer) unplaced() {
	groups := t.groupUnplaced()
	if len(groups) == 0 {
		return
	}
	t.line("")
	t.line("%s", t.colored(bold, "Pods without a place"))
	shown := groups
	if !t.o.Explain {
		shown = groups[:min(len(groups), manyGroups)]
	}
	for i := range shown {
		t.unplacedGroup(&shown[i])
	}
	rest := 0
	for _, g := range groups[len(shown):] {
		rest += len(g.pods)
	}
	if rest > 0 {
		t.paragraph(2, faint, fmt.Sprintf("and %s of %s; --explain tells of all", plural(rest, "pod", "pods"), plural(len(groups)-len(shown), "other workload", "other workloads")))
	}
}

// groupUnplaced puts the groups with most pods first.
func (t *writer) groupUnplaced() []unplacedGroup {
	type key struct {
		workload string
		verdict  *reason.Verdict
	}
	at := map[key]int{}
	var groups []unplacedGroup
	for _, u := range t.p.Plan.Unplaced {
		k := key{t.workloadOrShape(u.Pod), u.Verdict}
		n, known := at[k]
		if !known {
			n = len(groups)
			at[k] = n
			groups = append(groups, unplacedGroup{workload: t.workload(u.Pod), verdict: u.Verdict})
		}
		groups[n].pods = append(groups[n].pods, u.Pod)
	}
	slices.SortStableFunc(groups, func(a, b unplacedGroup) int {
		return cmp.Or(cmp.Compare(len(b.pods), len(a.pods)), strings.Compare(a.workload, b.workload), cmp.Compare(a.pods[0], b.pods[0]))
	})
	return groups
}

// workloadOrShape puts pods without an owner together when they share a verdict.
func (t *writer) workloadOrShape(pod int) string {
	p := &t.p.Snapshot.Pods[pod]
	if t.p.Snapshot.Templates[p.Template].Owner == "" {
		return p.Namespace
	}
	return t.workload(pod)
}

func (t *writer) unplacedGroup(g *unplacedGroup) {
	t.paragraph(2, plain, t.heading(g))
	requests := t.p.Snapshot.Templates[t.p.Snapshot.Pods[g.pods[0]].Template].Requests
	t.paragraph(4, faint, "requests "+requestText(requests))
	if g.verdict.General.Code != reason.None {
		t.paragraph(4, red, g.verdict.General.Text())
	}
	pools := g.verdict.Promising()
	most := len(pools)
	if !t.o.Explain {
		most = min(most, manyPools)
	}
	for _, p := range pools[:most] {
		t.paragraph(4, plain, "pool "+p.Pool+": "+p.Text())
	}
	if rest := reason.Summary(pools[most:], most); rest != "" {
		t.paragraph(4, plain, rest)
	}
	if remedy := g.verdict.RemedyText(); remedy != "" {
		t.paragraph(4, green, remedy)
	}
}

func (t *writer) heading(g *unplacedGroup) string {
	names := make([]string, 0, fewNames)
	for _, p := range g.pods[:min(len(g.pods), fewNames)] {
		names = append(names, t.p.Snapshot.Pods[p].Name)
	}
	text := strings.Join(names, ", ")
	if rest := len(g.pods) - len(names); rest > 0 {
		text += ", …"
	}
	if t.p.Snapshot.Templates[t.p.Snapshot.Pods[g.pods[0]].Template].Owner == "" {
		if len(g.pods) == 1 {
			return g.workload
		}
		return fmt.Sprintf("%s in %s: %s", plural(len(g.pods), "pod", "pods"), t.p.Snapshot.Pods[g.pods[0]].Namespace, text)
	}
	return fmt.Sprintf("%s of %s: %s", plural(len(g.pods), "pod", "pods"), g.workload, text)
}

func requestText(r model.Resources) string {
	var parts []string
	for _, a := range r.Amounts() {
		if a.Name != model.Pods {
			parts = append(parts, a.Name+" "+reason.Readable(a.Name, a.Value))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
