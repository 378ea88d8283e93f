package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// What is shown without --explain.
const (
	manyGroups = 8
	manyPools  = 2
	fewNames   = 3
)

// unplacedGroup is pods without a place, for the same reasons, by workload.
type unplacedGroup struct {
	verdict   *reason.Verdict
	pods      []snapshot.PodIndex
	workloads []string
	counts    map[string]int
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
		t.unplacedGroup(shown[i])
	}
	rest := 0
	for _, g := range groups[len(shown):] {
		rest += len(g.pods)
	}
	if rest > 0 {
		t.paragraph(2, faint, fmt.Sprintf("and %s of %s; --explain tells of all", plural(rest, "pod", "pods"), plural(len(groups)-len(shown), "other group", "other groups")))
	}
}

// groupUnplaced puts pods together whose requests and reasons read the same, and the groups
// with most pods first.
func (t *writer) groupUnplaced() []*unplacedGroup {
	texts := map[*reason.Verdict]string{}
	at := map[string]*unplacedGroup{}
	var groups []*unplacedGroup
	for _, u := range t.p.Plan.Unplaced {
		text, known := texts[u.Verdict]
		if !known {
			text = wholeText(u.Verdict)
			texts[u.Verdict] = text
		}
		text += "\n" + requestText(t.requests(u.Pod))
		g := at[text]
		if g == nil {
			g = &unplacedGroup{verdict: u.Verdict, counts: map[string]int{}}
			at[text] = g
			groups = append(groups, g)
		}
		g.add(u.Pod, t.workloadOrNamespace(u.Pod))
	}
	slices.SortStableFunc(groups, func(a, b *unplacedGroup) int {
		return cmp.Or(cmp.Compare(len(b.pods), len(a.pods)), strings.Compare(a.workloads[0], b.workloads[0]), cmp.Compare(a.pods[0], b.pods[0]))
	})
	return groups
}

// wholeText is all that a verdict says, however long.
func wholeText(v *reason.Verdict) string {
	parts := []string{v.General.Text(), v.RemedyText()}
	for i := range v.Pools {
		parts = append(parts, v.Pools[i].Pool, v.Pools[i].Text())
	}
	return strings.Join(parts, "\n")
}

func (g *unplacedGroup) add(pod snapshot.PodIndex, workload string) {
	if g.counts[workload] == 0 {
		g.workloads = append(g.workloads, workload)
	}
	g.counts[workload]++
	g.pods = append(g.pods, pod)
}

// workloadOrNamespace is the owner of a pod, and for pods without one where they are.
func (t *writer) workloadOrNamespace(pod snapshot.PodIndex) string {
	p := &t.p.Snapshot.Pods[pod]
	if t.p.Snapshot.Templates[p.Template].Owner == "" {
		return "namespace " + p.Namespace
	}
	return t.workload(pod)
}

func (t *writer) requests(pod snapshot.PodIndex) model.Resources {
	return t.p.Snapshot.Templates[t.p.Snapshot.Pods[pod].Template].Requests
}

func (t *writer) unplacedGroup(g *unplacedGroup) {
	t.paragraph(2, plain, t.heading(g))
	t.paragraph(4, faint, "requests "+requestText(t.requests(g.pods[0])))
	if g.verdict.General.Code != reason.None {
		t.paragraph(4, red, g.verdict.GeneralText())
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

// heading names some pods of one workload, or some of several workloads.
func (t *writer) heading(g *unplacedGroup) string {
	if len(g.workloads) == 1 {
		names := make([]string, len(g.pods))
		for i, p := range g.pods {
			names[i] = t.p.Snapshot.Pods[p].Name
		}
		return fmt.Sprintf("%s of %s: %s", plural(len(g.pods), "pod", "pods"), g.workloads[0], joined(names, fewNames))
	}
	texts := make([]string, len(g.workloads))
	for i, w := range g.workloads {
		texts[i] = fmt.Sprintf("%s (%s)", w, thousands(g.counts[w]))
	}
	return fmt.Sprintf("%s of %d workloads: %s", plural(len(g.pods), "pod", "pods"), len(texts), joined(texts, fewNames))
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
