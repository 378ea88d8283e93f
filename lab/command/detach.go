package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"tenon/lab/progress"
	"tenon/lab/state"
)

// A detached supervisor talks to the process that started it through two pipes, which it finds as these
// files: it writes its progress to the console pipe, and one word to the other when the lab is ready.
const (
	consoleFD = 3
	readyFD   = 4
)

// detachedEnv is the environment variable that marks a detached supervisor.
const detachedEnv = "TENON_LAB_DETACHED"

// starter is the process that detached this supervisor; nil if none did, and the supervisor has a
// terminal.
type starter struct{ console, ready *os.File }

func findStarter() *starter {
	if os.Getenv(detachedEnv) == "" {
		return nil
	}
	// Components must not behave like detached supervisors, nor hold the pipes open.
	_ = os.Unsetenv(detachedEnv)
	syscall.CloseOnExec(consoleFD)
	syscall.CloseOnExec(readyFD)
	return &starter{console: os.NewFile(consoleFD, "console"), ready: os.NewFile(readyFD, "ready")}
}

// out returns where progress is shown.
func (s *starter) out() *os.File {
	if s == nil {
		return os.Stdout
	}
	return s.console
}

// letGo tells the starter that the lab is ready. Later output goes to the supervisor's log, which is
// already its standard output.
func (s *starter) letGo(printer *progress.Printer) {
	if s == nil {
		return
	}
	printer.Redirect(os.Stdout, progress.Plain)
	// The starter may have been killed; the lab continues.
	_, _ = s.ready.WriteString("r")
	_ = s.ready.Close()
	_ = s.console.Close()
}

// startDetached starts this program again as supervisor in a new session, shows its progress, and returns
// when the lab is ready.
func startDetached(directory state.Directory) error {
	// This is checked here for the message; the supervisor checks it again.
	lock, err := directory.Acquire()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(directory.SupervisorLog(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return errors.Join(fmt.Errorf("open log of the supervisor: %w", err), lock.Release())
	}
	defer log.Close()
	if err := lock.Release(); err != nil {
		return err
	}
	console, ready, supervisor, err := launchDetached(log)
	if err != nil {
		return err
	}
	defer console.Close()
	defer ready.Close()
	return follow(console, ready, supervisor)
}

// follow shows the supervisor's progress until the lab is ready, or the supervisor has ended.
func follow(console, ready *os.File, supervisor *exec.Cmd) error {
	// Ctrl-C while the lab starts reaches this process alone.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		for range signals {
			_ = supervisor.Process.Signal(syscall.SIGTERM)
		}
	}()
	// Either pipe ends when the supervisor closes it or ends.
	_, _ = io.Copy(os.Stdout, console)
	if word, _ := io.ReadAll(ready); len(word) > 0 {
		return supervisor.Process.Release()
	}
	// The supervisor has said why on the console.
	_ = supervisor.Wait()
	return errSaid
}

// launchDetached starts the supervisor with this process's own arguments.
func launchDetached(log *os.File) (console, ready *os.File, cmd *exec.Cmd, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("find own program: %w", err)
	}
	console, consoleEnd, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	defer consoleEnd.Close()
	ready, readyEnd, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	defer readyEnd.Close()

	cmd = exec.Command(self, supervisorArgs(os.Args[1:])...)
	cmd.Args[0] = os.Args[0] // the name in the commands that it suggests to the user
	cmd.Env = append(os.Environ(), detachedEnv+"=1")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{consoleEnd, readyEnd}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, nil, nil, fmt.Errorf("start supervisor: %w", err)
	}
	return console, ready, cmd, nil
}

// supervisorArgs are the arguments for the supervisor: the same, except that it does not detach
// again.
func supervisorArgs(args []string) []string {
	var kept []string
	for _, arg := range args {
		if arg != "--detach" && !strings.HasPrefix(arg, "--detach=") {
			kept = append(kept, arg)
		}
	}
	return append(kept, "--progress="+string(progress.Detect(os.Stdout)))
}
