package cli

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tenon/internal/journal"
	"tenon/internal/viewer"
)

// shownDecisions is how many of the newest decisions the viewer lists, and readDecisions how often it looks
// for new ones.
const (
	shownDecisions = 300
	readDecisions  = 2 * time.Second
)

// followDecisions sends the newest decisions of a journal until the context ends.
func followDecisions(ctx context.Context, from string, send func(tea.Msg)) {
	tail := journal.NewTail(journalSource(from), shownDecisions)
	for {
		message := viewer.Decisions{}
		if err := tail.Read(ctx); err != nil {
			message.Problem = explainUnreachable(err, from).Error()
		} else if text := tail.Warning(); text != "" {
			message.Problem = "the journal has " + text
		}
		for _, e := range slices.Backward(tail.Entries) {
			if len(message.Entries) == shownDecisions {
				break
			}
			own := *e
			own.Outcomes = slices.Clone(e.Outcomes)
			message.Entries = append(message.Entries, own)
		}
		send(message)
		select {
		case <-ctx.Done():
			return
		case <-time.After(readDecisions):
		}
	}
}
