package view

import (
	"fmt"
	"strconv"
	"strings"

	"tenon/core/model"
	"tenon/core/order"
)

// Discounts are what is paid less than the prices that are known, in thousandths of a percent: by capacity type, or by capacity type and
// family as in on-demand/c6a. The more precise one counts.
type Discounts map[string]int64

// wholePrice is a discount of everything.
const wholePrice = 100_000

// ParseDiscounts reads texts such as on-demand=28 and on-demand/c6a=35.5.
func ParseDiscounts(texts []string) (Discounts, error) {
	out := Discounts{}
	for _, text := range texts {
		of, number, _ := strings.Cut(text, "=")
		of = strings.TrimSpace(of)
		percent, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(number), "%"), 64)
		capacity, family, divided := strings.Cut(of, "/")
		known := capacity == "on-demand" || capacity == "spot" || capacity == "reserved"
		if err != nil || !known || divided && family == "" || !(percent >= 0 && percent <= 100) {
			return nil, fmt.Errorf("%q is no discount; write a percentage of a capacity type, or of one and a family, such as on-demand=28 or on-demand/c6a=35.5", text)
		}
		out[of] = int64(percent*1000 + 0.5)
	}
	return out, nil
}

// String names the discounts.
func (d Discounts) String() string {
	var parts []string
	for _, of := range order.Keys(d) {
		parts = append(parts, fmt.Sprintf("%s %s %%", of, strconv.FormatFloat(float64(d[of])/1000, 'f', -1, 64)))
	}
	return strings.Join(parts, ", ")
}

// apply returns what is paid for a node of a price. A price that the user gives, by a label or in a file, stays.
func (d Discounts) apply(n *Node, price model.Money, source Source) model.Money {
	if len(d) == 0 || source == Unpriced || source == FromLabel || source == FromFile {
		return price
	}
	capacity := n.CapacityType
	if capacity == "" { // its price is the estimate for on-demand
		capacity = "on-demand"
	}
	family, _, _ := strings.Cut(n.Type, ".")
	less, known := d[capacity+"/"+family]
	if !known {
		less = d[capacity]
	}
	return price * model.Money(wholePrice-less) / wholePrice
}
