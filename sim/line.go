package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
)

// runLog is a log that depends on the run alone: values are written as JSON, which sorts keys, and times
// are those of the run.
type runLog struct {
	now    func() time.Time
	write  func(string)
	name   string
	most   int // the level of detail
	values []any
}

var _ logr.LogSink = runLog{}

// Init implements logr.LogSink.
func (l runLog) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (l runLog) Enabled(level int) bool { return level <= l.most }

// Info implements logr.LogSink.
func (l runLog) Info(_ int, message string, values ...any) { l.print(message, values) }

// Error implements logr.LogSink.
func (l runLog) Error(err error, message string, values ...any) {
	l.print(message, append([]any{"err", err}, values...))
}

// WithValues implements logr.LogSink.
func (l runLog) WithValues(values ...any) logr.LogSink {
	l.values = append(append([]any(nil), l.values...), values...)
	return l
}

// WithName implements logr.LogSink.
func (l runLog) WithName(name string) logr.LogSink {
	l.name = name
	return l
}

func (l runLog) print(message string, values []any) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: %s", l.now().UTC().Format("2006-01-02 15:04:05.000"), l.name, message)
	all := append(append([]any(nil), l.values...), values...)
	for i := 0; i+1 < len(all); i += 2 {
		fmt.Fprintf(&text, " %v=%s", all[i], plain(all[i+1]))
	}
	l.write(text.String())
}

func plain(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case error:
		return fmt.Sprintf("%q", value.Error())
	case fmt.Stringer:
		return value.String()
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	return string(text)
}
