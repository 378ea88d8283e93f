package table

import (
	"fmt"
	"slices"
	"strings"

	"tenon/core/snapshot"
)

// buffers tells whether there is room for the pods that buffers stand for.
func (t *writer) buffers() {
	if len(t.p.Plan.Rooms) == 0 {
		return
	}
	t.line("")
	title := "Capacity buffers"
	if slices.ContainsFunc(t.p.Snapshot.Buffers, func(b snapshot.Buffer) bool { return b.Booking != nil }) {
		title = "Capacity buffers and provisioning requests"
	}
	t.line("%s", t.colored(bold, title))
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
		name, b := "", &t.p.Snapshot.Buffers[room.Buffer]
		if b.Booking != nil {
			name = "ProvisioningRequest "
		}
		text := fmt.Sprintf("%s%s: room for %s: %s", name, b.Key(), plural(room.Pods(), "pod", "pods"), strings.Join(parts, ", "))
		if room.Verdict != nil {
			text += "; " + room.Verdict.Text()
		}
		t.paragraph(2, plain, text)
	}
}
