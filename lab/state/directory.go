// Package state is the directory of a lab: which files are in it, which process holds it, what runs, and
// how it is cleaned. Everything that one lab has on disk is below this one directory.
//
//	DIR/kubeconfig     for the user, administrator rights
//	DIR/lab.env        what programs need to reach the lab, as NAME=value
//	DIR/logs/          one log for each component
//	DIR/supervisor.log what a detached supervisor has to say
//	DIR/state.json     what runs: written by the supervisor, read by status, down and logs
//	DIR/pki/           keys, certificates, and the kubeconfigs of the components
//	DIR/etcd/          the data
//	DIR/lock           held by the supervisor for as long as it runs
package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"tenon/lab/process"
)

// DefaultDirectory is where a lab lives unless the user says otherwise.
const DefaultDirectory = ".lab"

// Directory is the absolute path of a lab's directory.
type Directory string

// Open makes a path absolute. It creates nothing.
func Open(path string) (Directory, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find directory %s: %w", path, err)
	}
	return Directory(absolute), nil
}

// Path returns the path of a file in the directory.
func (d Directory) Path(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

// The files of a lab.
func (d Directory) Kubeconfig() string            { return d.Path("kubeconfig") }
func (d Directory) Environment() string           { return d.Path("lab.env") }
func (d Directory) PKI(file string) string        { return d.Path("pki", file) }
func (d Directory) Logs() string                  { return d.Path("logs") }
func (d Directory) Log(component string) string   { return d.Path("logs", component+".log") }
func (d Directory) Etcd() string                  { return d.Path("etcd") }
func (d Directory) Cloud() string                 { return d.Path("cloud.json") }
func (d Directory) UserConfig(user string) string { return d.PKI(user + ".kubeconfig") }

// SupervisorLog is the file for the output of a detached supervisor once its lab is ready.
func (d Directory) SupervisorLog() string { return d.Path("supervisor.log") }

// own lists the entries that a lab creates, and so everything that cleaning removes: a directory may also
// hold files of the user. The lock is not among them, because it is removed last.
var own = []string{"kubeconfig", "lab.env", "pki", "etcd", "logs", "state.json", "keep", "cloud.json", "cloud.json.new"}

// InUse says that another lab runs in the directory.
type InUse struct {
	Directory Directory
	Pid       int
}

func (e *InUse) Error() string {
	return fmt.Sprintf("a lab is running in %s (pid %d); stop it with: tenon-lab down --dir %s", e.Directory, e.Pid, e.Directory)
}

// Lock is a directory that this process holds.
type Lock struct {
	directory Directory
	file      *os.File
}

// Acquire creates the directory if need be and holds it. It returns *InUse if another process holds it. The
// kernel releases the lock when the process ends, so a crash leaves no lock.
func (d Directory) Acquire() (*Lock, error) {
	for {
		if err := os.MkdirAll(string(d), 0o700); err != nil {
			return nil, fmt.Errorf("create directory of the lab: %w", err)
		}
		lock, err := d.acquire()
		if err != nil || lock.current() {
			return lock, err
		}
		// Its former holder removed the file between our opening and locking it.
		lock.file.Close()
	}
}

func (d Directory) acquire() (*Lock, error) {
	file, err := os.OpenFile(d.Path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			pid, _ := readHolder(file)
			return nil, &InUse{Directory: d, Pid: pid}
		}
		return nil, fmt.Errorf("lock %s: %w", d, err)
	}
	if err := writeHolder(file); err != nil {
		file.Close()
		return nil, err
	}
	return &Lock{directory: d, file: file}, nil
}

// current reports whether the locked file is the one that other processes would open.
func (l *Lock) current() bool {
	mine, errMine := l.file.Stat()
	theirs, errTheirs := os.Stat(l.file.Name())
	return errMine == nil && errTheirs == nil && os.SameFile(mine, theirs)
}

// Holder returns the pid of the supervisor that holds the directory, or 0 if none does. It does not take
// the lock, so that it never blocks a lab that is starting.
func (d Directory) Holder() (int, error) {
	file, err := os.Open(d.Path("lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("open lock: %w", err)
	}
	defer file.Close()
	if pid, birth := readHolder(file); process.Alive(pid, birth) {
		return pid, nil
	}
	return 0, nil
}

// Clean removes everything that a lab creates, except the directory, the lock and the log of the running
// supervisor.
func (l *Lock) Clean() error { return l.remove(own) }

// Clear also removes the supervisor's log: it is for the end of a lab.
func (l *Lock) Clear() error { return l.remove(append([]string{"supervisor.log"}, own...)) }

func (l *Lock) remove(names []string) error {
	for _, name := range names {
		if err := os.RemoveAll(l.directory.Path(name)); err != nil {
			return fmt.Errorf("clean %s: %w", l.directory, err)
		}
	}
	return nil
}

// Layout creates the folders of a lab.
func (l *Lock) Layout() error {
	for _, folder := range []string{l.directory.PKI(""), l.directory.Etcd(), l.directory.Logs()} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("create folder of the lab: %w", err)
		}
	}
	return nil
}

// Release releases the directory, and removes it if it is empty.
func (l *Lock) Release() error {
	err := errors.Join(os.Remove(l.directory.Path("lock")), l.file.Close())
	// A directory that still holds logs, or files of the user, stays.
	_ = os.Remove(string(l.directory))
	return err
}

// writeHolder writes who holds the lock: the pid, and the word that distinguishes the process from a later
// one with the same pid.
func writeHolder(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return fmt.Errorf("write lock: %w", err)
	}
	if _, err := fmt.Fprintf(file, "%d %s", os.Getpid(), process.Birth(os.Getpid())); err != nil {
		return fmt.Errorf("write lock: %w", err)
	}
	return nil
}

// readHolder reads what writeHolder wrote. A lock that was just taken may still be empty.
func readHolder(file *os.File) (pid int, birth string) {
	text := make([]byte, 100)
	n, _ := file.ReadAt(text, 0)
	number, birth, _ := strings.Cut(string(text[:n]), " ")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return 0, ""
	}
	return pid, birth
}

// WriteFile writes a file that only the owner can read, completely or not at all.
func WriteFile(path string, content []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// AskToKeep tells the supervisor to leave the directory's content when it ends.
func (d Directory) AskToKeep() error { return WriteFile(d.Path("keep"), nil) }

// KeepAsked reports whether AskToKeep was called.
func (d Directory) KeepAsked() bool {
	_, err := os.Stat(d.Path("keep"))
	return err == nil
}
