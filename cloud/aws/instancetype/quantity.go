package instancetype

import (
	"fmt"
	"strconv"
	"strings"

	"tenon/api/scalar"
	"tenon/core/model"
	"tenon/core/order"
)

// Eviction signals that reduce the room for pods.
const (
	MemoryAvailable = "memory.available"
	NodeFSAvailable = "nodefs.available"
)

// Threshold is how much of a resource must stay free: an amount, or a part of the whole.
type Threshold struct {
	Signal string
	// Amount applies unless Percent is set; then Hundredths applies, in hundredths of a percent.
	Amount     int64
	Percent    bool
	Hundredths int64
}

// of returns how much of the whole must stay free. A threshold of 100 % is switched off.
func (t Threshold) of(whole int64) int64 {
	switch {
	case !t.Percent:
		return t.Amount
	case t.Hundredths >= 100_00:
		return 0
	}
	return percentOf(whole, t.Hundredths)
}

// ParseThreshold reads a threshold such as 5% or 200Mi.
func ParseThreshold(signal, text string) (Threshold, error) {
	number, percent := strings.CutSuffix(text, "%")
	if percent {
		hundredths, ok := parseHundredths(number)
		if !ok {
			return Threshold{}, fmt.Errorf("eviction threshold %s: %q is not a percentage between 0%% and 100%%", signal, text)
		}
		return Threshold{Signal: signal, Percent: true, Hundredths: hundredths}, nil
	}
	amount, err := scalar.ParseQuantity(text)
	if err != nil || amount.Sign() < 0 {
		return Threshold{}, fmt.Errorf("eviction threshold %s: %q is neither an amount nor a percentage", signal, text)
	}
	return Threshold{Signal: signal, Amount: scalar.Amount(amount)}, nil
}

// parseHundredths reads a number from 0 to 100 with at most two decimals.
func parseHundredths(text string) (int64, bool) {
	units, decimals, _ := strings.Cut(text, ".")
	if len(units) > 3 || len(decimals) > 2 {
		return 0, false
	}
	n, err := strconv.ParseUint(units+decimals+strings.Repeat("0", 2-len(decimals)), 10, 16)
	return int64(n), err == nil && units != "" && n <= 100_00
}

// ParseThresholds reads all thresholds of a kubelet, sorted by signal.
func ParseThresholds(texts map[string]string) ([]Threshold, error) {
	var all []Threshold
	for _, signal := range order.Keys(texts) {
		t, err := ParseThreshold(signal, texts[signal])
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// ParseReserved reads reserved amounts by the resource's name: cpu in milli-cores, all others in bytes or
// units.
func ParseReserved(texts map[string]string) ([]model.Amount, error) {
	var all []model.Amount
	for _, name := range order.Keys(texts) {
		q, err := scalar.ParseQuantity(texts[name])
		if err != nil || q.Sign() < 0 {
			return nil, fmt.Errorf("reserved %s: %q is not an amount", name, texts[name])
		}
		value := scalar.Amount(q)
		if name == model.CPU {
			value = scalar.MilliAmount(q)
		}
		all = append(all, model.Amount{Name: name, Value: value})
	}
	return all, nil
}
