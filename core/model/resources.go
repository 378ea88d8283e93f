package model

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
)

// Names of the resources that have a field of their own in Resources.
const (
	CPU              = "cpu"
	Memory           = "memory"
	EphemeralStorage = "ephemeral-storage"
	Pods             = "pods"
	// Nodes is not a resource of a node: a pool's limits count nodes by this name.
	Nodes = "nodes"
)

// Amount is a quantity of one named resource, in that resource's base unit.
type Amount struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// Resources is a vector of integers: CPU in milli-cores, memory and storage in
// bytes, everything else in units. The four resources that nearly every pod has are
// fields, because a cluster of 100,000 pods cannot afford a map for each of them.
type Resources struct {
	CPU     int64
	Memory  int64
	Storage int64
	Pods    int64
	// Extended is sorted by name and holds no zeros. It is shared between copies:
	// no method changes it in place.
	Extended []Amount
}

// NewResources builds a vector from amounts by name. Amounts of the same name add up.
func NewResources(amounts ...Amount) Resources {
	var r Resources
	for _, a := range amounts {
		one := single(a)
		r.CPU, r.Memory, r.Storage, r.Pods = sum(r.CPU, one.CPU), sum(r.Memory, one.Memory), sum(r.Storage, one.Storage), sum(r.Pods, one.Pods)
		r.Extended = append(r.Extended, one.Extended...)
	}
	slices.SortFunc(r.Extended, func(a, b Amount) int { return cmp.Compare(a.Name, b.Name) })
	r.Extended = summed(r.Extended)
	return r
}

// summed adds up neighbours of one name, in place, and leaves out zeros.
func summed(sorted []Amount) []Amount {
	out := sorted[:0]
	for i, a := range sorted {
		if n := len(out); i > 0 && n > 0 && out[n-1].Name == a.Name {
			out[n-1].Value = sum(out[n-1].Value, a.Value)
		} else {
			out = append(out, a)
		}
	}
	out = slices.DeleteFunc(out, func(a Amount) bool { return a.Value == 0 })
	if len(out) == 0 {
		return nil
	}
	return out
}

func single(a Amount) Resources {
	switch a.Name {
	case CPU:
		return Resources{CPU: a.Value}
	case Memory:
		return Resources{Memory: a.Value}
	case EphemeralStorage:
		return Resources{Storage: a.Value}
	case Pods:
		return Resources{Pods: a.Value}
	}
	if a.Value == 0 {
		return Resources{}
	}
	return Resources{Extended: []Amount{a}}
}

// Get returns the quantity of a resource, zero when the vector does not name it.
func (r Resources) Get(name string) int64 {
	switch name {
	case CPU:
		return r.CPU
	case Memory:
		return r.Memory
	case EphemeralStorage:
		return r.Storage
	case Pods:
		return r.Pods
	}
	if i, ok := slices.BinarySearchFunc(r.Extended, name, byName); ok {
		return r.Extended[i].Value
	}
	return 0
}

func byName(a Amount, name string) int { return cmp.Compare(a.Name, name) }

