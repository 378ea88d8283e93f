package topology

import (
	"slices"
	"strconv"
	"strings"

	"tenon/core/reason"
)

// Pin narrows a label to some values, or to none at all.
type Pin struct {
	Key    string
	Values []string // sorted; empty asks for nodes without the label
}

// Portion is a part of a shape with its pins. Pods that no rule concerns have none.
type Portion struct {
	Shape int
	Count int
	Pins  []Pin
}

// Failure is a part of a shape that found no domain.
type Failure struct {
	Shape  int
	Count  int
	Reason reason.Reason
}

// portions joins equal neighbours.
type portions struct{ list []Portion }

func (p *portions) add(shape int, pins []Pin) {
	for i := len(p.list) - 1; i >= 0 && p.list[i].Shape == shape; i-- {
		if slices.EqualFunc(p.list[i].Pins, pins, equalPin) {
			p.list[i].Count++
			return
		}
	}
	p.list = append(p.list, Portion{Shape: shape, Count: 1, Pins: pins})
}

func equalPin(a, b Pin) bool { return a.Key == b.Key && slices.Equal(a.Values, b.Values) }

func banKey(shape int, pins []Pin) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(shape))
	for _, p := range pins {
		b.WriteString("\x00" + p.Key + "\x01" + strings.Join(p.Values, "\x02"))
	}
	return b.String()
}
