package harness

import (
	"bytes"
	"encoding/json"

	"tenon/core/decide"
	"tenon/core/snapshot"
)

// Replay repeats the decision about a snapshot that a controller took, read back from a file. The plan
// must equal the controller's plan to the byte.
func (r *Harness) Replay(s *snapshot.Snapshot, b decide.Budget, d *decide.Decision) decide.Decision {
	r.t.Helper()
	var file bytes.Buffer
	r.Must(snapshot.Write(&file, s))
	read, err := snapshot.Read(&file)
	r.Must(err)
	again := decide.Decide(read, b)
	was, err := json.Marshal(d.Plan)
	r.Must(err)
	is, err := json.Marshal(again.Plan)
	r.Must(err)
	if !bytes.Equal(was, is) {
		r.t.Errorf("the controller decided\n%s\nand a plan of its snapshot says\n%s", was, is)
	}
	return again
}
