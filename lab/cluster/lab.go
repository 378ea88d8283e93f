package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"tenon/api/crds"
	"tenon/lab/install"
	"tenon/lab/pki"
	"tenon/lab/process"
	"tenon/lab/state"
	"tenon/lab/supervise"
)

// lab is one lab while it runs.
type lab struct {
	options       Options
	directory     state.Directory
	started       time.Time
	ports         listeners
	server        string
	administrator *rest.Config
	loopback      *http.Client
	supervisor    *supervise.Supervisor
	notes         recorder
}

// stopGrace is how long a component may take to end before it is killed.
const stopGrace = 10 * time.Second

// Run starts a lab, and keeps it until the context ends or a component dies. When it returns,
// nothing of the lab runs any more. Without Options.Keep nothing of it is left on disk either,
// except after a failure: then the logs stay.
func Run(ctx context.Context, options Options) (err error) {
	program, found := tenonProgram()
	if options.Controller == Tenon && options.ControllerChosen && !found {
		return fmt.Errorf("there is no program %s; build it with: make build", program)
	}
	lock, err := options.Directory.Acquire()
	if err != nil {
		return err
	}
	l := &lab{options: options, directory: options.Directory, started: time.Now()}
	defer func() { err = errors.Join(err, l.leave(lock, err != nil)) }()

	if err := l.prepare(lock); err != nil {
		return err
	}
	l.supervisor = supervise.New(l.changed, options.Progress.Line)
	err = l.start(ctx)
	if err == nil {
		err = l.stay(ctx)
	} else {
		options.Progress.Fail()
	}
	if ctx.Err() != nil {
		err = nil // being asked to stop is not a failure
	}
	l.stop()
	return err
}

// prepare makes a clean directory, opens the ports, and writes keys and settings.
func (l *lab) prepare(lock *state.Lock) error {
	former, found, err := l.directory.Load()
	if err != nil || found {
		// A record that no process holds is that of a lab that was killed. One that cannot be read
		// tells no leftovers; it is cleaned up all the same.
		if ended := former.EndLeftovers(); len(ended) > 0 {
			l.options.Progress.Line("ended what an earlier lab left running: " + strings.Join(ended, ", "))
		}
	}
	if err := errors.Join(lock.Clean(), lock.Layout()); err != nil {
		return err
	}
	if l.ports, err = openPorts(l.options.APIPort); err != nil {
		return err
	}
	l.server = fmt.Sprintf("https://127.0.0.1:%d", portOf(l.ports.apiServer))
	if err := writeIdentities(l.directory, l.server, l.started); err != nil {
		return err
	}
	if l.loopback, err = loopbackClient(l.directory); err != nil {
		return err
	}
	if l.administrator, err = clientcmd.BuildConfigFromFlags("", l.directory.Kubeconfig()); err != nil {
		return fmt.Errorf("read own kubeconfig: %w", err)
	}
	l.administrator.QPS = -1 // no limit: a lab has one installer
	l.notes.begin(state.Record{
		Directory: l.directory,
		Pid:       os.Getpid(),
		Birth:     process.Birth(os.Getpid()),
		Started:   l.started,
		Server:    l.server,
	})
	return l.writeEnvironment()
}

// start brings everything up, in the order in which one needs the other.
func (l *lab) start(ctx context.Context) error {
	// 1. The store, then the API.
	if err := l.bring(ctx, l.etcd()); err != nil {
		return err
	}
	if err := l.bring(ctx, l.apiServer()); err != nil {
		return err
	}
	// 2. What watches the API starts while definitions and rights are installed.
	if err := l.launch(l.controllerManager(), l.scheduler()); err != nil {
		return err
	}
	if err := l.install(ctx); err != nil {
		return err
	}
	// 3. Machines; then those who work with all of it.
	if err := l.launch(l.aws()); err != nil {
		return err
	}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler", "aws"} {
		if err := l.await(ctx, name); err != nil {
			return err
		}
	}
	if err := l.startController(ctx); err != nil {
		return err
	}
	return l.announce()
}

