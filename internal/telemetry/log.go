// Package telemetry is the output of the process about itself: its log, events, and metrics. All
// metric names are in this package and nowhere else. It must not decide anything, and no decision
// may read it back.
package telemetry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// LogConfig says what is logged, and where.
type LogConfig struct {
	Level            string   // debug, info, error, or empty for info
	OutputPaths      []string // stdout, stderr or files
	ErrorOutputPaths []string // where the logger reports its own errors
	Commit           string   // stamped on every line
}

// NewLog builds the process's log: JSON lines under the keys that operators' queries already use.
// The returned flush must be called before the process ends.
func NewLog(c LogConfig) (log logr.Logger, flush func(), err error) {
	config, err := c.zap()
	if err != nil {
		return logr.Discard(), nil, err
	}
	logger, err := config.Build(zap.WrapCore(filtered))
	if err != nil {
		return logr.Discard(), nil, fmt.Errorf("open log outputs %s: %w", strings.Join(append(c.OutputPaths, c.ErrorOutputPaths...), ", "), err)
	}
	// A failing flush means that a terminal or a closed pipe does not support fsync; nothing is lost.
	return zapr.NewLogger(logger.Named("controller").With(zap.String("commit", c.Commit))), func() { _ = logger.Sync() }, nil
}

func (c LogConfig) zap() (zap.Config, error) {
	level, err := logLevel(c.Level)
	if err != nil {
		return zap.Config{}, err
	}
	return zap.Config{
		Level: zap.NewAtomicLevelAt(level),
		// The caller is for developers; stack traces would hide what operators look for.
		DisableCaller:     level != zapcore.DebugLevel,
		DisableStacktrace: true,
		// An error that repeats a thousand times a second must not fill the disk.
		Sampling:         &zap.SamplingConfig{Initial: 100, Thereafter: 100},
		Encoding:         "json",
		EncoderConfig:    encoding(),
		OutputPaths:      c.OutputPaths,
		ErrorOutputPaths: c.ErrorOutputPaths,
	}, nil
}

func logLevel(name string) (zapcore.Level, error) {
	switch name {
	case "debug":
		return zapcore.DebugLevel, nil
	case "info", "":
		return zapcore.InfoLevel, nil
	case "error":
		return zapcore.ErrorLevel, nil
	}
	return 0, fmt.Errorf("unknown log level %q; use debug, info or error", name)
}

func encoding() zapcore.EncoderConfig {
	return zapcore.EncoderConfig{
		MessageKey:     "message",
		LevelKey:       "level",
		TimeKey:        "time",
		NameKey:        "logger",
		CallerKey:      "caller",
		StacktraceKey:  "stacktrace",
		LineEnding:     zapcore.DefaultLineEnding,
		EncodeLevel:    zapcore.CapitalLevelEncoder,
		EncodeTime:     utc(zapcore.ISO8601TimeEncoder),
		EncodeDuration: zapcore.StringDurationEncoder,
		EncodeCaller:   zapcore.ShortCallerEncoder,
	}
}

// utc makes lines of replicas comparable although their containers have different time zones.
func utc(encode zapcore.TimeEncoder) zapcore.TimeEncoder {
	return func(t time.Time, out zapcore.PrimitiveArrayEncoder) { encode(t.UTC(), out) }
}

// quiet names libraries' loggers whose lines, up to a level, are useless.
var quiet = []struct {
	logger string
	upTo   zapcore.Level
}{
	// One line for every event: the event itself is in the cluster, and the line doubles the log.
	{"events", zapcore.DebugLevel},
	// One line for every failing probe, every ten seconds, without its cause.
	{"controller-runtime.healthz", zapcore.InfoLevel},
}

func filtered(core zapcore.Core) zapcore.Core { return filter{Core: core} }

// filter encodes the fields of a logger when it writes a line: every call of a controller has a logger
// of its own, and hardly any writes a line.
type filter struct {
	zapcore.Core
	fields []zapcore.Field
}

// With keeps the filter in place on loggers derived from this one.
func (f filter) With(fields []zapcore.Field) zapcore.Core {
	f.fields = append(slices.Clip(f.fields), fields...)
	return f
}

// Check leaves the entry out of the outputs, or asks the wrapped core.
func (f filter) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	for _, q := range quiet {
		if entry.Level <= q.upTo && (entry.LoggerName == q.logger || strings.HasSuffix(entry.LoggerName, "."+q.logger)) {
			return checked
		}
	}
	if !f.Enabled(entry.Level) {
		return checked
	}
	return f.Core.With(f.fields).Check(entry, checked)
}
