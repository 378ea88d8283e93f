package requirement

import "math"

// limit is one inclusive end of a range, when there is one.
type limit struct {
	n   int64
	set bool
}

// bounds is the range that a value must be in. While there is any limit only integers
// are in it; without limits everything is.
type bounds struct{ low, high limit }

func (b bounds) some() bool { return b.low.set || b.high.set }

func (b bounds) crossed() bool { return b.low.set && b.high.set && b.low.n > b.high.n }

func (b bounds) admit(value string) bool {
	if !b.some() {
		return true
	}
	n, ok := integer(value)
	return ok && (!b.low.set || n >= b.low.n) && (!b.high.set || n <= b.high.n)
}

func (b bounds) and(o bounds) bounds {
	if o.low.set && (!b.low.set || o.low.n > b.low.n) {
		b.low = o.low
	}
	if o.high.set && (!b.high.set || o.high.n < b.high.n) {
		b.high = o.high
	}
	return b
}

// integer reads a decimal integer with an optional sign and any number of leading zeros,
// as Kubernetes reads labels for Gt and Lt. Unlike strconv it does not allocate when the
// text is something else, which for label values is the common case.
func integer(text string) (int64, bool) {
	digits, negative := text, false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		digits, negative = text[1:], text[0] == '-'
	}
	if len(digits) == 0 {
		return 0, false
	}
	var n uint64
	for i := range len(digits) {
		digit := uint64(digits[i] - '0')
		if digit > 9 || n > math.MaxInt64/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	switch {
	case negative && n <= math.MaxInt64+1:
		return -int64(n-1) - 1, true // the smallest integer positive counterpart
	case !negative && n <= math.MaxInt64:
		return int64(n), true
	}
	return 0, false
}
