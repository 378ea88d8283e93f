package settings

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"tenon/core/model"
)

// origin is where a text came from. The two differ in how strict they are, see value.lenient.
type origin int

const (
	fromDefault origin = iota
	fromEnvironment
	fromFlag
)

// value reads one kind of text into its field.
type Value struct {
	kind string
	read func(from origin, text string) (notes []string, err error)
	// lenient marks the kinds whose unreadable environment text falls back on the default with a
	// warning. Karpenter falls back in silence; refusing to start would turn a typing error that a
	// cluster has lived with for a year into an outage on the day of the switch.
	lenient bool
}

// plain lifts a function that parses text into a value for the field.
func plain[T any](kind string, field *T, parse func(origin, string) (T, error)) Value {
	return Value{kind: kind, read: func(from origin, text string) ([]string, error) {
		parsed, err := parse(from, text)
		if err == nil {
			*field = parsed
		}
		return nil, err
	}}
}

func lenient(v Value) Value {
	v.lenient = true
	return v
}

func Text[T ~string](field *T) Value {
	return plain("text", field, func(_ origin, text string) (T, error) { return T(text), nil })
}

func List(field *[]string) Value {
	return plain("list", field, func(_ origin, text string) ([]string, error) {
		parts := strings.Split(text, ",")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		return slices.DeleteFunc(parts, func(part string) bool { return part == "" }), nil
	})
}

// Repeated is a flag that may be given several times; in the environment each value has a line of its own.
func Repeated(field *[]string) Value {
	return plain(repeated, field, func(_ origin, text string) ([]string, error) {
		var parts []string
		for part := range strings.SplitSeq(text, separator) {
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, part)
			}
		}
		return parts, nil
	})
}

// names is a flag that may be given several times, also with several values that are separated by commas.
func names(field *[]string) Value {
	return plain(repeated, field, func(_ origin, text string) ([]string, error) {
		var parts []string
		return append(parts, strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })...), nil
	})
}

const (
	repeated  = "repeated"
	separator = "\n"
)

func Number(field *int) Value {
	return lenient(plain("number", field, func(_ origin, text string) (int, error) {
		n, err := strconv.Atoi(text)
		return n, because(err, "%q is not a whole number", text)
	}))
}

// priority is that of pods.
func priority(field *int32) Value {
	return lenient(plain("number", field, func(_ origin, text string) (int32, error) {
		n, err := strconv.ParseInt(text, 10, 32)
		return int32(n), because(err, "%q is not a priority: use a whole number", text)
	}))
}

func Bytes(field *int64) Value {
	return lenient(plain("bytes", field, func(_ origin, text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		return n, because(err, "%q is not a whole number of bytes", text)
	}))
}

func Fraction(field *float64) Value {
	return lenient(plain("fraction", field, func(_ origin, text string) (float64, error) {
		f, err := strconv.ParseFloat(text, 64)
		return f, because(err, "%q is not a number", text)
	}))
}

// thousandths is a fraction from 0 to 1 that is kept as a whole number.
func thousandths(field *int) Value {
	return plain("fraction", field, func(_ origin, text string) (int, error) {
		f, err := strconv.ParseFloat(text, 64)
		if err == nil && !(f >= 0 && f <= 1) {
			return 0, fmt.Errorf("%q is no fraction from 0 to 1", text)
		}
		return int(math.Round(f * 1000)), because(err, "%q is not a number", text)
	})
}

// price is not lenient: no chart that is in use has one, and a price that is left out unnoticed buys other nodes.
func Price(field *model.Money) Value {
	return plain("price", field, func(_ origin, text string) (model.Money, error) { return model.ParsePrice(text) })
}

func Duration(field *time.Duration) Value {
	return lenient(plain("duration", field, func(_ origin, text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		return d, because(err, "%q is not a duration such as 10s or 1m30s", text)
	}))
}

// boolean flags are exactly true or false. The environment may also say 1, t, TRUE and the like,
// because charts in the field do and Karpenter understands them there.
func Boolean(field *bool) Value {
	return lenient(plain("true|false", field, func(from origin, text string) (bool, error) {
		if from == fromEnvironment {
			b, err := strconv.ParseBool(text)
			return b, because(err, "%q is not a valid value, must be true or false", text)
		}
		switch text {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return false, fmt.Errorf("%q is not a valid value, must be true or false", text)
	}))
}

// because replaces a parser's own error, which names Go functions, with a sentence for operators.
func because(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf(format+" that fits into 64 bits", args...)
	}
	return fmt.Errorf(format, args...)
}
