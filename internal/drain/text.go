package drain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/podpolicy"
	"tenon/internal/surge"
)

// How many names are listed before the rest is only counted: the text has to fit into an event,
// which has room for a kilobyte.
const (
	longest   = 1024
	fewCauses = 4
	fewPods   = 3
	fewNames  = 5
)

// Explain says in words what holds up a drain, since when, and what happens next. It is empty when
// nothing does. The text changes only when its facts do, not with every second: it is written into
// a status.
func Explain(s State, holds []Hold) string {
	if len(holds) == 0 {
		return ""
	}
	for most := fewCauses; ; most-- { // the end, which says what happens next, must not be cut off
		text := fmt.Sprintf("Draining since %s. %s. %s", stamp(s.Since), strings.Join(causes(holds, most), "; "), Outlook(s, holds))
		if len(text) <= longest || most == 1 {
			return text
		}
	}
}

// causes are one phrase for each cause that holds pods, and the number of causes left out.
func causes(holds []Hold, most int) []string {
	var phrases []string
	pods := map[string][]string{}
	for _, h := range holds {
		phrase := h.phrase()
		if _, known := pods[phrase]; !known {
			phrases = append(phrases, phrase)
		}
		pods[phrase] = append(pods[phrase], nameOf(h.Pod))
	}
	for i, phrase := range phrases {
		phrases[i] = phrase + " " + Few(pods[phrase], fewPods)
	}
	if more := len(phrases) - most; more > 0 {
		phrases = append(phrases[:most], fmt.Sprintf("and %d other reason(s)", more))
	}
	return phrases
}

// phrase is the text before the pods that a cause holds.
func (h Hold) phrase() string {
	switch h.Cause {
	case Protected:
		if h.Until.IsZero() {
			return karpenterv1.AnnotationDoNotDisrupt + " holds"
		}
		return fmt.Sprintf("%s until %s holds", karpenterv1.AnnotationDoNotDisrupt, stamp(h.Until))
	case Budget:
		return h.instead() + describe(h.Budgets[0]) + " holds"
	case Budgets:
		names := make([]string, len(h.Budgets))
		for i, b := range h.Budgets {
			names[i] = nameOf(b)
		}
		slices.Sort(names)
		return fmt.Sprintf("%seviction does not support more than one PodDisruptionBudget a pod, and %s together hold", h.instead(), Few(names, fewNames))
	case Ending:
		return "told to leave, and not waited for after " + stamp(h.Until) + ":"
	case Surging:
		return surge.Annotation + " holds, until the pod that is made in its place is Ready,"
	}
	return "something unknown holds"
}

// instead says why a pod is evicted although it asked to be replaced first.
func (h Hold) instead() string {
	if h.Unsurged == "" {
		return ""
	}
	return fmt.Sprintf("%s does not help (%s), and ", surge.Annotation, h.Unsurged)
}

// describe names a budget with its numbers, and says if it can never allow an eviction.
func describe(b *policyv1.PodDisruptionBudget) string {
	text := "PodDisruptionBudget " + nameOf(b)
	if why := podpolicy.Never(b); why != "" {
		return fmt.Sprintf("%s, which can never allow a disruption (%s),", text, why)
	}
	text += fmt.Sprintf(" (currentHealthy %d, desiredHealthy %d, disruptionsAllowed %d",
		b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.DisruptionsAllowed)
	for _, c := range b.Status.Conditions {
		if c.Type == policyv1.DisruptionAllowedCondition && c.Status == metav1.ConditionFalse {
			text += ", since " + stamp(c.LastTransitionTime.Time)
		}
	}
	return text + ")"
}

// Outlook says what happens next.
func Outlook(s State, holds []Hold) string {
	var first time.Time
	lasting := false
	for _, h := range holds {
		first = earliest(first, h.Forced)
		lasting = lasting || h.lasts()
	}
	switch {
	case s.Deadline.IsZero() && lasting:
		return "Without a terminationGracePeriod the node waits for as long as they hold it."
	case s.Deadline.IsZero():
		return "The node waits for them; nothing has to be done."
	case !s.Now.Before(s.Deadline):
		return fmt.Sprintf("All pods are being deleted: the time of the node was over at %s.", stamp(s.Deadline))
	case first.IsZero() || first.After(s.Deadline):
		return fmt.Sprintf("The node goes at %s.", stamp(s.Deadline))
	case first.Before(s.Now):
		return fmt.Sprintf("Pods whose own grace period would not end by then are being deleted; all will be by %s.", stamp(s.Deadline))
	}
	return fmt.Sprintf("From %s on pods are deleted even if something holds them, each early enough to end by %s.", stamp(first), stamp(s.Deadline))
}

// Few returns the first names, and the number of the others.
func Few(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d other(s)", strings.Join(names[:most], ", "), len(names)-most)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func nameOf(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }
