// Package expand chooses which of several groups grows, by the rules of Cluster Autoscaler: a chain of expanders, each of
// which keeps some of the remaining options; and it distributes the nodes of a choice among similar groups.
//
// It must not know a cloud: its caller says which labels do not distinguish groups.
package expand

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"tenon/core/model"
)

// Option is one way to help pods: a number of further nodes of a group.
type Option struct {
	Group string
	Nodes int64
	// Pods is how many pods it helps, and Requests the sum of their requests. Helped are their keys, NAMESPACE/NAME, if the
	// chain has the expander grpc.
	Pods     int
	Requests model.Resources
	Helped   []string
	// Capacity and Price are those of one node.
	Capacity model.Resources
	Price    model.Money
	// Priority is the priority of the group, nil if it has none.
	Priority *int64
}

// Names of expanders.
const (
	Random     = "random"
	MostPods   = "most-pods"
	LeastNodes = "least-nodes"
	LeastWaste = "least-waste"
	Price      = "price"
	Priority   = "priority"
	GRPC       = "grpc"
)

// names are the expanders that a chain may have.
var names = []string{GRPC, LeastNodes, LeastWaste, MostPods, Price, Priority, Random}

// Parse reads a chain, separated by commas. An empty text means least-waste.
func Parse(text string) ([]string, error) {
	if text == "" {
		return []string{LeastWaste}, nil
	}
	chain := strings.Split(text, ",")
	for i, name := range chain {
		switch {
		case !slices.Contains(names, name):
			return nil, fmt.Errorf("expander %q is not known; known are %s", name, strings.Join(names, ", "))
		case slices.Contains(chain[:i], name):
			return nil, fmt.Errorf("expander %q is named twice", name)
		case name == Random && i < len(chain)-1:
			return nil, errors.New("expander random leaves one option, and may only be the last")
		}
	}
	return chain, nil
}

// ByPrice reports whether the price alone decides among groups of the same priority, which is what a plan does anyway.
func ByPrice(chain []string) bool {
	if len(chain) > 0 && chain[0] == Priority {
		chain = chain[1:]
	}
	return len(chain) == 0 || chain[0] == Price
}

// ByPriority reports whether the priority is the first expander of the chain.
func ByPriority(chain []string) bool { return len(chain) > 0 && chain[0] == Priority }

// Choice is what a chain leaves.
type Choice struct {
	Option Option
	// Found is false without options.
	Found bool
	// Open is the first question of the expander grpc to which no answer is known. It was taken for answered with all options.
	Open *Question
}

// Choose applies the chain to the options. If it keeps several of them, one is chosen at random. Answers are those that servers of
// the expander grpc have given.
func Choose(chain []string, options []Option, answers []Answer, chance *rand.Rand) Choice {
	var out Choice
	left := slices.Clone(options)
	slices.SortFunc(left, func(a, b Option) int { return strings.Compare(a.Group, b.Group) }) // so that the seed alone decides
	for _, name := range chain {
		switch {
		case len(left) <= 1:
		case name == GRPC:
			q := Question{Options: left}
			var answered bool
			if left, answered = q.filter(answers); !answered && out.Open == nil {
				out.Open = &q
			}
		default:
			left = filter(name, left)
		}
	}
	if len(left) > 0 {
		out.Option, out.Found = left[chance.IntN(len(left))], true
	}
	return out
}

func filter(name string, options []Option) []Option {
	switch name {
	case MostPods:
		return least(options, func(o Option) int { return -o.Pods })
	case LeastNodes:
		return least(options, func(o Option) int64 { return o.Nodes })
	case LeastWaste:
		return least(options, waste)
	case Price:
		return least(options, dearness)
	case Priority:
		return least(options, func(o Option) int64 {
			if o.Priority == nil {
				return 1 // options without a priority come last; if none has one, all stay
			}
			return -*o.Priority
		})
	}
	return options // random chooses among the options that remain
}

func least[T cmp.Ordered](options []Option, measure func(Option) T) []Option {
	var left []Option
	for _, o := range options {
		switch {
		case len(left) == 0 || measure(o) < measure(left[0]):
			left = []Option{o}
		case measure(o) == measure(left[0]):
			left = append(left, o)
		}
	}
	return left
}

// waste is the unused share of CPU plus the unused share of memory.
func waste(o Option) float64 {
	return unused(o.Capacity.CPU, o.Nodes, o.Requests.CPU) + unused(o.Capacity.Memory, o.Nodes, o.Requests.Memory)
}

func unused(each, nodes, used int64) float64 {
	total := float64(float64(each) * float64(nodes))
	if total <= 0 {
		return 0
	}
	return 1 - float64(used)/total
}

// dearness is the price of the nodes relative to the requests of the pods. An option without a known price comes last.
func dearness(o Option) float64 {
	if o.Price <= 0 {
		return maxDearness
	}
	return float64(int64(o.Price)*o.Nodes) / float64(max(o.Requests.Bulk(), 1))
}

// maxDearness exceeds every price of a byte.
const maxDearness = 1e300
