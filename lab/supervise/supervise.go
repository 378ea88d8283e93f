// Package supervise starts the components of a lab one after the other, notices when one ends, and ends
// them in reverse order. It does not depend on what the components are.
package supervise

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"tenon/lab/process"
	"tenon/lab/state"
)

// Component is something to run.
type Component struct {
	Name     string
	Program  string   // path of a foreign program; empty means this program's own `component NAME`
	Flags    []string // its arguments
	Env      []string // added to the environment
	Dir      string   // working directory
	Log      string   // path of its log
	Listener net.Listener
	Ports    []state.Port

	// Check is called until it returns nil: then the component is ready. Without a check, the component
	// reports that it is ready.
	Check func(context.Context) error
	// Within is how long it may take to become ready.
	Within time.Duration
	// Restart starts the component again when it ends, as a Deployment would. Without it, the lab ends with
	// the component.
	Restart bool
}

// Supervisor runs components. The zero value is not usable; use New.
type Supervisor struct {
	changed func([]state.Component)
	note    func(string)
	deaths  chan *Died

	stop     chan struct{} // closed when stopping begins
	watchers sync.WaitGroup

	mu      sync.Mutex
	running []*running // in the order of starting
}

// running is a component that was started.
type running struct {
	component Component
	child     *process.Child
	state     string
	restarts  int
}

// The states of a component, in words that users see.
const (
	Starting   = "starting"
	Ready      = "ready"
	Restarting = "restarting"
	Ended      = "ended"
)

// New makes a supervisor. It calls changed at every change of what runs, and note with messages for the
// user while the lab runs. Both are called from one goroutine at a time.
func New(changed func([]state.Component), note func(string)) *Supervisor {
	return &Supervisor{changed: changed, note: note, deaths: make(chan *Died, 16), stop: make(chan struct{})}
}

// Launch starts a component without waiting for it.
func (s *Supervisor) Launch(component Component) error {
	r := &running{component: component, state: Starting}
	if err := s.launch(r); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = append(s.running, r)
	s.publish()
	return nil
}

// Await waits until a launched component is ready, and watches it from then on. Its error has the
// component's name and the last lines of its log; the component may still run, until Stop.
func (s *Supervisor) Await(ctx context.Context, name string) error {
	r := s.find(name)
	if r == nil {
		return fmt.Errorf("await %s: it was not launched", name)
	}
	if err := s.awaitReady(ctx, r); err != nil {
		return err
	}
	s.setState(r, Ready)
	s.watchers.Add(1)
	go s.watch(r)
	return nil
}

func (s *Supervisor) find(name string) *running {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.running {
		if r.component.Name == name {
			return r
		}
	}
	return nil
}

func (s *Supervisor) launch(r *running) error {
	c := r.component
	spec := process.Spec{Path: c.Program, Args: c.Flags, Env: c.Env, Dir: c.Dir, Log: c.Log, Listener: c.Listener, Foreign: true}
	if c.Program == "" {
		spec.Foreign = false
		spec.Args = append([]string{"component", c.Name}, c.Flags...)
	}
	child, err := process.Start(spec)
	if err != nil {
		return fmt.Errorf("start %s: %w", c.Name, err)
	}
	r.child = child
	return nil
}

// checkEvery is how often the supervisor checks whether a starting component is ready.
const checkEvery = 50 * time.Millisecond

func (s *Supervisor) awaitReady(ctx context.Context, r *running) error {
	limit := time.NewTimer(r.component.Within)
	defer limit.Stop()
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	reason := fmt.Errorf("it has not reported yet")
	for {
		select {
		case <-r.child.Ready():
			return nil
		case <-r.child.Done():
			return died(r)
		case <-ctx.Done():
			return fmt.Errorf("start %s: %w", r.component.Name, context.Cause(ctx))
		case <-limit.C:
			return late(r, reason)
		case <-ticker.C:
			if r.component.Check == nil {
				continue
			}
			if reason = r.component.Check(ctx); reason == nil {
				return nil
			}
		}
	}
}

// watch waits for the end of a component that was ready.
func (s *Supervisor) watch(r *running) {
	defer s.watchers.Done()
	for {
		select {
		case <-s.stop:
			return
		case <-r.child.Done():
		}
		if s.stopping() {
			return
		}
		if !r.component.Restart {
			s.setState(r, Ended)
			s.deaths <- died(r)
			return
		}
		if !s.restart(r) {
			return
		}
	}
}

// Waits before a component is started again: first and longest.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
	// calm is how long a component must have run for its next pause to be the first one again.
	calm = time.Minute
)

// restart starts a component again after a growing pause. It returns false if the lab stops meanwhile.
func (s *Supervisor) restart(r *running) bool {
	pause := firstPause
	if time.Since(r.child.Started) < calm {
		pause = min(firstPause<<min(r.restarts, 5), longestPause)
	}
	s.note(fmt.Sprintf("%s ended (%s), starting it again in %s; see: tenon-lab logs %s",
		r.component.Name, r.child.State(), pause, r.component.Name))
	s.setState(r, Restarting)
	for {
		select {
		case <-s.stop:
			return false
		case <-time.After(pause):
		}
		s.mu.Lock()
		r.restarts++
		err := s.launch(r)
		if err == nil {
			r.state = Ready
		}
		s.publish()
		s.mu.Unlock()
		if err == nil {
			return true
		}
		s.note(err.Error())
		pause = longestPause
	}
}

// Abandon ends a component that did not become ready, and forgets it.
func (s *Supervisor) Abandon(name string, grace time.Duration) {
	r := s.find(name)
	if r == nil {
		return
	}
	r.child.Stop(grace)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = slices.DeleteFunc(s.running, func(other *running) bool { return other == r })
	s.publish()
}

// Deaths receives each component that ended without being asked to.
func (s *Supervisor) Deaths() <-chan *Died { return s.deaths }

// Stop ends all components in reverse order and returns when none is left. A component that does
// not end within the grace period is killed, and named in the result.
func (s *Supervisor) Stop(grace time.Duration) (killed []string) {
	close(s.stop)
	s.watchers.Wait()
	s.mu.Lock()
	order := s.running
	s.mu.Unlock()
	for i := len(order) - 1; i >= 0; i-- {
		if order[i].child.Stop(grace) {
			killed = append(killed, order[i].component.Name)
		}
		s.setState(order[i], Ended)
	}
	return killed
}

func (s *Supervisor) stopping() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

func (s *Supervisor) setState(r *running, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.state = state
	s.publish()
}

// publish reports what runs. It holds the lock, so that changes are reported in order; the receiver only
// writes a file.
func (s *Supervisor) publish() {
	components := make([]state.Component, 0, len(s.running))
	for _, r := range s.running {
		components = append(components, state.Component{
			Name:     r.component.Name,
			State:    r.state,
			Pid:      r.child.Pid,
			Birth:    process.Birth(r.child.Pid),
			Started:  r.child.Started,
			Restarts: r.restarts,
			Ports:    append([]state.Port{}, r.component.Ports...),
			Log:      r.component.Log,
		})
	}
	s.changed(components)
}
