package memory

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"tenon/cloud"
)

// Method is one of the contract's calls.
type Method string

// The methods.
const (
	Create  Method = "Create"
	Delete  Method = "Delete"
	Get     Method = "Get"
	List    Method = "List"
	Catalog Method = "Catalog"
	Drifted Method = "Drifted"
	Label   Method = "Label"
)

// Call is a call that is about to be made.
type Call struct {
	Method Method
	// Subject is the claim's UID (Create), a provider ID, or the name of a class (Catalog).
	Subject string
	// Attempt counts the calls of this method about this subject, from 1. It goes on
	// when the provider is connected anew.
	Attempt int
}

// Fault is what goes wrong with a call. The zero value is nothing.
type Fault struct {
	// Delay is waited before anything happens, or until the context ends.
	Delay time.Duration
	// Before is the error of a call that does nothing.
	Before error
	// After replaces the answer of a call that did its work: the answer is lost.
	After error
}

// Errors of calls that went wrong by chance.
var (
	// ErrUnreachable means that the call never arrived.
	ErrUnreachable = errors.New("memory: the cloud cannot be reached")
	// ErrLost means that the call did its work, but its answer was lost.
	ErrLost = errors.New("memory: the connection broke before the answer came")
)

// Rates say how often things go wrong, in a thousand calls.
type Rates struct {
	Unreachable, Lost, Throttled, Slow int
	// SlowUpTo is the longest delay of a slow call.
	SlowUpTo time.Duration
	// Deaths are of instances, at some time before LifeUpTo.
	Deaths   int
	LifeUpTo time.Duration
}

// Chance decides at random. Its decision on a call or an instance depends only on the seed, and on nothing
// that happened before.
type Chance struct {
	Seed  uint64
	Rates Rates
}

// retryAfter is the pause that a throttled caller gets.
const retryAfter = time.Second

// Trouble is for Options.Trouble.
func (c Chance) Trouble(call Call) Fault {
	dice := c.dice(string(call.Method), call.Subject, call.Attempt)
	var f Fault
	if happens(dice, c.Rates.Slow) && c.Rates.SlowUpTo > 0 {
		f.Delay = time.Duration(1 + dice.Int64N(int64(c.Rates.SlowUpTo)))
	}
	switch {
	case happens(dice, c.Rates.Throttled):
		f.Before = &cloud.Throttled{RetryAfter: retryAfter}
	case happens(dice, c.Rates.Unreachable):
		f.Before = ErrUnreachable
	case happens(dice, c.Rates.Lost):
		f.After = ErrLost
	}
	return f
}

// Lifetime is for Options.Lifetime.
func (c Chance) Lifetime(providerID string) (time.Duration, bool) {
	dice := c.dice("lifetime", providerID, 0)
	if !happens(dice, c.Rates.Deaths) || c.Rates.LifeUpTo <= 0 {
		return 0, false
	}
	return time.Duration(1 + dice.Int64N(int64(c.Rates.LifeUpTo))), true
}

func (c Chance) dice(what, subject string, attempt int) *rand.Rand {
	return rand.New(rand.NewPCG(c.Seed, digest(uint64(attempt), what, subject)))
}

func happens(dice *rand.Rand, inThousand int) bool { return dice.IntN(1000) < inThousand }

// digest is a number that texts and a number always give. Texts end where the next begins.
func digest(n uint64, texts ...string) uint64 {
	h := fnv.New64a()
	// A hash accepts every input: there is no error.
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, n))
	for _, text := range texts {
		_, _ = h.Write(append([]byte(text), 0))
	}
	return h.Sum64()
}
