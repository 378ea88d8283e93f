package accounts

import (
	"slices"
	"time"

	"tenon/lab/aws/wire"
)

// The life of an instance:
//
//	            Pace.Pending          Pace.Stopping
//	  launch ─▶ pending ─▶ running ─▶ stopping ─▶ stopped
//	               │          │                      │
//	               └──────────┴──▶ shutting-down ◀───┘
//	                                    │ Pace.ShuttingDown
//	                               terminated ─▶ forgotten after Pace.Remembered

// begin starts the life of a new instance.
func (r *Region) begin(i *Instance) {
	r.enter(i, Pending)
	r.world.after(r.world.config.Pace.Pending, func() {
		if i.State == Pending {
			r.enter(i, Running)
			if i.member == nil || !i.member.warm {
				r.boot(i)
			}
		}
	})
}

// enter changes the state and sends a notice to the queue.
func (r *Region) enter(i *Instance, s State) {
	i.State, i.Changed = s, r.Now()
	r.announce(i, stateChange(s))
	if i.member != nil {
		r.followMember(i.member)
	}
}

// undo removes an instance whose life has not begun.
func (r *Region) undo(i *Instance) {
	r.release(i)
	delete(r.byID, i.ID)
	r.instances = slices.DeleteFunc(r.instances, func(other *Instance) bool { return other == i })
}

// release gives back what an instance uses.
func (r *Region) release(i *Instance) {
	for _, n := range i.Interfaces {
		n.release(i.Subnet)
	}
	r.leaveReservation(i)
	if r.running[i.pool]--; r.running[i.pool] == 0 {
		delete(r.running, i.pool)
	}
}

// shutDown begins an instance's end. An instance that is ending or has ended does not change.
func (r *Region) shutDown(i *Instance, why string) {
	if i.State == ShuttingDown || i.State == Terminated {
		return
	}
	i.Why = why
	r.enter(i, ShuttingDown)
	r.silence(i)
	r.world.after(r.world.config.Pace.ShuttingDown, func() { r.terminated(i) })
}

func (r *Region) terminated(i *Instance) {
	r.enter(i, Terminated)
	r.release(i)
	for _, v := range i.Volumes {
		if v.Instance = nil; v.Keep {
			r.outlived = append(r.outlived, v)
		}
	}
	r.world.after(r.world.config.Pace.Remembered, func() {
		delete(r.byID, i.ID)
		r.instances = slices.DeleteFunc(r.instances, func(other *Instance) bool { return other == i })
	})
}

// stop halts an instance, like a failure of its host or a shutdown command.
func (r *Region) stop(i *Instance) {
	if i.State != Running && i.State != Pending {
		return
	}
	i.Why = "Server.InstanceStop: the instance was stopped"
	r.enter(i, Stopping)
	r.silence(i)
	r.world.after(r.world.config.Pace.Stopping, func() {
		if i.State == Stopping {
			r.enter(i, Stopped)
		}
	})
}

// silence switches the simulated machine off.
func (r *Region) silence(i *Instance) {
	id := i.ProviderID()
	r.world.tell(func(m Machines) error {
		m.Terminate(id)
		return nil
	})
}

// Change says how a request changed an instance's state.
type Change struct {
	Instance *Instance
	Before   State
}

// Terminate ends the instances. It ends none if one of the IDs is wrong. A protected instance makes it an error and keeps the
// instances of its own zone; the others end.
func (r *Region) Terminate(ids []string, dryRun bool) ([]Change, error) {
	found, err := r.InstancesByID(ids)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{} // by zone
	for _, i := range found {
		if i.Spec.KeepFromTheEnd != nil && *i.Spec.KeepFromTheEnd {
			kept[i.Subnet.Zone.Name] = true
			if err == nil {
				err = wire.Errorf("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", i.ID)
			}
		}
	}
	if dryRun && err == nil {
		err = wire.DryRun()
	}
	if dryRun {
		return nil, err
	}
	var changes []Change
	for _, i := range found {
		if !kept[i.Subnet.Zone.Name] {
			changes = append(changes, Change{i, i.State})
			r.shutDown(i, "Client.UserInitiatedShutdown: User initiated shutdown")
		}
	}
	return changes, err
}

// StopInstances halts all instances or none.
func (r *Region) StopInstances(ids []string) ([]Change, error) {
	found, err := r.InstancesByID(ids)
	if err != nil {
		return nil, err
	}
	for _, i := range found {
		if i.Lifecycle != "" {
			return nil, wire.Errorf("UnsupportedOperation", "You can't stop the instance '%s' because it is a %s instance.", i.ID, i.Lifecycle)
		}
		if i.State == ShuttingDown || i.State == Terminated {
			return nil, wire.Errorf("IncorrectInstanceState", "The instance '%s' is not in a state from which it can be stopped.", i.ID)
		}
	}
	var changes []Change
	for _, i := range found {
		changes = append(changes, Change{i, i.State})
		r.stop(i)
	}
	return changes, nil
}

// lateStatus is how long after its launch an instance's checks have a result.
const lateStatus = 2 * time.Minute

// Status is the result of an instance's checks: ok, impaired or initializing.
func (r *Region) Status(i *Instance) string {
	switch {
	case !i.Impaired.IsZero():
		return "impaired"
	case i.State != Running:
		return "not-applicable"
	case r.Now().Sub(i.Launched) < lateStatus:
		return "initializing"
	default:
		return "ok"
	}
}
