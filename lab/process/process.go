// Package process starts the lab's components as child processes that end when the process that started
// them ends, even when that is killed.
//
// A child of the lab's own program inherits three files: the lifeline, a pipe that is closed when the
// parent is gone; the report, a pipe on which the child says that it is ready; and, if it serves a port,
// the listener that the parent opened for it. Because the parent opens the listener, a port is chosen once,
// by one process, and a port in use is noticed before anything starts.
package process

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Spec says what to start.
type Spec struct {
	Path     string       // program; empty means this very program
	Args     []string     // arguments, without the program's name
	Env      []string     // added to the parent's environment
	Dir      string       // working directory
	Log      string       // file that gets standard output and standard error, appended
	Listener net.Listener // handed to the child and closed here; may be nil
	Foreign  bool         // not a program of ours: it inherits neither lifeline nor report nor listener
}

// Child is a process that was started.
type Child struct {
	Pid     int
	Started time.Time

	lifeline io.Closer
	ready    chan struct{} // closed when the child reports that it is ready
	done     chan struct{} // closed when the child has ended
	state    *os.ProcessState
}

// Start starts a child. The child's log file is created if need be.
func Start(spec Spec) (*Child, error) {
	cmd, err := command(spec)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log

	child := &Child{ready: make(chan struct{}), done: make(chan struct{}), lifeline: io.NopCloser(nil)}
	if spec.Foreign {
		return child, child.start(cmd, nil)
	}
	return child, child.startWithParent(cmd, spec.Listener)
}

func command(spec Spec) (*exec.Cmd, error) {
	path := spec.Path
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find own program: %w", err)
		}
		path = self
	}
	cmd := exec.Command(path, spec.Args...)
	cmd.Dir = spec.Dir
	cmd.Env = append(os.Environ(), spec.Env...)
	cmd.SysProcAttr = attributes(spec.Foreign)
	return cmd, nil
}

func (c *Child) startWithParent(cmd *exec.Cmd, listener net.Listener) error {
	lifeline, lifelineEnd, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make lifeline: %w", err)
	}
	defer lifeline.Close()
	report, reportEnd, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make report pipe: %w", err)
	}
	defer reportEnd.Close()
	cmd.ExtraFiles = []*os.File{lifeline, reportEnd}
	cmd.Env = append(cmd.Env, lifelineEnv+"=1")

	if listener != nil {
		file, err := listenerFile(listener)
		if err != nil {
			return err
		}
		defer file.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
		cmd.Env = append(cmd.Env, listenerEnv+"=1")
	}
	c.lifeline = lifelineEnd
	return c.start(cmd, report)
}

// listenerFile takes over the listener: after the child has started, only the child accepts.
func listenerFile(listener net.Listener) (*os.File, error) {
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return nil, fmt.Errorf("hand over listener: %T is not a TCP listener", listener)
	}
	file, err := tcp.File()
	if err != nil {
		return nil, fmt.Errorf("hand over listener: %w", err)
	}
	return file, tcp.Close()
}

func (c *Child) start(cmd *exec.Cmd, report io.ReadCloser) error {
	if err := starter.start(cmd); err != nil {
		c.lifeline.Close()
		return err
	}
	c.Pid, c.Started = cmd.Process.Pid, time.Now()
	if report != nil {
		go c.awaitReport(report)
	}
	go func() {
		defer close(c.done)
		// The error repeats the state, which callers ask for.
		_ = cmd.Wait()
		c.state = cmd.ProcessState
		// Processes that the child started end with it. An error means that there are none.
		_ = syscall.Kill(-c.Pid, syscall.SIGKILL)
		_ = c.lifeline.Close()
	}()
	return nil
}

func (c *Child) awaitReport(report io.ReadCloser) {
	defer report.Close()
	var word [1]byte
	if n, _ := report.Read(word[:]); n == 1 {
		close(c.ready)
	}
}

// Ready is closed once the child has reported that it is ready.
func (c *Child) Ready() <-chan struct{} { return c.ready }

// Done is closed once the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// State says how the child ended. Call it only after Done is closed.
func (c *Child) State() string { return c.state.String() }

// Stop asks the child to end, waits up to the grace period, then kills it. It returns when the child has
// ended, and reports whether it was killed.
func (c *Child) Stop(grace time.Duration) (killed bool) {
	select {
	case <-c.done:
		return false
	default:
	}
	// An error means that the child has just ended, which Done shows.
	_ = syscall.Kill(c.Pid, syscall.SIGTERM)
	select {
	case <-c.done:
		return false
	case <-time.After(grace):
		_ = syscall.Kill(c.Pid, syscall.SIGKILL)
		<-c.done
		return true
	}
}

// threadStarter starts every child from one thread that lives as long as the process. Linux sends
// the parent-death signal when the thread that forked the child ends, and Go ends threads at will.
type threadStarter struct {
	once     sync.Once
	requests chan startRequest
}

type startRequest struct {
	cmd    *exec.Cmd
	answer chan error
}

var starter = threadStarter{requests: make(chan startRequest)}

func (t *threadStarter) start(cmd *exec.Cmd) error {
	t.once.Do(func() { go t.serve() })
	request := startRequest{cmd: cmd, answer: make(chan error, 1)}
	t.requests <- request
	return <-request.answer
}

func (t *threadStarter) serve() {
	runtime.LockOSThread()
	for request := range t.requests {
		request.answer <- request.cmd.Start()
	}
}
