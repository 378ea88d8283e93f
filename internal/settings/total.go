package settings

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tenon/core/model"
)

// Totals are limits on all nodes of the cluster together.
type Totals struct {
	// Nodes is how many there may be; 0 is without a limit.
	Nodes int
	// Cores, GiB of memory, and units of extended resources.
	Cores, Memory *Range
	GPUs          []Named
}

// Range is the least and the most of something.
type Range struct{ Min, Max int64 }

// Named is a range of the named resource.
type Named struct {
	Name string
	Range
}

const gib = 1 << 30

// totalOptions have the names and forms of Cluster Autoscaler. Its defaults, 320,000 cores and 6,400,000 GiB, are no limit here.
func (s *Settings) totalOptions() []Option {
	t := &s.Totals
	own := func(flag, fallback, usage string, value Value, check func() error) Option {
		return Option{Flag: flag, Env: strings.ToUpper(strings.ReplaceAll(flag, "-", "_")), Plan: true, Own: true, Default: fallback, Usage: usage, Value: value, Check: check}
	}
	return []Option{
		own("allowed-scheduler-names", "", "the name of a scheduler, or several separated by commas, of which pods get new nodes, from pools and groups in every mode; pods of all schedulers do without it; may be given several times", names(&s.AllowedSchedulers), nil),
		own("max-nodes-total", "0", "how many nodes the cluster may have, those of no pool or group included; beyond that no node is requested, for pools and groups in every mode; 0: no limit", Number(&t.Nodes), t.checkNodes),
		own("cores-total", "", "how many cores all nodes may have together, as MIN:MAX, for pools and groups in every mode; below MIN no node of a group in mode cas is removed; empty: no limit", totals(&t.Cores, model.CPU), nil),
		own("memory-total", "", "the same for memory, in GiB", totals(&t.Memory, model.Memory), nil),
		own("gpu-total", "", "the same for a resource of GPUs, as RESOURCE:MIN:MAX, such as nvidia.com/gpu:0:16; may be given several times", namedTotals(&t.GPUs), nil),
	}
}

func (t *Totals) checkNodes() error {
	if t.Nodes < 0 {
		return errors.New("it must not be negative; 0 is without a limit")
	}
	return nil
}

// totals is a range MIN:MAX of whole numbers; nil without a text.
func totals(field **Range, name string) Value {
	return plain("MIN:MAX", field, func(_ origin, text string) (*Range, error) {
		if text == "" {
			return nil, nil
		}
		r, err := rangeOf(text, name)
		return &r, err
	})
}

func namedTotals(field *[]Named) Value {
	return plain(repeated, field, func(_ origin, text string) ([]Named, error) {
		var out []Named
		for part := range strings.SplitSeq(text, separator) {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			name, limits, _ := strings.Cut(part, ":")
			if !strings.Contains(name, "/") {
				return nil, fmt.Errorf("%q does not name a resource; Tenon counts GPUs by their resource, such as nvidia.com/gpu:0:16, and not by their type", part)
			}
			if slices.ContainsFunc(out, func(n Named) bool { return n.Name == name }) {
				return nil, fmt.Errorf("resource %s is given twice", name)
			}
			r, err := rangeOf(limits, name)
			if err != nil {
				return nil, err
			}
			out = append(out, Named{name, r})
		}
		return out, nil
	})
}

// rangeOf reads MIN:MAX. Both fit into 64 bits in the unit of the resource.
func rangeOf(text, name string) (Range, error) {
	least, most, both := strings.Cut(text, ":")
	low, lowErr := strconv.ParseInt(least, 10, 64)
	high, highErr := strconv.ParseInt(most, 10, 64)
	switch {
	case !both || lowErr != nil || highErr != nil || low < 0 || high > math.MaxInt64/unitOf(name):
		return Range{}, fmt.Errorf("%q is not MIN:MAX, two whole numbers such as 0:320", text)
	case low > high:
		return Range{}, fmt.Errorf("in %q the minimum is above the maximum", text)
	}
	return Range{low, high}, nil
}

// unitOf is how many base units of a resource a limit of 1 has.
func unitOf(name string) int64 {
	switch name {
	case model.CPU:
		return 1000
	case model.Memory:
		return gib
	}
	return 1
}

// ranges are those of resources.
func (t *Totals) ranges() []Named {
	var out []Named
	if t.Cores != nil {
		out = append(out, Named{model.CPU, *t.Cores})
	}
	if t.Memory != nil {
		out = append(out, Named{model.Memory, *t.Memory})
	}
	return append(out, t.GPUs...)
}

// Limits are the most that all nodes may have.
func (t *Totals) Limits() []model.Amount {
	var out []model.Amount
	if t.Nodes > 0 {
		out = append(out, model.Amount{Name: model.Nodes, Value: int64(t.Nodes)})
	}
	for _, r := range t.ranges() {
		out = append(out, model.Amount{Name: r.Name, Value: r.Max * unitOf(r.Name)})
	}
	return out
}

// Floors are the least that all nodes keep when groups in mode cas shrink.
func (t *Totals) Floors() []model.Amount {
	var out []model.Amount
	for _, r := range t.ranges() {
		if r.Min > 0 {
			out = append(out, model.Amount{Name: r.Name, Value: r.Min * unitOf(r.Name)})
		}
	}
	return out
}
