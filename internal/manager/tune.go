package manager

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"tenon/internal/settings"
)

// collectAt is how much the heap may grow before garbage is collected, in percent. Decisions make
// much garbage and keep little: less than half of Go's default costs little time and a third of
// the memory. What is left after a burst is collected by who tidies up (tidy.go).
const collectAt = 40

// Tune sets what the Go runtime and the Kubernetes libraries keep once for the whole process: the
// soft memory limit and the log. It belongs into main's path and is not for tests.
func Tune(s settings.Settings, log logr.Logger) {
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		debug.SetGCPercent(collectAt)
	}
	if !s.EnableProfiling {
		runtime.MemProfileRate = 0 // the samples, which take megabytes, cannot be asked for
	}
	if limit, ok := s.SoftMemoryLimit(); ok {
		debug.SetMemoryLimit(limit)
		log.Info("the garbage collector keeps below a limit", "bytes", limit)
	}
}
