package sim

import (
	"time"

	"tenon/core/model"
	"tenon/sim/store"
)

// Campaign runs trials with successive seeds, several at a time. No other code of this package uses
// parallel goroutines: each runs whole runs, which share only the cache of objects that passed validation.
type Campaign struct {
	// Trial is the trial to run; its seed is the first.
	Trial Trial
	// Seeds is the number of seeds; zero means no end.
	Seeds int
	// Vary derives size and faults of each trial from its seed.
	Vary bool
	// Parallel is how many trials run at a time.
	Parallel int
	// Failures is the number of failing seeds after which the campaign ends; zero means never.
	Failures int
	// Stop, once closed, keeps further seeds from starting.
	Stop <-chan struct{}
	// Tried is called with the outcome of each seed, in the order of the seeds.
	Tried func(TrialResult)
}

// Tally is the result of a campaign.
type Tally struct {
	// Tried is the number of seeds that ran, Failed the number of those that failed.
	Tried, Failed int
	// Simulated time, and steps.
	Simulated time.Duration
	Steps     int
	// Baselines is how many runs had a baseline until the end; then come the costs of these runs and of
	// their baselines, and how many runs cost more.
	Baselines     int
	Beside, Alone model.Money
	Dearer        int
}

// Pays reports whether all runs together cost no more than their baselines: a single run may be unlucky.
func (t Tally) Pays() bool { return t.Beside <= t.Alone }

// Saved returns the share of the baselines' cost that the runs saved.
func (t Tally) Saved() float64 {
	if t.Alone == 0 {
		return 0
	}
	return 1 - t.Beside.Float()/t.Alone.Float()
}

// Run runs the campaign. Its reports and its end depend on the seeds alone, and not on Parallel,
// unless it was stopped.
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

// start returns a channel for the outcome of each seed, in their order, and starts workers that fill them.
// Runs under way when the campaign ends are not awaited.
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

// Add counts one more outcome.
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
