package document

import "strconv"

// buffers says of every buffer where the pods that it stands for have room, if there are any.
func (p Planned) buffers(e *encoder) {
	if len(p.Plan.Rooms) == 0 {
		return
	}
	e.list("buffers", len(p.Plan.Rooms), func(i int) {
		room := &p.Plan.Rooms[i]
		number := func(name string, n int) { e.inline(name, strconv.AppendInt(e.scratch(), int64(n), 10)) }
		e.open()
		kind, b := "buffer", &p.Snapshot.Buffers[room.Buffer]
		if b.Booking != nil {
			kind = "provisioningRequest"
		}
		e.text(kind, b.Key())
		number("pods", room.Pods())
		number("onExisting", room.Existing)
		number("besidePods", room.Planned)
		number("onSpare", room.New)
		number("lacking", room.Lacking)
		if room.Verdict != nil {
			e.text("message", room.Verdict.Text())
		}
		e.close()
	})
}
