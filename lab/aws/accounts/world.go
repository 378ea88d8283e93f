package accounts

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"tenon/lab/aws/fault"
)

// World holds all accounts of the emulated AWS.
type World struct {
	config Config
	faults *fault.Set
	log    *slog.Logger
	wake   chan struct{}

	delivery sync.Mutex // serializes messages to the machines, to keep their order

	mu       sync.Mutex
	now      time.Time // of the request or of the current entry of the agenda
	accounts map[string]*Account
	agenda   agenda
	made     int
	outbox   []func(Machines) error
}

// New makes a world without any resources.
func New(c Config, faults *fault.Set, log *slog.Logger) (*World, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &World{config: c, faults: faults, log: log, wake: make(chan struct{}, 1), accounts: map[string]*Account{}}, nil
}

// Do works on an account's region, alone, after everything that is due by now. Its results must not share
// memory with the world.
func (w *World) Do(account, region string, work func(*Region) error) error {
	err := w.locked(func() error { return work(w.account(account).region(region)) })
	w.deliver()
	return err
}

func (w *World) locked(work func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle()
	return work()
}

// Run carries out what is due, until the context ends. Without Run, things happen late: at the next
// request.
func (w *World) Run(ctx context.Context) error {
	for {
		wait := w.catchUp()
		timer := w.config.Clock.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-w.wake:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// catchUp carries out what is due, and returns how long until the next entry.
func (w *World) catchUp() time.Duration {
	wait := time.Hour
	_ = w.locked(func() error { // cannot fail
		if len(w.agenda.entries) > 0 {
			wait = w.agenda.entries[0].due.Sub(w.now)
		}
		return nil
	})
	w.deliver()
	return wait
}

// settle carries out what is due, each entry at its own time.
func (w *World) settle() {
	now := w.config.Clock.Now()
	for {
		e, due := w.agenda.next(now)
		if !due {
			break
		}
		w.now = e.due
		e.do()
	}
	w.now = now
}

// after puts an entry on the agenda.
func (w *World) after(d time.Duration, do func()) {
	w.agenda.note(w.now.Add(d), do)
	select {
	case w.wake <- struct{}{}:
	default: // it is awake already
	}
}

// tell queues a message for the machines.
func (w *World) tell(word func(Machines) error) {
	if w.config.Machines != nil {
		w.outbox = append(w.outbox, word)
	}
}

// deliver passes the messages on, without holding a lock that a machine may need.
func (w *World) deliver() {
	w.delivery.Lock()
	defer w.delivery.Unlock()
	w.mu.Lock()
	words := w.outbox
	w.outbox = nil
	w.mu.Unlock()
	for _, word := range words {
		if err := word(w.config.Machines); err != nil {
			w.log.Error("a machine did not take what it was told", "err", err)
		}
	}
}

// identifier returns a new identifier of a kind, such as i-0123456789abcdef0.
func (w *World) identifier(kind string) string {
	w.made++
	return kind + "-" + w.config.Seed.Hex(17, "id", kind, strconv.Itoa(w.made))
}

func (w *World) account(id string) *Account {
	if a, ok := w.accounts[id]; ok {
		return a
	}
	a := newAccount(w, id)
	w.accounts[id] = a
	return a
}
