package memory

import (
	"slices"
	"time"

	"tenon/cloud"
	"tenon/core/model"
)

// Machine is an instance with what its user data tell it: all that a Launcher needs to
// run it.
type Machine struct {
	Instance cloud.Instance `json:"instance"`
	// Node is the name that it will join by.
	Node string `json:"node"`
	// Labels, Annotations and Taints are the Node's from its first moment.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Taints      []model.Taint     `json:"taints,omitempty"`
	// Boots is when the machine is up.
	Boots time.Time `json:"boots"`
}

// Entry is the cloud's record of a machine. The state of the machine at any time follows from the times in
// the record.
type Entry struct {
	Machine Machine `json:"machine"`
	// Dies is when the machine will die by itself, Deleted when it began to end, and Gone when it has ended.
	// The zero time means never.
	Dies    time.Time `json:"dies,omitzero"`
	Deleted time.Time `json:"deleted,omitzero"`
	Gone    time.Time `json:"gone,omitzero"`
	// Returned says that its place in the stock is free again.
	Returned bool `json:"returned,omitempty"`
	// Lacks are tags that were removed, sorted.
	Lacks []Tag `json:"lacks,omitempty"`
}

// at is the instance as it was at a time, if it existed.
func (r *Entry) at(t time.Time) (cloud.Instance, bool) {
	i := r.Machine.Instance.Clone()
	switch {
	case t.Before(i.Launched) || r.goneBy(t):
		return cloud.Instance{}, false
	case !r.Deleted.IsZero() && !t.Before(r.Deleted):
		i.State = cloud.Terminating
	case t.Before(r.Machine.Boots):
		i.State = cloud.Pending
	default:
		i.State = cloud.Running
	}
	return i, true
}

func (r *Entry) goneBy(t time.Time) bool { return !r.Gone.IsZero() && !t.Before(r.Gone) }

// end begins to end the machine.
func (r *Entry) end(at time.Time, takes time.Duration) {
	r.Deleted, r.Gone = at, at.Add(takes)
}

// next returns when the machine next changes in a way that the cloud must act on.
func (r *Entry) next() time.Time {
	switch {
	case r.Returned:
		return time.Time{}
	case !r.Gone.IsZero():
		return r.Gone
	}
	return r.Dies
}

// unseen records are of machines that no look shows any more, however late.
func (r *Entry) unseen(by time.Time) bool { return r.Returned && r.goneBy(by) }

// keep writes a machine down.
func (c *Cloud) keep(r *Entry) {
	id := r.Machine.Instance.ProviderID
	c.records[id] = r
	if at, known := slices.BinarySearch(c.present, id); !known {
		c.present = slices.Insert(c.present, at, id)
	}
}

// settle brings the records up to date: machines that have died end, and those that have ended free their
// place in the stock.
func (c *Cloud) settle(now time.Time) {
	if c.due.IsZero() || now.Before(c.due) {
		return
	}
	c.due = time.Time{}
	c.present = slices.DeleteFunc(c.present, func(id string) bool { return c.records[id].unseen(now.Add(-c.options.Lag)) })
	for _, id := range c.present {
		r := c.records[id]
		if r.Deleted.IsZero() && !r.Dies.IsZero() && !now.Before(r.Dies) {
			r.end(r.Dies, 0)
			c.outbox.terminate(id)
		}
		if r.goneBy(now) && !r.Returned {
			r.Returned = true
			c.giveBack(r.Machine.Instance.Offer)
		}
		c.await(r.next())
	}
}

// await makes sure that settle does its work at a time.
func (c *Cloud) await(t time.Time) {
	if !t.IsZero() && (c.due.IsZero() || t.Before(c.due)) {
		c.due = t
	}
}

func (c *Cloud) giveBack(o cloud.Offer) {
	if left, limited := c.stock[o]; limited {
		c.stock[o] = left + 1
	}
}

// Settle brings the cloud up to date and tells the Launcher. Every call to a provider does so too; a
// simulation that moves its clock calls it at the times that Next returns.
func (c *Cloud) Settle() {
	now := c.options.Clock.Now()
	c.mu.Lock()
	c.settle(now)
	c.mu.Unlock()
	c.deliver()
}

// Next is when the cloud will change without being called, if it will.
func (c *Cloud) Next() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.due, !c.due.IsZero()
}
