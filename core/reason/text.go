package reason

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tenon/core/model"
)

// Text is the obstacle in words, without the funnel.
func (r Reason) Text() string {
	switch r.Code {
	case NoPools:
		return "there is no pool that nodes may be bought from"
	case PodExpendable:
		return fmt.Sprintf("no node of the group is for pods of a priority below %d (expendable-pods-priority-cutoff)", r.Want)
	case TaintNotTolerated:
		return fmt.Sprintf("did not tolerate taint (taint=%s)", r.Where)
	case LabelsIncompatible:
		return "incompatible requirements, " + r.Detail
	case VolumeElsewhere:
		return "incompatible volume requirements, " + r.Detail
	case HostPortTaken:
		return "pod hostport conflicts with existing hostport configuration, port=" + r.Where
	case MinimumNotMet:
		return fmt.Sprintf("minValues requirement is not met for label(s) (label(s)=[%s]): %d wanted, %d possible", r.Where, r.Want, r.Have)
	case Spread, Affinity, AntiAffinity:
		return r.topology()
	case PriceCeiling:
		return fmt.Sprintf("out of stock: %s; what can be had costs %s an hour, and the pool's price ceiling is %s an hour", r.Where, model.Money(r.Want), model.Money(r.Have))
	case ReservationTaken:
		return "one or more instance types with compatible reserved offerings are available, but could not be reserved"
	case None:
		return "it could take such a pod, but what else is planned leaves no place"
	}
	if text, found := r.podText(); found {
		return text
	}
	return string(r.Code) // rules of the funnel have no text without a pool
}

func (r Reason) topology() string {
	text := "unsatisfiable topology constraint for " + topologyName(r.Code)
	if r.Where != "" {
		text += ", key=" + r.Where
	}
	if r.Code == Spread && r.Want > 0 {
		text += fmt.Sprintf(" (maxSkew %d, would be %d)", r.Want, r.Have)
	}
	return text
}

func topologyName(c Code) string {
	switch c {
	case Spread:
		return "topology spread"
	case Affinity:
		return "pod affinity"
	case AntiAffinity:
		return "pod anti-affinity"
	}
	return string(c)
}

// Text is why the pool could not take the pod: the sentence, the numbers of the nearest
// miss, and the funnel.
func (v *PoolVerdict) Text() string {
	if funnel := v.funnel(); funnel != "" {
		return v.Brief() + "; " + funnel
	}
	return v.Brief()
}

// Brief is Text without the funnel.
func (v *PoolVerdict) Brief() string {
	if miss := v.miss(); miss != "" {
		return v.sentence() + "; " + miss
	}
	return v.sentence()
}

func (v *PoolVerdict) sentence() string {
	if v.Missing > 0 {
		return v.OutOfStock() + "; " + v.refusal()
	}
	return v.refusal()
}

// OutOfStock names the suitable offering that is out of stock, and when it is tried again.
func (v *PoolVerdict) OutOfStock() string {
	text := "out of stock: " + v.Absent
	if !v.AbsentUntil.IsZero() {
		text += fmt.Sprintf(" (since %s, tried again at %s UTC)", v.AbsentSince.UTC().Format(time.TimeOnly), v.AbsentUntil.UTC().Format(time.TimeOnly))
	}
	if v.Missing > 1 {
		text += fmt.Sprintf(" and %d other offering(s) that would do", v.Missing-1)
	}
	return text
}

func (v *PoolVerdict) refusal() string {
	switch v.Reason.Code {
	case PoolNotReady, PoolLimitsAwaited:
		return v.Unready.Text()
	case TypeIncompatible, NoOffering, OfferingUnavailable, InsufficientRoom:
		return v.Met.sentence() + v.typo()
	case LimitReached:
		if v.Reason.Where == "nodes" {
			return fmt.Sprintf("node limits have been exhausted for nodepool (NodePool=%s)", v.Pool)
		}
		return fmt.Sprintf("all available instance types exceed limits for nodepool (NodePool=%s)", v.Pool)
	case ClusterLimitReached:
		return fmt.Sprintf("the limit on all nodes of the cluster, %s, is reached", TotalFlag(v.Reason.Where))
	}
	return v.Reason.Text()
}