func (l *lab) launch(components ...supervise.Component) error {
	for _, component := range components {
		if err := l.supervisor.Launch(component); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) await(ctx context.Context, name string) error {
	l.options.Progress.Begin(name)
	if err := l.supervisor.Await(ctx, name); err != nil {
		return err
	}
	l.options.Progress.End("ready")
	return nil
}

func (l *lab) bring(ctx context.Context, component supervise.Component) error {
	if err := l.launch(component); err != nil {
		return err
	}
	return l.await(ctx, component.Name)
}

func (l *lab) install(ctx context.Context) error {
	l.options.Progress.Begin("definitions and rights")
	if err := install.Manifests(ctx, l.administrator); err != nil {
		return err
	}
	if l.options.Bare {
		l.options.Progress.End("none of Tenon's")
		return nil
	}
	count, err := install.Definitions(ctx, l.administrator, crds.All())
	if err != nil {
		return err
	}
	dashboard, _ := l.options.Setting(DashboardListen)
	token, err := install.Tenon(ctx, l.administrator, dashboard)
	if err != nil {
		return err
	}
	text := pki.TokenKubeconfig(l.server, l.administrator.CAData, install.AccountUser, token)
	if err := state.WriteFile(l.directory.UserConfig("tenon"), text); err != nil {
		return err
	}
	l.options.Progress.End(fmt.Sprintf("%d definitions", count))
	return nil
}

// startController starts the autoscaler. Unless the user asked for it by name, a lab without one is
// still a lab, and says so.
func (l *lab) startController(ctx context.Context) error {
	switch l.options.Controller {
	case None:
		return nil
	case Memory:
		component, err := l.onMemory()
		if err != nil {
			return err
		}
		return l.bring(ctx, component)
	}
	program, found := tenonProgram()
	if !found {
		l.options.Progress.Line("  - tenon is not built (no " + program + "): nodes come only by hand, with tenon-lab node add")
		return nil
	}
	component, err := l.tenon(program)
	if err != nil {
		return err
	}
	err = l.bring(ctx, component)
	var died *supervise.Died
	if errors.As(err, &died) && !l.options.ControllerChosen {
		l.supervisor.Abandon(component.Name, stopGrace)
		l.options.Progress.Fail()
		l.options.Progress.Line(died.Error())
		l.options.Progress.Line("  - the lab goes on without tenon: nodes come only by hand, with tenon-lab node add")
		return nil
	}
	return err
}

// announce writes down that the lab is ready, and tells the caller.
func (l *lab) announce() error {
	if err := l.notes.ready(); err != nil {
		return err
	}
	summary := Summary{Directory: l.directory, Server: l.server, AWS: l.awsURL(), Took: time.Since(l.started)}
	for _, pid := range append(l.notes.pids(), os.Getpid()) {
		if usage, err := process.Measure(pid); err == nil {
			summary.ResidentBytes += usage.ResidentBytes
		}
	}
	l.options.OnReady(summary)
	return nil
}

// changed receives the running components from the supervisor whenever they change.
func (l *lab) changed(components []state.Component) {
	if err := l.notes.components(components); err != nil {
		l.options.Progress.Line(err.Error())
	}
}

// stay waits until the lab is to end.
func (l *lab) stay(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case died := <-l.supervisor.Deaths():
		return died
	}
}

// stop ends all components.
func (l *lab) stop() {
	l.options.Progress.Begin("stopping")
	killed := l.supervisor.Stop(stopGrace)
	remark := "nothing is left running"
	if len(killed) > 0 {
		remark += "; had to be killed: " + strings.Join(killed, ", ")
	}
	l.options.Progress.End(remark)
}

// leave releases the directory. Its content stays after a failure, or on request.
func (l *lab) leave(lock *state.Lock, failed bool) error {
	l.ports.close()
	var err error
	if !failed && !l.options.Keep && !l.directory.KeepAsked() {
		err = lock.Clear()
	}
	return errors.Join(err, lock.Release())
}
