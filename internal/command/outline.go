package command

import (
	"fmt"

	"tenon/core/model"
)

// Outline is what people are told of a command beforehand.
type Outline struct {
	Nodes, Replacements, Evictions int
	DeleteFirst                    bool
	Savings                        model.Money
}

// Outline of a recorded command. Records do not say DeleteFirst.
func (r *Record) Outline() Outline {
	return Outline{Nodes: len(r.Claims), Replacements: len(r.Replacements), Evictions: r.Evictions, Savings: r.Savings}
}

// Text is what will be done with each of the nodes. Prices have no currency: see reason.InCurrency.
func (o Outline) Text() string {
	text := "Will be deleted"
	if o.Replacements > 0 {
		text = "Will be replaced by " + count(o.Replacements, "node")
	}
	if o.DeleteFirst {
		text = "Will be deleted before it is replaced, since limits leave no room for both"
	}
	if others := o.Nodes - 1; others > 0 {
		text += ", together with " + count(others, "other node")
	}
	switch o.Evictions {
	case 0:
		text += ": no pod has to move"
	case 1:
		text += ": 1 pod moves"
	default:
		text += ": " + count(o.Evictions, "pod") + " move"
	}
	if o.Savings > 0 {
		text += fmt.Sprintf(", saves %.2f an hour", o.Savings.Float())
	}
	return text
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
