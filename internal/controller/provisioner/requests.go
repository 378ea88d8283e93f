package provisioner

import (
	"context"
	"time"

	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/execute"
	"tenon/internal/reconcile"
	"tenon/internal/settings"
)

// searches remembers for which ProvisioningRequests room was looked for in vain. They are looked at again after growing
// pauses, so that others have their turn.
type searches map[request]search

// request names a ProvisioningRequest.
type request struct{ namespace, name string }

// search is how often in a row there was no room, and until when the next look waits.
type search struct {
	times int
	until time.Time
}

// due says for which requests room is looked for now, a number of them at most.
func (s searches) due(most int, now time.Time) func(namespace, name string) bool {
	asked := 0
	return func(namespace, name string) bool {
		if asked >= most || now.Before(s[request{namespace, name}].until) {
			return false
		}
		asked++
		return true
	}
}

// note remembers what a decision found.
func (s searches) note(rooms []execute.RequestRoom, o settings.ProvisioningRequests, now time.Time) {
	for k, v := range s {
		if now.Sub(v.until) > o.LongestBackoff { // it is gone, or over
			delete(s, k)
		}
	}
	for i := range rooms {
		k := request{rooms[i].Namespace, rooms[i].Name}
		if rooms[i].Granted() {
			delete(s, k)
			continue
		}
		times := s[k].times + 1
		s[k] = search{times, now.Add(pause(times, o))}
	}
}

// pause is how long a request rests after its search was in vain a number of times.
func pause(times int, o settings.ProvisioningRequests) time.Duration {
	d := o.FirstBackoff
	for ; times > 1 && d < o.LongestBackoff; times-- {
		d *= 2
	}
	return min(d, o.LongestBackoff)
}

// tellRequests says on the requests that asked for room whether they have got it. Where the nodes for a request are not to be
// launched yet, nothing is said: it asks again.
func (l *loop) tellRequests(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan, now time.Time) {
	late := false
	for i := range p.Spare {
		late = late || !p.Spare[i].Now()
	}
	var told []execute.RequestRoom
	for _, room := range execute.RequestRooms(s, p.Rooms) {
		if !late || !room.Granted() || room.Buys() == 0 {
			told = append(told, room)
		}
	}
	l.searches.note(told, l.kit.Settings.ProvisioningRequests, now)
	if err := l.o.Executor.MarkRequests(ctx, told); err != nil {
		reconcile.Log(ctx).Error(err, "could not write on provisioning requests whether they have room")
	}
}
