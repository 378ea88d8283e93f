package process

import (
	"fmt"
	"net"
	"os"
	"sync"
)

// Files that a child of ours inherits, in the order of exec.Cmd.ExtraFiles.
const (
	leashFD    = 3
	reportFD   = 4
	listenerFD = 5
)

const (
	leashEnv    = "TENON_LAB_LEASH"
	listenerEnv = "TENON_LAB_LISTENER"
)

// Inherited is what a child of ours was given by its parent.
type Inherited struct {
	listener net.Listener
	report   *os.File
	once     sync.Once
}

// Inherit takes up what the parent handed over, and from now on ends this process as soon as the
// parent is gone. The data of a lab is thrown away with the lab, so the end is at once: a component
// that tidied up here would only wait for others that are ending as well.
func Inherit() (*Inherited, error) {
	if os.Getenv(leashEnv) == "" {
		return nil, fmt.Errorf("this command is started by tenon-lab up, not by hand")
	}
	go endWithParent(os.NewFile(leashFD, "leash"))

	inherited := &Inherited{report: os.NewFile(reportFD, "report")}
	if os.Getenv(listenerEnv) == "" {
		return inherited, nil
	}
	file := os.NewFile(listenerFD, "listener")
	defer file.Close()
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("take over listener: %w", err)
	}
	inherited.listener = listener
	return inherited, nil
}

func endWithParent(leash *os.File) {
	var b [1]byte
	// Nothing is ever written on the leash: the read returns when the parent's end is closed.
	_, _ = leash.Read(b[:])
	fmt.Fprintln(os.Stderr, "tenon-lab: the supervisor is gone, ending")
	os.Exit(3)
}

// Listener is the port to serve, or nil.
func (i *Inherited) Listener() net.Listener { return i.listener }

// ReportReady tells the parent that the component is ready. Further calls do nothing.
func (i *Inherited) ReportReady() {
	i.once.Do(func() {
		// A parent that cannot be told is gone, which the leash takes care of.
		_, _ = i.report.WriteString("r")
		_ = i.report.Close()
	})
}
