// Package journal is the record of decisions and their outcomes: lines of JSON that are only appended,
// in a folder or in memory, each with a bound on its size.
//
//	decision loops ──Decided──▶ ┐
//	what they carry out ─Told─▶ ├─▶ queue ──▶ writer ──▶ decisions: one line each, the oldest are removed
//	                            ┘                   └──▶ snapshots: parts that several of them share
//
// It must not change or delay a decision: a separate goroutine summarises and writes what is recorded, and
// drops snapshots when it is busy. Recorded entries carry their times; the clock only tells the writer how
// long to rest.
package journal

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Options are the parameters of Open.
type Options struct {
	// Folder to keep it in; empty means in memory, where every process begins an empty one.
	Folder string
	// Bytes is how large it may become: half for decisions, half for snapshots. In memory it is at
	// most InMemory.
	Bytes int64
	// Problem is called once for each error text when a write fails; nil ignores errors.
	Problem func(error)
	// Clock measures the pauses of the writer after a snapshot; without one it does not pause.
	Clock clock.Clock
}

// restFor is the pause of the writer after a snapshot, as a multiple of the time that the snapshot
// took: the writer uses at most a twentieth of one processor. During a pause all differing decisions
// but one are recorded without a snapshot.
const restFor = 19

// InMemory is the bound of a journal without a folder.
const InMemory = 8 << 20

// mostPending is how many snapshots may wait to be written. More would cost memory.
const mostPending = 1

// Journal is a record that grows. A nil journal records nothing. Its methods may be called
// concurrently.
type Journal struct {
	options   Options
	decisions *store // both belong to the writer, and grow while it holds writing
	snapshots *store

	mu      sync.Mutex
	seq     int64
	queue   []task
	pending int // snapshots in the queue
	running bool
	wake    chan struct{}

	last     map[string]saying // by controller
	currency string
	begins   time.Time         // of the oldest line
	byHand   map[string]string // the last intervention of an object, which is not recorded again

	writing sync.Mutex
	// Used by the writer alone.
	parts  map[string]bool // in the last piece of snapshots
	faults map[string]bool // already reported
}

// saying is the last decision of a controller.
type saying struct {
	seq  int64
	text string
}

// task is a line to be written and, if it is kept, the snapshot of its decision.
type task struct {
	line     Line
	snapshot *snapshot.Snapshot
	plan     *plan.Plan
}

// Record is a decision as its controller knows it.
type Record struct {
	By, Woke string
	Took     time.Duration
	Effort   decide.Budget
	Snapshot *snapshot.Snapshot
	Decision *decide.Decision
}

// Open opens a journal, and continues where the last one in the folder ended. A cut-off last line is left
// as it is: nothing that was recorded is lost.
func Open(o Options, now time.Time) (*Journal, error) {
	if o.Folder == "" {
		o.Bytes = min(o.Bytes, InMemory)
	}
	j := &Journal{options: o, wake: make(chan struct{}, 1), last: map[string]saying{}, byHand: map[string]string{}, parts: map[string]bool{}, faults: map[string]bool{}}
	var err error
	if j.decisions, err = openStore(o.Folder, decisionsName, o.Bytes/2); err != nil {
		return nil, err
	}
	if j.snapshots, err = openStore(o.Folder, snapshotsName, o.Bytes/2); err != nil {
		return nil, err
	}
	if j.seq, err = j.decisions.lastSeq(); err != nil {
		return nil, err
	}
	if err := j.recall(); err != nil {
		return nil, err
	}
	if j.begins.IsZero() {
		j.begins = now
	}
	kept := o.Folder
	if kept == "" {
		kept = "memory"
	}
	j.put(task{line: Line{Start: &Start{At: now.UTC(), Kept: kept}}})
	return j, nil
}

// PricedIn sets the currency of all prices that are recorded from now on.
func (j *Journal) PricedIn(currency string) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.currency = currency
}