// Amounts lists the non-zero quantities, sorted by name.
func (r Resources) Amounts() []Amount {
	out := make([]Amount, 0, 4+len(r.Extended))
	for _, a := range []Amount{{CPU, r.CPU}, {EphemeralStorage, r.Storage}, {Memory, r.Memory}, {Pods, r.Pods}} {
		if a.Value != 0 {
			out = append(out, a)
		}
	}
	out = append(out, r.Extended...)
	slices.SortFunc(out, func(a, b Amount) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Add returns the sum. Sums and differences end at the largest and smallest numbers: pods may request absurd amounts,
// and a node with thousands of them must not seem to have room.
func (r Resources) Add(o Resources) Resources { return r.merge(o, sum) }

// Sub returns the difference, which may be negative.
func (r Resources) Sub(o Resources) Resources { return r.merge(o, difference) }

func sum(a, b int64) int64 {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	}
	return s
}

func difference(a, b int64) int64 {
	d := a - b
	switch {
	case a >= 0 && b < 0 && d < 0:
		return math.MaxInt64
	case a < 0 && b > 0 && d >= 0:
		return math.MinInt64
	}
	return d
}

// Max returns the larger quantity of each resource.
func (r Resources) Max(o Resources) Resources { return r.merge(o, maxInt) }

// Min returns the smaller quantity of each resource; a missing one counts as zero.
func (r Resources) Min(o Resources) Resources { return r.merge(o, minInt) }

func maxInt(a, b int64) int64 { return max(a, b) }
func minInt(a, b int64) int64 { return min(a, b) }

// Bulk is a pod's size as one number, for ordering pods: a CPU counts as much as 4 GiB.
func (r Resources) Bulk() int64 { return r.Memory + r.CPU*(4<<30/1000) }

// Times returns the vector multiplied by n.
func (r Resources) Times(n int64) Resources {
	out := Resources{CPU: r.CPU * n, Memory: r.Memory * n, Storage: r.Storage * n, Pods: r.Pods * n}
	if n == 0 {
		return out
	}
	for _, a := range r.Extended {
		out.Extended = append(out.Extended, Amount{a.Name, a.Value * n})
	}
	return out
}

// Floor replaces negative quantities by zero.
func (r Resources) Floor() Resources { return r.Max(Resources{}) }

// Fits reports whether r can be taken from room: every quantity of r is there. As in
// Kubernetes, a resource that is not requested does not matter even when overdrawn.
func (r Resources) Fits(room Resources) bool { return r.Lacking(room) == "" }

// Lacking names the first resource of which room has too little for r, or "".
func (r Resources) Lacking(room Resources) string {
	switch {
	case r.CPU > 0 && r.CPU > room.CPU:
		return CPU
	case r.Memory > 0 && r.Memory > room.Memory:
		return Memory
	case r.Pods > 0 && r.Pods > room.Pods:
		return Pods
	case r.Storage > 0 && r.Storage > room.Storage:
		return EphemeralStorage
	}
	for _, a := range r.Extended {
		if a.Value > 0 && a.Value > room.Get(a.Name) {
			return a.Name
		}
	}
	return ""
}

// Overdrawn names a resource of which r, taken as room, has less than nothing, or "". What
// is overdrawn on a new node keeps some of its daemons from running there.
func (r Resources) Overdrawn() string {
	switch {
	case r.CPU < 0:
		return CPU
	case r.Memory < 0:
		return Memory
	case r.Pods < 0:
		return Pods
	case r.Storage < 0:
		return EphemeralStorage
	}
	for _, a := range r.Extended {
		if a.Value < 0 {
			return a.Name
		}
	}
	return ""
}

// IsZero reports whether every quantity is zero.
func (r Resources) IsZero() bool {
	return r.CPU == 0 && r.Memory == 0 && r.Storage == 0 && r.Pods == 0 && len(r.Extended) == 0
}

// Equal reports whether both vectors hold the same quantities.
func (r Resources) Equal(o Resources) bool {
	return r.CPU == o.CPU && r.Memory == o.Memory && r.Storage == o.Storage && r.Pods == o.Pods &&
		slices.Equal(r.Extended, o.Extended)
}

func (r Resources) merge(o Resources, f func(a, b int64) int64) Resources {
	out := Resources{CPU: f(r.CPU, o.CPU), Memory: f(r.Memory, o.Memory), Storage: f(r.Storage, o.Storage), Pods: f(r.Pods, o.Pods)}
	if len(r.Extended) == 0 && len(o.Extended) == 0 {
		return out
	}
	out.Extended = mergeAmounts(r.Extended, o.Extended, f)
	return out
}

func mergeAmounts(a, b []Amount, f func(a, b int64) int64) []Amount {
	out := make([]Amount, 0, len(a)+len(b))
	keep := func(name string, value int64) {
		if value != 0 {
			out = append(out, Amount{name, value})
		}
	}
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0].Name, b[0].Name); {
		case c < 0:
			keep(a[0].Name, f(a[0].Value, 0))
			a = a[1:]
		case c > 0:
			keep(b[0].Name, f(0, b[0].Value))
			b = b[1:]
		default:
			keep(a[0].Name, f(a[0].Value, b[0].Value))
			a, b = a[1:], b[1:]
		}
	}
	for _, x := range a {
		keep(x.Name, f(x.Value, 0))
	}
	for _, x := range b {
		keep(x.Name, f(0, x.Value))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// MarshalJSON writes an object of quantities by name, sorted, zeros left out.
func (r Resources) MarshalJSON() ([]byte, error) {
	byName := make(map[string]int64, 4+len(r.Extended))
	for _, a := range r.Amounts() {
		byName[a.Name] = a.Value
	}
	return json.Marshal(byName)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Resources) UnmarshalJSON(data []byte) error {
	var byName map[string]int64
	if err := json.Unmarshal(data, &byName); err != nil {
		return err
	}
	amounts := make([]Amount, 0, len(byName))
	for name, value := range byName {
		amounts = append(amounts, Amount{name, value})
	}
	*r = NewResources(amounts...)
	return nil
}
