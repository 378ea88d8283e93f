package accounts

import (
	"errors"
	"fmt"
	"time"

	"tenon/lab/aws/wire"
)

// Activity is something that a group did or tried, as its history reports it.
type Activity struct {
	ID, Group, Description, Cause string
	Start, End                    time.Time // End is zero while it lasts
	Status                        string
	Message                       string
	Progress                      int
	Details                       string // JSON
	Number                        int    // in the order in which they began
}

// States of activities, with the names of Auto Scaling.
const (
	activityBegun      = "PreInService"
	activityInProgress = "InProgress"
	activityWaiting    = "MidLifecycleAction"
	activitySuccessful = "Successful"
	activityFailed     = "Failed"
	activityCancelled  = "Cancelled"
)

// rememberedActivities is how many activities a group keeps.
const rememberedActivities = 2000

func (r *Region) note(g *ScalingGroup, a Activity) *Activity {
	w := r.world
	id := w.identifier("activity")
	a.Number, a.ID = w.made, w.config.Seed.UUID("activity", id)
	a.Group, a.Start = g.Name, r.Now()
	g.Activities = append([]*Activity{&a}, g.Activities[:min(len(g.Activities), rememberedActivities)]...)
	return &a
}

// conclude closes an activity, at whose end the group's cooldown begins.
func (r *Region) conclude(g *ScalingGroup, a *Activity, status, message string) {
	if !a.End.IsZero() {
		return
	}
	a.End, a.Status, a.Message, a.Progress = r.Now(), status, message, 100
	if status == activitySuccessful {
		g.cooling = r.Now().Add(time.Duration(*g.Spec.Cooldown) * time.Second)
	}
}

// launchFailed notes a failed launch, in the words of the history.
func (r *Region) launchFailed(g *ScalingGroup, cause, details string, why string) {
	a := r.note(g, Activity{Description: "Launching a new EC2 instance.  Status Reason: " + why, Cause: cause, Details: details})
	r.conclude(g, a, activityFailed, why)
}

// at returns a sentence of a cause, with the present time.
func (r *Region) at(format string, args ...any) string {
	return fmt.Sprintf("At %s %s", stamp(r.Now()), fmt.Sprintf(format, args...))
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// messageOf returns the message of an error without its code.
func messageOf(err error) string {
	if known, ok := errors.AsType[*wire.Error](err); ok {
		return known.Message
	}
	return err.Error()
}

// ActivitiesOf returns the activities of a group or of all groups, the newest first.
func (r *Region) ActivitiesOf(name string, deleted bool) ([]*Activity, error) {
	if name != "" && !deleted {
		g, err := r.ScalingGroup(name)
		if err != nil {
			return nil, err
		}
		return g.Activities, nil
	}
	groups := r.scaling
	if deleted {
		groups = append(groups[:len(groups):len(groups)], r.formerScaling...)
	}
	var all []*Activity
	for _, g := range groups {
		if name == "" || g.Name == name {
			all = append(all, g.Activities...)
		}
	}
	return all, nil
}
