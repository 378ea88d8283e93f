package journal

import (
	"context"

	"tenon/internal/shadow"
)

// Compared records the state of the comparison in shadow mode.
func (j *Journal) Compared(r shadow.Report) {
	if j != nil {
		j.put(task{line: Line{Comparison: &r}})
	}
}

// Comparison is the newest one of a source; nil if it has none.
func Comparison(ctx context.Context, from Source) (newest shadow.Report, err error) {
	err = from.Lines(ctx, 0, func(l Line) error {
		if l.Comparison != nil {
			newest = *l.Comparison
		}
		return nil
	})
	return newest, err
}
