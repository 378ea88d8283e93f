package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// ByHand is what By of an entry says for a change that a user made.
const ByHand = "hand"

// Intervention is a change that a user made by hand, as the object that was changed says.
type Intervention struct {
	At time.Time `json:"at"`
	// By is the user, by the name that the API server knows.
	By   string `json:"by"`
	Verb string `json:"verb"`
	// Kind is node, nodeclaim, nodepool or nodegroup.
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// String is the change in one line.
func (i Intervention) String() string {
	return fmt.Sprintf("%s: %s %s/%s, by %s", ByHand, i.Verb, i.Kind, i.Name, i.By)
}

func (i Intervention) object() string { return i.Kind + "/" + i.Name }

// said distinguishes the changes of an object.
func (i Intervention) said() string {
	return fmt.Sprintf("%s %s %s", i.At.UTC().Format(time.RFC3339), i.Verb, i.By)
}

// entryOf is the entry of a change that a user made.
func entryOf(number int64, i Intervention) *Entry {
	return &Entry{ID: number, Decision: Decision{At: i.At, By: ByHand, Woke: "tenon view"}, Intervention: &i}
}

// late is by how much a change may be older than the journal: it may have been made while no controller ran, and the clock
// is that of the user's machine.
const late = time.Hour

// Intervened records a change that a user made. An object keeps its last change and a controller sees the object many
// times, so a change that is recorded already is not recorded again, and neither is one from long before the journal.
func (j *Journal) Intervened(i Intervention) {
	if j == nil {
		return
	}
	i.At = i.At.UTC()
	j.mu.Lock()
	known := j.byHand[i.object()] == i.said() || i.At.Before(j.begins.Add(-late))
	if !known {
		j.byHand[i.object()] = i.said()
	}
	j.mu.Unlock()
	if !known {
		j.put(task{line: Line{Intervention: &i}})
	}
}

// recall reads, of the journal of earlier processes, when it begins and which changes of users it has.
func (j *Journal) recall() error {
	for _, p := range j.decisions.pieces {
		text, err := j.decisions.read(p)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			if !j.begins.IsZero() && !isIntervention(line) {
				continue
			}
			l := Line{}
			if json.Unmarshal(line, &l) != nil { // one that was cut off
				continue
			}
			if j.begins.IsZero() {
				j.begins = l.at()
			}
			if l.Intervention != nil {
				j.byHand[l.Intervention.object()] = l.Intervention.said()
			}
		}
	}
	return nil
}

// isIntervention tells what a line is without reading all of it.
func isIntervention(line []byte) bool {
	const head = 48 // the number, and the name of what follows it
	return bytes.Contains(line[:min(len(line), head)], []byte(`"intervention":`))
}
