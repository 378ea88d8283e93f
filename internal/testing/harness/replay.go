package harness

import (
	"bytes"
	"encoding/json"

	"tenon/core/decide"
	"tenon/core/snapshot"
)

// Replay decides once more about a snapshot that a controller took, as it is read back from a
// file. The plan has to be the one that the controller decided on, to the byte.
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
