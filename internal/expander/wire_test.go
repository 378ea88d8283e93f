package expander

import (
	"bytes"
	"testing"
)

// FuzzAnswers reads any bytes as an answer: it never panics, and reads what it reads from a copy as well.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte("\x0a\x05\x0a\x03web"))
	f.Add([]byte("\x0a\x05\x0a\x03we"))
	f.Add([]byte("\x10\x01\x0a\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, again response
		if err := (wire{}).Unmarshal(bytes.Clone(data), &first); err != nil {
			return
		}
		if err := (wire{}).Unmarshal(data, &again); err != nil || len(again.groups) != len(first.groups) {
			t.Errorf("%q is %q and then %q, %v", data, first.groups, again.groups, err)
		}
	})
}
