package table

import (
	"fmt"
	"strings"
)

// buffers tells whether there is room for the pods that buffers stand for.
func (t *writer) buffers() {
	if len(t.p.Plan.Rooms) == 0 {
		return
	}
	t.line("")
	t.line("%s", t.colored(bold, "Capacity buffers"))
	for i := range t.p.Plan.Rooms {
		room := &t.p.Plan.Rooms[i]
		var parts []string
		for _, part := range []struct {
			pods int
			text string
		}{
			{room.Existing, "%d on nodes that are there or on their way"}, {room.Planned, "%d beside pods on new nodes"},
			{room.New, "%d on new nodes of their own"}, {room.Lacking, "%d without room"},
		} {
			if part.pods > 0 {
				parts = append(parts, fmt.Sprintf(part.text, part.pods))
			}
		}
		text := fmt.Sprintf("%s: room for %s: %s", t.p.Snapshot.Buffers[room.Buffer].Key(), plural(room.Pods(), "pod", "pods"), strings.Join(parts, ", "))
		if room.Verdict != nil {
			text += "; " + room.Verdict.Text()
		}
		t.paragraph(2, plain, text)
	}
}
