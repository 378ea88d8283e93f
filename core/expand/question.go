package expand

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"
)

// Question is what the expander grpc asks a server: which of the options to keep. They are in the order of their groups.
//
// A decision does not call servers. It finds the answer in its snapshot, or says which question is open; the caller asks and decides
// again with the answer.
type Question struct{ Options []Option }

// Answer is what a server said about a question.
type Answer struct {
	// Question is the key of the question.
	Question string `json:"question"`
	// Groups are those that it keeps; if none of them is an option, all options stay.
	Groups []string `json:"groups,omitempty"`
}

// Key identifies the question: questions with the same groups, sizes and pods have the same key.
func (q Question) Key() string {
	h := fnv.New128a()
	for _, o := range q.Options {
		_, _ = fmt.Fprintf(h, "%q %d %q\n", o.Group, o.Nodes, o.Helped) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// filter are the options that an answer keeps. It is false, with all options, if no answer is to this question.
func (q Question) filter(answers []Answer) ([]Option, bool) {
	key := q.Key()
	at := slices.IndexFunc(answers, func(a Answer) bool { return a.Question == key })
	if at < 0 {
		return q.Options, false
	}
	kept := slices.DeleteFunc(slices.Clone(q.Options), func(o Option) bool { return !slices.Contains(answers[at].Groups, o.Group) })
	if len(kept) == 0 {
		return q.Options, true
	}
	return kept, true
}
