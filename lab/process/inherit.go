package process

import (
	"fmt"
	"net"
	"os"
	"sync"
)

// The files that a child of ours inherits, in the order of exec.Cmd.ExtraFiles.
const (
	lifelineFD = 3
	reportFD   = 4
	listenerFD = 5
)

const (
	lifelineEnv = "TENON_LAB_LIFELINE"
	listenerEnv = "TENON_LAB_LISTENER"
)

// Inherited holds what a child of ours receives from its parent.
type Inherited struct {
	listener net.Listener
	report   *os.File
	once     sync.Once
}

// Inherit takes over the files from the parent, and from now on ends this process as soon as the parent is
// gone. It ends at once, without cleaning up: the data of a lab is thrown away with the lab, and a
// component that cleaned up would only wait for others that are ending as well.
func Inherit() (*Inherited, error) {
	if os.Getenv(lifelineEnv) == "" {
		return nil, fmt.Errorf("this command is started by tenon-lab up, not by hand")
	}
	go endWithParent(os.NewFile(lifelineFD, "lifeline"))

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

func endWithParent(lifeline *os.File) {
	var b [1]byte
	// The parent never writes to the lifeline: the read returns when the parent's end is closed.
	_, _ = lifeline.Read(b[:])
	fmt.Fprintln(os.Stderr, "tenon-lab: the supervisor is gone, ending")
	os.Exit(3)
}

// Listener returns the listener to serve on, or nil.
func (i *Inherited) Listener() net.Listener { return i.listener }

// ReportReady tells the parent that the component is ready. Further calls do nothing.
func (i *Inherited) ReportReady() {
	i.once.Do(func() {
		// If the parent cannot be told, it is gone, and the lifeline ends this process.
		_, _ = i.report.WriteString("r")
		_ = i.report.Close()
	})
}