// sentence names what no instance type could meet.
func (m Met) sentence() string {
	switch {
	case !m.Labels && !m.Room && !m.Offer:
		return "no instance type met the scheduling requirements or had enough resources or had a required offering"
	case !m.Labels && !m.Room:
		return "no instance type met the scheduling requirements or had enough resources"
	case !m.Labels && !m.Offer:
		return "no instance type met the scheduling requirements or had a required offering"
	case !m.Room && !m.Offer:
		return "no instance type had enough resources or had a required offering"
	case !m.Labels:
		return "no instance type met all requirements"
	case !m.Room:
		return "no instance type has enough resources"
	case !m.Offer:
		return "no instance type has the required offering"
	case m.LabelsRoom:
		return "no instance type which met the scheduling requirements and had enough resources, had a required offering"
	case m.RoomOffer:
		return "no instance type which had enough resources and the required offering met the scheduling requirements"
	case m.LabelsOffer:
		return "no instance type which met the scheduling requirements and the required offering had the required resources"
	}
	return "no instance type met the requirements/resources/offering tuple"
}

// million cores, in thousandths.
const million = 1_000_000_000

// typo asks about requests whose number must be a mistake.
func (v *PoolVerdict) typo() string {
	if v.Reason.Where == "cpu" && v.Reason.Want >= million {
		return " (CPU request >= 1 Million, m vs M typo?)"
	}
	return ""
}

// miss is how close the nearest instance type came.
func (v *PoolVerdict) miss() string {
	r := &v.Reason
	switch r.Code {
	case TypeIncompatible, NoOffering:
		return r.Detail
	case InsufficientRoom:
		if r.Have < 0 {
			want, have := Compared(r.Where, v.Daemons, v.Daemons+r.Have)
			return fmt.Sprintf("%s: daemons take %s, and the nearest, %s, has %s", r.Where, want, v.Nearest, have)
		}
		want, have := Compared(r.Where, r.Want, r.Have)
		text := fmt.Sprintf("%s: %s wanted, %s free on the nearest, %s", r.Where, want, have, v.Nearest)
		if v.Daemons > 0 {
			text += fmt.Sprintf(", where daemons take %s", Readable(r.Where, v.Daemons))
		}
		return text
	case LimitReached, ClusterLimitReached:
		want, have := Compared(r.Where, r.Want, r.Have)
		return fmt.Sprintf("%s: %s left, and the smallest that would do, %s, has %s", r.Where, have, v.Nearest, want)
	}
	return ""
}

// passed describes the offerings that got past each rule.
var passed = map[Code]string{
	PodExpendable:       "for pods of this priority",
	TaintNotTolerated:   "with taints that the pod tolerates",
	LabelsIncompatible:  "with the labels that the pod asks for",
	TypeIncompatible:    "of an instance type that the pod and the pool allow",
	NoOffering:          "in a zone and with a capacity type that they allow",
	OfferingUnavailable: "available now",
	InsufficientRoom:    "large enough",
	HostPortTaken:       "with free ports",
	MinimumNotMet:       "with enough variety",
	LimitReached:        "within limits",
}

// funnel lists the rules that left fewer offerings than there were before.
func (v *PoolVerdict) funnel() string {
	if v.Listed == 0 {
		if v.Reason.Code == PoolNotReady || v.Reason.Code == PoolLimitsAwaited {
			return ""
		}
		return "the pool has no offerings"
	}
	parts := []string{fmt.Sprintf("of %d offerings", v.Listed)}
	left := v.Listed
	for _, s := range v.Funnel {
		if s.Left != left {
			parts = append(parts, counted(s.Left)+" "+passed[s.Code])
		}
		left = s.Left
	}
	if len(parts) == 1 {
		return fmt.Sprintf("all %d offerings would do by themselves", v.Listed)
	}
	return strings.Join(parts, ", ")
}

// counted is a number in a sentence.
func counted(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

// shortened cuts a text at a number of bytes, between runes.
func shortened(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	cut := max(limit-len(ellipsis), 0)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}
