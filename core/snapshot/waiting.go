package snapshot

import "time"

// Waiting is what the rules by which actions wait (core/wait) look at beside the plan.
type Waiting struct {
	// Placed is how many pods have a place that they have not taken yet.
	Placed int `json:"placed,omitempty"`
	// Moving is how many pods disruptions are to move and have not evicted yet.
	Moving int `json:"moving,omitempty"`
	// Arrivals is since when many pods have been on their way to their places; zero for few.
	Arrivals time.Time `json:"arrivals,omitzero"`
	// Moves is since when moves that save money wait for other nodes of their pool, by pool.
	Moves []Since `json:"moves,omitempty"`
}

// Since is a time of a pool.
type Since struct {
	Pool string    `json:"pool"`
	At   time.Time `json:"at"`
}
