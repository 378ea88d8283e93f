package manager

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"tenon/internal/journal"
	"tenon/internal/settings"
	"tenon/internal/shadow"
)

// resume continues the comparison that an earlier process in shadow mode left in the journal.
func resume(compared *shadow.Record, record *journal.Journal, s settings.Settings) error {
	if !s.Shadow() {
		return nil
	}
	earlier, err := journal.Comparison(context.Background(), record)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	compared.Resume(earlier)
	return nil
}

// openJournal opens the journal that the settings ask for; nil without one.
func openJournal(s settings.Settings, now clock.Clock, log logr.Logger) (*journal.Journal, error) {
	if s.JournalBytes == 0 {
		return nil, nil
	}
	j, err := journal.Open(journal.Options{
		Folder: s.JournalFolder, Bytes: s.JournalBytes, Clock: now,
		Problem: func(err error) { log.Error(err, "a part of the journal is lost") },
	}, now.Now())
	if err != nil {
		return nil, fmt.Errorf("%w; see --journal-folder", err)
	}
	if s.JournalFolder == "" {
		log.Info("the journal of decisions is in memory and begins anew", "remedy", "--journal-folder on a volume keeps it across restarts")
	}
	return j, nil
}
