package accounts

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Hook holds the members of a group at their launch or at their end until a program reports that it is
// done.
type Hook struct {
	Name       string `query:"LifecycleHookName" xml:"LifecycleHookName"`
	Transition string `query:"LifecycleTransition" xml:"LifecycleTransition"`
	Default    string `query:"DefaultResult" xml:"DefaultResult"`
	Heartbeat  int    `query:"HeartbeatTimeout" xml:"HeartbeatTimeout"`
	Metadata   string `query:"NotificationMetadata" xml:"NotificationMetadata,omitempty"`
	Target     string `query:"NotificationTargetARN" xml:"NotificationTargetARN,omitempty"`
	Role       string `query:"RoleARN" xml:"RoleARN,omitempty"`
}

// The transitions that hooks wait for, and the results of waiting.
const (
	launching   = "autoscaling:EC2_INSTANCE_LAUNCHING"
	terminating = "autoscaling:EC2_INSTANCE_TERMINATING"
	goOn        = "CONTINUE"
	giveUp      = "ABANDON"
)

// hookWait is a hook that holds a member.
type hookWait struct {
	hook  Hook
	token string
	until time.Time
}

// PutHook adds a hook to a group, or replaces the one with its name.
func (r *Region) PutHook(group string, h Hook) error {
	g, err := r.ScalingGroup(group)
	if err != nil {
		return err
	}
	h.Default, h.Heartbeat = cmp.Or(h.Default, giveUp), cmp.Or(h.Heartbeat, 3600)
	switch {
	case h.Name == "":
		return invalid("LifecycleHookName is required.")
	case h.Transition != launching && h.Transition != terminating:
		return invalid("Lifecycle transition %s is not valid.", h.Transition)
	case h.Default != goOn && h.Default != giveUp:
		return invalid("Default result %s is neither CONTINUE nor ABANDON.", h.Default)
	case h.Heartbeat < 30 || h.Heartbeat > 7200:
		return invalid("HeartbeatTimeout %d is not between 30 and 7200.", h.Heartbeat)
	}
	g.Hooks = append(slices.DeleteFunc(slices.Clone(g.Hooks), func(have Hook) bool { return have.Name == h.Name }), h)
	slices.SortFunc(g.Hooks, func(a, b Hook) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// DeleteHook removes a hook. "If there are any outstanding lifecycle actions, they are completed first (ABANDON for
// launching instances, CONTINUE for terminating instances)."
func (r *Region) DeleteHook(group, name string) error {
	g, err := r.ScalingGroup(group)
	if err != nil {
		return err
	}
	g.Hooks = slices.DeleteFunc(slices.Clone(g.Hooks), func(h Hook) bool { return h.Name == name })
	for _, m := range slices.Clone(g.Members) {
		for _, w := range slices.Clone(m.waits) {
			if w.hook.Name == name {
				r.letGo(m, w, giveUp)
			}
		}
	}
	return nil
}

// hold stops a member at the group's hooks for a transition, and reports whether there are any.
func (r *Region) hold(m *Member, transition, state string, a *Activity) bool {
	for _, h := range m.Group.Hooks {
		if h.Transition != transition {
			continue
		}
		w := &hookWait{hook: h, token: r.world.config.Seed.UUID("hook", r.world.identifier("hook"))}
		m.waits = append(m.waits, w)
		r.extend(m, w)
	}
	if len(m.waits) == 0 {
		return false
	}
	m.State, a.Status = state, activityWaiting
	return true
}

// extend restarts the time of a wait; when that is over, the hook's default result applies.
func (r *Region) extend(m *Member, w *hookWait) {
	d := time.Duration(w.hook.Heartbeat) * time.Second
	w.until = r.Now().Add(d)
	r.world.after(d, func() {
		if !w.until.After(r.Now()) {
			r.letGo(m, w, w.hook.Default)
		}
	})
}

// letGo ends a wait. An abandoned launch ends the instance even if other hooks still hold it. An instance
// that ends continues to end with either result; ABANDON skips the other hooks.
func (r *Region) letGo(m *Member, w *hookWait, result string) {
	at := slices.Index(m.waits, w)
	if at < 0 {
		return // the wait is over
	}
	m.waits = slices.Delete(slices.Clone(m.waits), at, at+1)
	if result == giveUp {
		m.waits = nil
	}
	switch {
	case len(m.waits) > 0:
	case m.leaving():
		m.State = memberTerminating + ":Proceed"
		r.finish(m)
	case result == giveUp:
		r.dismiss(m.Group, m, r.at("an instance was taken out of service in response to a lifecycle action that was abandoned."))
		r.attend(m.Group)
	default:
		r.serve(m)
	}
}

// HookAction names a wait: by its token, or by the instance and the hook.
type HookAction struct {
	Group    string `query:"AutoScalingGroupName"`
	Hook     string `query:"LifecycleHookName"`
	Token    string `query:"LifecycleActionToken"`
	Instance string `query:"InstanceId"`
}

func (r *Region) findWait(a HookAction) (*Member, *hookWait, error) {
	g, err := r.ScalingGroup(a.Group)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range g.Members {
		for _, w := range m.waits {
			if w.hook.Name == a.Hook && (a.Token != "" && a.Token == w.token || a.Token == "" && a.Instance == m.Instance.ID) {
				return m, w, nil
			}
		}
	}
	if a.Token != "" {
		return nil, nil, invalid("No active Lifecycle Action found with token %s", a.Token)
	}
	return nil, nil, invalid("No active Lifecycle Action found with instance ID %s", a.Instance)
}

// CompleteHook reports that the action that a hook waits for is done.
func (r *Region) CompleteHook(a HookAction, result string) error {
	m, w, err := r.findWait(a)
	switch {
	case err != nil:
		return err
	case result != goOn && result != giveUp:
		return invalid("Lifecycle action result %s is neither CONTINUE nor ABANDON.", result)
	}
	r.letGo(m, w, result)
	return nil
}

// ExtendHook reports that the action that a hook waits for takes longer.
func (r *Region) ExtendHook(a HookAction) error {
	m, w, err := r.findWait(a)
	if err == nil {
		r.extend(m, w)
	}
	return err
}
