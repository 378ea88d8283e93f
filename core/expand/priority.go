package expand

import (
	"fmt"
	"regexp"
	"slices"

	"tenon/core/order"
)

// Priorities are patterns of groups by priority. A group has the highest of those that match any part of its name.
type Priorities map[int][]*regexp.Regexp

// Compile reads patterns.
func Compile(patterns map[int][]string) (Priorities, error) {
	out := Priorities{}
	for _, priority := range order.Keys(patterns) {
		for _, text := range patterns[priority] {
			pattern, err := regexp.Compile(text)
			if err != nil {
				return nil, fmt.Errorf("priority %d: %w", priority, err)
			}
			out[priority] = append(out[priority], pattern)
		}
	}
	return out, nil
}

// Of is the priority of a group. It is false if no pattern matches.
func (p Priorities) Of(group string) (int, bool) {
	numbers := order.Keys(p)
	for _, priority := range slices.Backward(numbers) {
		for _, pattern := range p[priority] {
			if priority >= 0 && pattern.MatchString(group) {
				return priority, true
			}
		}
	}
	return 0, false
}
