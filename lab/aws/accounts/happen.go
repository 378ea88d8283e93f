package accounts

import (
	"cmp"
	"slices"
	"time"

	"tenon/lab/aws/fault"
	"tenon/lab/aws/wire"
	"tenon/lab/kubelet"
)

// usualNotice is how long before its end a spot instance gets notice.
const usualNotice = 2 * time.Minute

// Happen carries out a fault that happens once, at its time. It returns the instances or images that the
// fault struck, if it struck immediately.
func (w *World) Happen(f fault.Fault) (struck []string) {
	_ = w.locked(func() error { // cannot fail
		if f.After > 0 {
			w.after(time.Duration(f.After), func() { w.strike(f) })
			return nil
		}
		struck = w.strike(f)
		return nil
	})
	w.deliver()
	return struck
}

// strike applies the fault to the regions that it means, among those in use.
func (w *World) strike(f fault.Fault) (struck []string) {
	if f.Account != "" && f.Region != "" {
		w.account(f.Account).region(f.Region)
	}
	for _, r := range w.regions() {
		if (f.Account == "" || f.Account == r.Account.ID) && (f.Region == "" || f.Region == r.Name) {
			struck = append(struck, r.strike(f)...)
		}
	}
	return struck
}

// regions returns all regions in use, in the order of accounts and names.
func (w *World) regions() []*Region {
	var all []*Region
	for _, a := range w.accounts {
		for _, r := range a.regions {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *Region) int {
		return cmp.Or(cmp.Compare(a.Account.ID, b.Account.ID), cmp.Compare(a.Name, b.Name))
	})
	return all
}

func (r *Region) strike(f fault.Fault) []string {
	switch f.Kind {
	case fault.ImageRelease:
		r.Release(f.Families, r.Now().UTC())
		return nil
	case fault.ImageDeprecated:
		return r.eachImage(f, func(i *Image) { i.Deprecated = r.Now() })
	case fault.ImageGone:
		gone := r.eachImage(f, func(*Image) {})
		r.images = slices.DeleteFunc(r.images, func(i *Image) bool { return slices.Contains(gone, i.ID) })
		return gone
	}
	var struck []string
	for _, i := range r.victims(f) {
		r.strikeInstance(f, i)
		struck = append(struck, i.ID)
	}
	return struck
}

func (r *Region) eachImage(f fault.Fault, do func(*Image)) (ids []string) {
	for _, i := range r.images {
		if i.named(f.Images) {
			do(i)
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// victims returns the running instances that the fault names, or a share of them: at least one if there
// are any.
func (r *Region) victims(f fault.Fault) []*Instance {
	var able []*Instance
	for _, i := range r.instances {
		if (i.State == Running || i.State == Pending) && f.Names(r.faultPool(i.pool)) && named(f.Instances, i.ID) && suits(f.Kind, i) {
			able = append(able, i)
		}
	}
	if f.Share == 0 || len(able) == 0 {
		return able
	}
	seed := r.world.config.Seed
	slices.SortFunc(able, func(a, b *Instance) int {
		return cmp.Compare(seed.Number("victim", f.ID, a.ID), seed.Number("victim", f.ID, b.ID))
	})
	able = able[:max(1, int(f.Share*float64(len(able))+0.5))]
	slices.SortFunc(able, func(a, b *Instance) int { return cmp.Compare(a.Number, b.Number) })
	return able
}

func named(patterns []string, id string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return wire.Glob(p, id) })
}

func suits(k fault.Kind, i *Instance) bool {
	switch k {
	case fault.SpotInterruption, fault.RebalanceRecommendation:
		return i.CapacityType == "spot"
	case fault.ReservationInterruption:
		return i.Reservation != ""
	default:
		return true
	}
}

// interruptReserved ends an instance of an interruptible reservation after a notice.
func (r *Region) interruptReserved(i *Instance, notice time.Duration) {
	r.announce(i, reservationInterruption())
	r.world.after(notice, func() { r.shutDown(i, "Server.CapacityReservationInterruption: the capacity was taken back") })
}

func (r *Region) strikeInstance(f fault.Fault, i *Instance) {
	notice := cmp.Or(time.Duration(f.Notice), usualNotice)
	switch f.Kind {
	case fault.SpotInterruption:
		r.announce(i, spotInterruption())
		r.world.after(notice, func() { r.shutDown(i, "Server.SpotInstanceTermination: Spot Instance termination") })
	case fault.ReservationInterruption:
		r.interruptReserved(i, notice)
	case fault.RebalanceRecommendation:
		r.announce(i, rebalance())
	case fault.ScheduledChange:
		start := r.Now().Add(cmp.Or(time.Duration(f.Notice), 14*24*time.Hour))
		i.Events = append(i.Events, Event{ID: r.world.identifier("instance-event"), Code: "instance-retirement",
			Description: "The instance is running on degraded hardware", NotBefore: start})
		r.announce(i, scheduledChange(start))
	case fault.InstanceFailure:
		r.fail(i, f.How)
	case fault.TagRemoval:
		i.Tags = slices.DeleteFunc(slices.Clone(i.Tags), func(t wire.Tag) bool { return named(f.Tags, t.Key) })
	}
}

func (r *Region) fail(i *Instance, how string) {
	broken := kubelet.Fault{}
	switch how {
	case fault.Terminates:
		r.shutDown(i, "Server.InternalError: Internal error on the host")
		return
	case fault.Stops:
		r.stop(i)
		return
	case fault.Impaired:
		i.Impaired = r.Now()
		if m := i.member; m != nil {
			r.world.after(r.world.config.Pace.HealthCheck, func() { r.tend(m.Group) })
		}
		broken.Silent = true
	case fault.Silent:
		broken.Silent = true
	case fault.NotReady:
		broken.NotReady = true
	}
	id := i.ProviderID()
	r.world.tell(func(m Machines) error {
		m.SetFault(id, broken)
		return nil
	})
}

// Shifts returns the zones of the region that traffic is shifted away from.
func (r *Region) Shifts() []fault.Shift {
	return r.world.faults.Shifts(r.Account.ID, r.Name, r.Now())
}
