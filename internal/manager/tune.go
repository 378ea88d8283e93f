package manager

import (
	"runtime"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"tenon/internal/settings"
)

// Tune sets process-wide settings of the Go runtime and the Kubernetes libraries once: the soft
// memory limit and the log. Only main calls it; it is not for tests.
func Tune(s settings.Settings, log logr.Logger) {
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	if !s.EnableProfiling {
		runtime.MemProfileRate = 0 // the samples, which take megabytes, cannot be requested
	}
	if limit, ok := s.SoftMemoryLimit(); ok {
		debug.SetMemoryLimit(limit)
		log.Info("the garbage collector keeps below a limit", "bytes", limit)
	}
}
