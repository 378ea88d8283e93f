package api

import "context"

// Priority says which of the calls that wait for the same operation goes first.
type Priority int

// The priorities, from the one that waits longest. The default is Background.
const (
	// Background is all work that no pod waits for: polls, consolidation, clean-up.
	Background Priority = iota
	// Launch is for launches that unschedulable pods wait for.
	Launch
	// Terminate is for ending machines that cost money without need.
	Terminate
	priorities
)

type priorityKey struct{}

// WithPriority is a context whose calls have a priority.
func WithPriority(ctx context.Context, p Priority) context.Context {
	return context.WithValue(ctx, priorityKey{}, p)
}

// PriorityOf is the priority of a context's calls.
func PriorityOf(ctx context.Context) Priority {
	p, _ := ctx.Value(priorityKey{}).(Priority)
	return min(max(p, Background), priorities-1)
}
