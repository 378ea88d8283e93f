package snapshot

import "time"

// Waiting is what the rules of core/wait look at beside the plan. It decides only when parts of a plan are
// carried out, not what they are.
type Waiting struct {
	// Placed is how many pods have a place that they have not taken yet, and Landed is when one
	// took its place last.
	Placed int       `json:"placed,omitempty"`
	Landed time.Time `json:"landed,omitzero"`
	// Moving is how many pods disruptions move that have not gone yet, or whose successors have yet to be made, and Evicting
	// how many of them have not been evicted.
	Moving   int `json:"moving,omitempty"`
	Evicting int `json:"evicting,omitempty"`
	// Leaving is how many pods end on nodes that stay, and how many more there are than their workloads want: those end in a
	// moment.
	Leaving int `json:"leaving,omitempty"`
	// ScaledDown is what Deployments have stopped wanting a moment ago.
	ScaledDown ScaledDown `json:"scaledDown,omitzero"`
	// Arrivals is since when moves that save money wait, by what they wait for.
	Arrivals Arrivals `json:"arrivalsSince,omitzero"`
	// Moves is since when moves that save money wait for other nodes of their pool, by pool.
	Moves []Since `json:"moves,omitempty"`
	// Burst is until when a burst of pods is gathered at the latest, while it goes on and its
	// end is not known; zero otherwise.
	Burst time.Time `json:"burst,omitzero"`
	// Successions are the workloads whose new pods may get the places of ending ones.
	Successions []Succession `json:"successions,omitempty"`
	// Lost are the pods without a node that have lost a place, by UID.
	Lost []Lost `json:"lost,omitempty"`
	// Refused are the pods whose last claims failed, by UID.
	Refused []Refused `json:"refused,omitempty"`
	// Spare is until when no claim is made for buffers, because the last ones failed.
	Spare time.Time `json:"spare,omitzero"`
	// Replacing is until when replacements of disruptions may be made that do not exist yet, at the latest; zero if all exist.
	Replacing time.Time `json:"replacing,omitzero"`
}

// ScaledDown is how many Deployments were scaled down in the last seconds, and by how many pods.
type ScaledDown struct {
	Deployments int `json:"deployments"`
	Pods        int `json:"pods"`
}

// Succession is how many pods of one workload end on nodes that stay, and its pods that want a
// place, the oldest first.
type Succession struct {
	Places int         `json:"places"`
	Pods   []Successor `json:"pods"`
}

// Successor is a pod that wants a place.
type Successor struct {
	UID     string    `json:"uid"`
	Created time.Time `json:"created"`
}

// Since is a time of a pool.
type Since struct {
	Pool string    `json:"pool"`
	At   time.Time `json:"at"`
}

// Lost is when a pod first lost a place.
type Lost struct {
	UID string    `json:"uid"`
	At  time.Time `json:"at"`
}

// Refused is a pod for which claims were made that got no machine: how many in a row, until when
// the next one waits, and what the pool of the last one had in stock then (see wait.Stock).
type Refused struct {
	UID   string    `json:"uid"`
	Times int       `json:"times"`
	Until time.Time `json:"until"`
	Stock string    `json:"stock"`
}

// Arrivals has since when many pods have been on their way to their places, since when pods have lacked the places that they
// lost, since when pods have still had to be moved, and since when many have been about to end and their number, Left, has not become
// a good deal smaller. ScalingDown is since when one Deployment after the other has been scaled down. Each is zero if that is not so.
type Arrivals struct {
	Placed      time.Time `json:"placed,omitzero"`
	Lost        time.Time `json:"lost,omitzero"`
	Moving      time.Time `json:"moving,omitzero"`
	Leaving     time.Time `json:"leaving,omitzero"`
	Left        int       `json:"left,omitempty"`
	ScalingDown time.Time `json:"scalingDown,omitzero"`
}
