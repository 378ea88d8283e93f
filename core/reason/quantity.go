package reason

import (
	"strconv"
	"strings"

	"tenon/core/model"
)

// Quantity writes an amount of a resource exactly, as Kubernetes does: "1930m", "7244Mi".
func Quantity(name string, value int64) string {
	switch {
	case name == model.CPU:
		return milli(value)
	case inBytes(name):
		return binary(value)
	}
	return strconv.FormatInt(value, 10)
}

// inBytes tells resources that are counted in bytes.
func inBytes(name string) bool {
	return name == model.Memory || name == model.EphemeralStorage || name == "storage" || strings.HasPrefix(name, "hugepages-")
}

func milli(value int64) string {
	if value%1000 == 0 {
		return strconv.FormatInt(value/1000, 10)
	}
	return strconv.FormatInt(value, 10) + "m"
}

var binarySuffixes = []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

func binary(value int64) string {
	n := 0
	for value != 0 && value%1024 == 0 && n < len(binarySuffixes)-1 {
		value /= 1024
		n++
	}
	return strconv.FormatInt(value, 10) + binarySuffixes[n]
}

// Readable writes an amount for people, rounded: "1.93", "7.07Gi".
func Readable(name string, value int64) string {
	switch {
	case name == model.CPU:
		return rounded(float64(value) / 1000)
	case inBytes(name):
		scaled, n := float64(value), 0
		for (scaled >= 1024 || scaled <= -1024) && n < len(binarySuffixes)-1 {
			scaled /= 1024
			n++
		}
		return rounded(scaled) + binarySuffixes[n]
	}
	return strconv.FormatInt(value, 10)
}

// Compared writes two amounts that are compared: exactly, should rounding make them look
// the same.
func Compared(name string, a, b int64) (string, string) {
	first, second := Readable(name, a), Readable(name, b)
	if first == second && a != b {
		return Quantity(name, a), Quantity(name, b)
	}
	return first, second
}

// rounded keeps two digits after the point, and no zeros at the end.
func rounded(value float64) string {
	text := strconv.FormatFloat(value, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
