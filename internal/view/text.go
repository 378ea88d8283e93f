package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tenon/core/model"
)

// Span formats a duration in its largest unit, as people say it.
func Span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Amount formats a quantity of a resource for people: 1.5, 3.2Gi, 12.
func Amount(resource string, value int64) string {
	switch resource {
	case model.CPU:
		return trimmed(float64(value) / 1000)
	case model.Memory, "ephemeral-storage":
		return bytes(float64(value))
	}
	return fmt.Sprint(value)
}

func bytes(value float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1 << 40, "Ti"}, {1 << 30, "Gi"}, {1 << 20, "Mi"}, {1 << 10, "Ki"}} {
		if value >= unit.size {
			return trimmed(value/unit.size) + unit.name
		}
	}
	return fmt.Sprint(int64(value))
}

// trimmed formats a number, with one decimal if it is below 100 and not an integer.
func trimmed(f float64) string {
	if f >= 100 || f == float64(int64(f)) {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.1f", f)
}

// Price formats a price with a number of decimals and its currency, if that is known: 0.192 USD.
func Price(m model.Money, decimals int, currency string) string {
	text := Decimal(m, decimals)
	if currency != "" {
		text += " " + currency
	}
	return text
}

// Decimal formats a price with a number of decimals, for places that show the currency elsewhere.
func Decimal(m model.Money, decimals int) string {
	return strconv.FormatFloat(m.Float(), 'f', decimals, 64)
}

// visible writes control characters, and those that turn the direction of text, as escapes: what others write is shown on terminals, which would
// interpret them. Tabs and line breaks stay.
func visible(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, interpreted) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if interpreted(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func interpreted(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}
