package kubelet

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Illness is a condition that a machine reports although it works: one of the kubelet's own conditions, or
// one that agents add, such as KernelReady.
type Illness struct {
	Type   v1.NodeConditionType
	Status v1.ConditionStatus
	// Since is when the condition began; zero means when it is first reported.
	Since time.Time
}

var conditionName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]{0,314}[A-Za-z0-9])?$`)

// ParseIllnesses reads a comma-separated list of TYPE=STATUS, with a time in RFC 3339 after an @ if it did
// not begin now. Empty text means no illness.
func ParseIllnesses(text string) ([]Illness, error) {
	var list []Illness
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		rest, since, timed := strings.Cut(strings.TrimSpace(word), "@")
		name, status, _ := strings.Cut(rest, "=")
		a := Illness{Type: v1.NodeConditionType(name), Status: v1.ConditionStatus(status)}
		if !conditionName.MatchString(name) || !slices.Contains([]v1.ConditionStatus{v1.ConditionTrue, v1.ConditionFalse, v1.ConditionUnknown}, a.Status) {
			return nil, fmt.Errorf("condition %q: want TYPE=True, TYPE=False or TYPE=Unknown", word)
		}
		if timed {
			at, err := time.Parse(time.RFC3339, since)
			if err != nil {
				return nil, fmt.Errorf("condition %q: want a time such as 2026-11-23T10:00:00Z behind the @", word)
			}
			a.Since = at
		}
		list = append(list, a)
	}
	return list, nil
}

// String returns the text that ParseIllnesses reads.
func (a Illness) String() string {
	text := string(a.Type) + "=" + string(a.Status)
	if !a.Since.IsZero() {
		text += "@" + a.Since.UTC().Format(time.RFC3339)
	}
	return text
}

// KubeletOwns reports whether every kubelet reports the condition.
func KubeletOwns(kind v1.NodeConditionType) bool {
	return nodeCondition(conditionsOf(nil, readyNow, time.Time{}), kind) != nil
}

// withIllnesses returns a machine's own conditions, with its illnesses in place of those of the same type.
func withIllnesses(own, old []v1.NodeCondition, illnesses []Illness, now time.Time) []v1.NodeCondition {
	for _, a := range illnesses {
		c := v1.NodeCondition{
			Type: a.Type, Status: a.Status, Reason: "LabAilment", Message: "the lab was asked for this condition",
			LastHeartbeatTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now),
		}
		if was := nodeCondition(old, a.Type); was != nil && was.Status == a.Status {
			c.LastTransitionTime = was.LastTransitionTime
		}
		if !a.Since.IsZero() {
			c.LastTransitionTime = metav1.NewTime(a.Since)
		}
		own = append(slices.DeleteFunc(own, func(o v1.NodeCondition) bool { return o.Type == a.Type }), c)
	}
	return own
}
