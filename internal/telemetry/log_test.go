package telemetry

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
)

// written runs the function with a log into a file, and returns the lines that came out.
func written(t *testing.T, level string, use func(logr.Logger)) []map[string]any {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	log, flush, err := NewLog(LogConfig{Level: level, OutputPaths: []string{path}, ErrorOutputPaths: []string{"stderr"}, Commit: "abc1234"})
	if err != nil {
		t.Fatal(err)
	}
	use(log)
	flush()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for line := range strings.Lines(string(text)) {
		fields := map[string]any{}
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		lines = append(lines, fields)
	}
	return lines
}

func TestALineHasTheKeysThatQueriesUse(t *testing.T) {
	t.Parallel()
	lines := written(t, "info", func(log logr.Logger) {
		log.Info("created nodeclaim", "duration", 1500*time.Millisecond)
	})
	if len(lines) != 1 {
		t.Fatalf("lines: %v, want one", lines)
	}
	line := lines[0]
	for key, want := range map[string]string{"level": "INFO", "logger": "controller", "message": "created nodeclaim", "commit": "abc1234", "duration": "1.5s"} {
		if line[key] != want {
			t.Errorf("%s = %v, want %q", key, line[key], want)
		}
	}
	if at, err := time.Parse("2006-01-02T15:04:05.000Z0700", line["time"].(string)); err != nil || at.Location() != time.UTC {
		t.Errorf("time %v is not ISO 8601 in UTC: %v", line["time"], err)
	}
	for _, key := range []string{"caller", "stacktrace"} {
		if _, there := line[key]; there {
			t.Errorf("%s is there at info level", key)
		}
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	use := func(log logr.Logger) {
		log.V(1).Info("for developers")
		log.Info("for operators")
		log.Error(errors.New("boom"), "went wrong")
		log.V(2).Info("for developers")
	}
	for level, want := range map[string]string{
		"debug": "for developers, for operators, went wrong",
		"info":  "for operators, went wrong",
		"":      "for operators, went wrong",
		"error": "went wrong",
	} {
		var got []string
		for _, line := range written(t, level, use) {
			got = append(got, line["message"].(string))
			if _, there := line["caller"]; there != (level == "debug") {
				t.Errorf("level %q: caller there: %t", level, there)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("level %q logs %q, want %q", level, got, want)
		}
	}
}

func TestErrorsCarryTheirText(t *testing.T) {
	t.Parallel()
	lines := written(t, "info", func(log logr.Logger) { log.Error(errors.New("boom"), "went wrong") })
	if len(lines) != 1 || lines[0]["error"] != "boom" || lines[0]["level"] != "ERROR" {
		t.Errorf("lines: %v", lines)
	}
}

func TestUselessLinesOfLibrariesAreDropped(t *testing.T) {
	t.Parallel()
	lines := written(t, "debug", func(log logr.Logger) {
		log.WithName("events").WithValues("pod", "a").V(1).Info("Nominated")
		log.WithName("controller-runtime").WithName("healthz").Info("healthz check failed")
		log.WithName("events").Info("recorder stopped")
		log.WithName("prevents").V(1).Info("kept")
		log.WithName("controller-runtime").WithName("healthz").Error(errors.New("boom"), "kept too")
	})
	var got []string
	for _, line := range lines {
		got = append(got, line["message"].(string))
	}
	if want := "recorder stopped, kept, kept too"; strings.Join(got, ", ") != want {
		t.Errorf("lines %q, want %q", got, want)
	}
}

func TestARepeatedLineIsSampled(t *testing.T) {
	t.Parallel()
	const repeats = 1000
	lines := written(t, "info", func(log logr.Logger) {
		for range repeats {
			log.Info("again")
		}
	})
	// The first hundred and every hundredth of the rest; twice that if a second begins meanwhile.
	if len(lines) < 109 || len(lines) > 218 {
		t.Errorf("%d of %d identical lines are logged, want 109", len(lines), repeats)
	}
}

func TestALogThatCannotBeOpenedIsAnError(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing", "log")
	if _, _, err := NewLog(LogConfig{OutputPaths: []string{missing}}); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("error %v does not name %s", err, missing)
	}
	if _, _, err := NewLog(LogConfig{Level: "loud"}); err == nil || !strings.Contains(err.Error(), `"loud"`) {
		t.Errorf("error %v does not name the level", err)
	}
}
