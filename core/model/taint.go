package model

import "strconv"

// Effect says what a taint does to pods that do not tolerate it.
type Effect string

// The effects of Kubernetes.
const (
	NoSchedule       Effect = "NoSchedule"
	PreferNoSchedule Effect = "PreferNoSchedule"
	NoExecute        Effect = "NoExecute"
)

// Taint keeps pods away from a node.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect Effect `json:"effect"`
}

// String writes key=value:Effect, as kubectl does.
func (t Taint) String() string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// Toleration lets a pod onto nodes with matching taints.
type Toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator,omitempty"` // Exists, Equal (the default), Lt or Gt
	Value    string `json:"value,omitempty"`
	Effect   Effect `json:"effect,omitempty"`
}

// Tolerates reports whether this toleration covers the taint. An empty effect
// covers every effect, and an empty key with Exists covers every taint.
func (t Toleration) Tolerates(taint Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect {
		return false
	}
	if t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case "", "Equal":
		return t.Key != "" && t.Value == taint.Value
	case "Exists":
		return true
	case "Lt":
		return comparesAs(taint.Value, t.Value, func(taint, bound int64) bool { return taint < bound })
	case "Gt":
		return comparesAs(taint.Value, t.Value, func(taint, bound int64) bool { return taint > bound })
	}
	return false
}

// comparesAs is false unless both values are integers without superfluous zeros.
func comparesAs(taint, bound string, holds func(taint, bound int64) bool) bool {
	a, errA := strconv.ParseInt(taint, 10, 64)
	b, errB := strconv.ParseInt(bound, 10, 64)
	return errA == nil && errB == nil && holds(a, b)
}

// KeyNotReceiving is the key of NotReceiving.
const KeyNotReceiving = "tenon.sh/not-receiving"

// NotReceiving is on nodes while pods move that are planned elsewhere: kube-scheduler prefers nodes without it.
func NotReceiving() Taint { return Taint{Key: KeyNotReceiving, Effect: PreferNoSchedule} }

// Untolerated returns the first taint that no toleration covers. PreferNoSchedule
// taints keep no pod away and are left out unless strict asks for them too.
func Untolerated(taints []Taint, tolerations []Toleration, strict bool) (Taint, bool) {
	for _, taint := range taints {
		if taint.Effect == PreferNoSchedule && !strict {
			continue
		}
		if !tolerated(taint, tolerations) {
			return taint, true
		}
	}
	return Taint{}, false
}

func tolerated(taint Taint, tolerations []Toleration) bool {
	for _, t := range tolerations {
		if t.Tolerates(taint) {
			return true
		}
	}
	return false
}
