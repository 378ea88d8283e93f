package journal

import (
	"context"
	"fmt"
	"time"
)

// Tail is the newest decisions of a source that is read repeatedly: each reading asks only for new
// ones. It is not for concurrent use.
type Tail struct {
	// Entries are the decisions, and the changes that users made, the oldest first. The next reading changes them.
	Entries []*Entry

	from     Source
	most     int
	byNumber map[int64]*Entry
	commands map[string]int64
	last     int64 // number of the line that was read last, and its time
	lastAt   time.Time
	// Unreadable lines before and after the last line. The next reading meets those after it again.
	broken, behind int
}

// NewTail makes a Tail that keeps so many decisions; 0 means all.
func NewTail(from Source, most int) *Tail {
	t := &Tail{from: from, most: most}
	t.forget()
	return t
}

func (t *Tail) forget() {
	t.Entries, t.byNumber, t.commands = nil, map[int64]*Entry{}, map[string]int64{}
	t.last, t.lastAt, t.broken, t.behind = 0, time.Time{}, 0, 0
}

// Warning says that lines could not be read; it is empty if all could.
func (t *Tail) Warning() string { return Unreadable(t.broken + t.behind) }

// Unreadable says that a number of lines of a journal could not be read; it is empty for none.
func Unreadable(lines int) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("lines that cannot be read, such as one that was cut off: %d; all others are read", lines)
}

// Read adds the new decisions. A journal that was started anew is read from its beginning.
func (t *Tail) Read(ctx context.Context) error {
	t.behind = 0
	if t.last == 0 {
		t.broken = 0
		return t.from.Lines(ctx, 0, t.add)
	}
	last, at, met := t.last, t.lastAt, false
	err := t.from.Lines(ctx, last-1, func(l Line) error {
		if l.Seq == last && l.at().Equal(at) {
			met = true
		} else if met {
			return t.add(l)
		}
		return nil
	})
	if err != nil || met {
		return err
	}
	t.forget()
	return t.from.Lines(ctx, 0, t.add)
}

func (t *Tail) add(l Line) error {
	if l.Broken {
		t.behind++
		return nil
	}
	if l.Seq > 0 {
		t.last, t.lastAt = l.Seq, l.at()
		t.broken, t.behind = t.broken+t.behind, 0
	}
	switch {
	case l.Decision != nil:
		t.decision(l.Seq, l.Decision)
	case l.Outcome != nil:
		t.outcome(l.Outcome)
	case l.Intervention != nil:
		t.keep(entryOf(l.Seq, *l.Intervention))
	}
	return nil
}

func (t *Tail) decision(number int64, d *Decision) {
	if e, known := t.byNumber[d.Same]; known {
		e.Again++
		t.byNumber[number] = e
		return
	}
	t.keep(&Entry{ID: number, Decision: *d})
}

// keep adds an entry, and forgets the oldest ones if there are too many.
func (t *Tail) keep(e *Entry) {
	t.Entries, t.byNumber[e.ID] = append(t.Entries, e), e
	if t.most > 0 && len(t.Entries) >= 2*t.most {
		t.shorten()
	}
}

// shorten forgets the decisions before the newest, with everything that refers to them.
func (t *Tail) shorten() {
	t.Entries = append([]*Entry(nil), t.Entries[len(t.Entries)-t.most:]...)
	first := t.Entries[0].ID
	for number, e := range t.byNumber {
		if e.ID < first {
			delete(t.byNumber, number)
		}
	}
	for command, number := range t.commands {
		if t.byNumber[number] == nil {
			delete(t.commands, command)
		}
	}
}

func (t *Tail) outcome(o *Outcome) {
	of := o.Decision
	if of == 0 {
		of = t.commands[o.Command]
	} else if o.Command != "" {
		t.commands[o.Command] = of
	}
	if e, known := t.byNumber[of]; known {
		e.Outcomes = append(e.Outcomes, *o)
	}
}

// at is the time of a line that has one.
func (l *Line) at() time.Time {
	switch {
	case l.Decision != nil:
		return l.Decision.At
	case l.Outcome != nil:
		return l.Outcome.At
	case l.Start != nil:
		return l.Start.At
	case l.Intervention != nil:
		return l.Intervention.At
	case l.Comparison != nil:
		return l.Comparison.At
	}
	return time.Time{}
}
