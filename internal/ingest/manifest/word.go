package manifest

import "bytes"

// scalarKind is the type of a plain scalar.
type scalarKind int

const (
	isText scalarKind = iota
	isTrue
	isFalse
	isNull
	isInteger
	isDoubtful // a number in an unusual form, or text that looks like one
)

// kindOf knows the keywords of YAML 1.1, as kubectl reads them.
func kindOf(text []byte) scalarKind {
	if len(text) == 0 {
		return isNull
	}
	switch c := text[0]; {
	case '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.':
		return kindOfNumber(text)
	case len(text) > len("false"):
		return isText
	}
	switch string(text) {
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return isTrue
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return isFalse
	case "~", "null", "Null", "NULL":
		return isNull
	}
	return isText
}

// kindOfNumber recognises plain integers, and texts with a byte that no number has.
func kindOfNumber(text []byte) scalarKind {
	digits := text
	if text[0] == '-' {
		digits = text[1:]
	}
	integer := len(digits) > 0 && len(digits) <= 18 && (digits[0] != '0' || len(text) == 1)
	for i, c := range text {
		switch {
		case '0' <= c && c <= '9':
			continue
		case bytes.IndexByte(notInNumbers, c) >= 0:
			return isText
		case i == 0 && c == '-':
			continue
		}
		integer = false
	}
	if integer {
		return isInteger
	}
	return isDoubtful
}

// notInNumbers are letters and marks that no number, date or infinity has.
var notInNumbers = []byte(`GHJKLMPQRUVWghjklmpqrsuvwy/,;()=$@*"'{}[]|`)

// appendText appends a JSON string. Its bytes are ASCII.
func appendText(out, text []byte) []byte {
	out = append(out, '"')
	for _, c := range text {
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\t':
			out = append(out, '\\', 't')
		case '\r':
			out = append(out, '\\', 'r')
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
