package sim

import (
	"time"

	"tenon/core/model"
	"tenon/sim/store"
)

// Campaign tries one seed after the other, several at a time. It is the only place here
// where goroutines run side by side: whole runs, which share only what has passed the
// rules of objects.
type Campaign struct {
	// Trial is what is tried; its seed is the first.
	Trial Trial
	// Seeds is how many; zero is without end.
	Seeds int
	// Vary has size and faults of each trial follow from its seed.
	Vary bool
	// Parallel is how many at a time.
	Parallel int
	// Failures is after how many seeds that fail it ends; zero is none.
	Failures int
	// Stop, once closed, has no further seed begun.
	Stop <-chan struct{}
	// Tried is told how each seed ended, in the order of the seeds.
	Tried func(TrialResult)
}

// Tally is the result of a campaign.
type Tally struct {
	// Tried seeds, and those of them that failed.
	Tried, Failed int
	// Simulated time, and steps.
	Simulated time.Duration
	Steps     int
	// Baselines are how many runs had one until the end; what these runs have cost, and what
	// their baselines have; and how many runs have cost more.
	Baselines     int
	Beside, Alone model.Money
	Dearer        int
}

// Pays reports whether runs have cost no more than their baselines, all together: a single one
// may be unlucky.
func (t Tally) Pays() bool { return t.Beside <= t.Alone }

// Saved is the share of the baselines' cost that the runs saved.
func (t Tally) Saved() float64 {
	if t.Alone == 0 {
		return 0
	}
	return 1 - t.Beside.Float()/t.Alone.Float()
}

// Run runs it. With any number in parallel, what it tells and where it ends depends on the
// seeds alone, unless it was stopped.
func (c Campaign) Run() Tally {
	c.Trial.Options.Passed = &store.Passed{}
	var tally Tally
	end := make(chan struct{})
	defer close(end)
	for slot := range c.start(end) {
		o := <-slot
		tally.Add(o)
		c.Tried(o)
		if tally.Failed == c.Failures && c.Failures > 0 {
			return tally
		}
	}
	return tally
}

// start gives a place for the outcome of each seed, in their order, and has workers fill
// them. What is under way when the campaign ends is left to itself.
func (c Campaign) start(end <-chan struct{}) <-chan chan TrialResult {
	type job struct {
		trial Trial
		slot  chan TrialResult
	}
	const ahead = 64
	jobs, slots := make(chan job), make(chan chan TrialResult, ahead)
	go func() {
		defer close(slots)
		defer close(jobs)
		for n := 0; c.Seeds == 0 || n < c.Seeds; n++ {
			j := job{c.trial(n), make(chan TrialResult, 1)}
			select {
			case jobs <- j:
			case <-end:
				return
			case <-c.Stop:
				return
			}
			select {
			case slots <- j.slot:
			case <-end:
				return
			}
		}
	}()
	for range max(c.Parallel, 1) {
		go func() {
			for j := range jobs {
				j.slot <- j.trial.Run()
			}
		}()
	}
	return slots
}

func (c Campaign) trial(n int) Trial {
	t := c.Trial
	t.Options.Seed += uint64(n)
	if c.Vary {
		t = Varied(t)
	}
	return t
}

// Add counts one more.
func (t *Tally) Add(o TrialResult) {
	t.Tried++
	t.Simulated += o.Report.Simulated
	t.Steps += o.Report.Steps
	if o.Failed() {
		t.Failed++
	}
	if o.Report.Alone > 0 {
		t.Baselines++
		t.Beside, t.Alone = t.Beside+o.Report.Beside, t.Alone+o.Report.Alone
		if o.Report.Beside > o.Report.Alone {
			t.Dearer++
		}
	}
}