// Decided records a decision and returns its number. The pods of the snapshot may be overwritten after that.
func (j *Journal) Decided(r Record) int64 {
	if j == nil {
		return 0
	}
	d := summary(&r)
	j.mu.Lock()
	d.Cost.Currency = j.currency
	j.mu.Unlock()
	for i := range d.Unplaced {
		d.Unplaced[i].Why = reason.InCurrency(d.Unplaced[i].Why, d.Cost.Currency)
	}
	said := d.said()
	j.mu.Lock()
	was := j.last[r.By]
	same := was.text == said
	if same {
		d = &Decision{At: d.At, By: d.By, Woke: d.Woke, TookMicros: d.TookMicros, Same: was.seq}
	}
	keep := !same && (!j.running || j.pending < mostPending)
	if keep {
		j.pending++
	}
	j.mu.Unlock()
	t := task{line: Line{Decision: d}}
	if keep {
		t.snapshot, t.plan = kept(r.Snapshot), &plan.Plan{}
		*t.plan = r.Decision.Plan
	}
	seq := j.put(t)
	if !same {
		j.mu.Lock()
		j.last[r.By] = saying{seq, said}
		j.mu.Unlock()
	}
	return seq
}

// Told records the outcome of an action.
func (j *Journal) Told(o Outcome) {
	if j != nil {
		o.At = o.At.UTC()
		j.put(task{line: Line{Outcome: &o}})
	}
}

// put numbers a task, and writes it: through the writer if that runs, at once otherwise.
func (j *Journal) put(t task) int64 {
	j.mu.Lock()
	j.seq++
	t.line.Seq = j.seq
	j.queue = append(j.queue, t)
	running := j.running
	j.mu.Unlock()
	if !running {
		j.drain()
		return t.line.Seq
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
	return t.line.Seq
}

// kept is a snapshot that stays valid after its reader's next look, which reuses the list of pods and
// changes no other part.
func kept(s *snapshot.Snapshot) *snapshot.Snapshot {
	out := *s
	out.Pods = slices.Clone(s.Pods)
	return &out
}

// Run writes until the context ends, and then writes the rest of the queue.
func (j *Journal) Run(ctx context.Context) error {
	j.mu.Lock()
	j.running = true
	j.mu.Unlock()
	for {
		select {
		case <-j.wake:
			j.work(ctx)
		case <-ctx.Done():
			j.mu.Lock()
			j.running = false
			j.mu.Unlock()
			j.drain()
			return j.close()
		}
	}
}

// NeedLeaderElection is false: a standby shows what it recorded while it led.
func (j *Journal) NeedLeaderElection() bool { return false }

// Start is Run under the name that managers call.
func (j *Journal) Start(ctx context.Context) error { return j.Run(ctx) }

// work writes the queue in order, and pauses after each snapshot.
func (j *Journal) work(ctx context.Context) {
	for ctx.Err() == nil {
		began := j.now()
		t, ok := j.one()
		if !ok {
			return
		}
		if t.snapshot == nil || j.options.Clock == nil {
			continue
		}
		select {
		case <-j.options.Clock.After(restFor * j.now().Sub(began)):
		case <-ctx.Done():
		}
	}
}

func (j *Journal) now() time.Time {
	if j.options.Clock == nil {
		return time.Time{}
	}
	return j.options.Clock.Now()
}

// one writes the first task of the queue, if there is one.
func (j *Journal) one() (task, bool) {
	j.writing.Lock()
	defer j.writing.Unlock()
	t, ok := j.take()
	if ok {
		j.write(t)
	}
	return t, ok
}

// drain writes the queue in order.
func (j *Journal) drain() {
	for {
		if _, ok := j.one(); !ok {
			return
		}
	}
}

func (j *Journal) take() (task, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.queue) == 0 {
		return task{}, false
	}
	t := j.queue[0]
	j.queue[0] = task{}
	j.queue = j.queue[1:]
	return t, true
}

func (j *Journal) close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if err := j.decisions.close(); err != nil {
		return err
	}
	return j.snapshots.close()
}

// write makes the lines of a task.
func (j *Journal) write(t task) {
	if t.snapshot != nil {
		digest, err := j.keep(t.snapshot)
		if j.check(err); err == nil {
			t.line.Decision.Snapshot, t.line.Decision.Plan = digest, Digest(t.plan)
		}
	}
	j.check(j.decisions.append(t.line))
	j.mu.Lock()
	defer j.mu.Unlock()
	if t.snapshot != nil {
		j.pending--
	}
}

// check reports an error the first time.
func (j *Journal) check(err error) {
	if err != nil && j.options.Problem != nil && !j.faults[err.Error()] {
		j.faults[err.Error()] = true
		j.options.Problem(err)
	}
}
