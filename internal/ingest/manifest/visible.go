package manifest

import "fmt"

// visible writes the control characters of a JSON text as escapes: names, labels and messages of objects
// are shown on terminals, which would interpret them. Tabs and line breaks stay. Text without control
// characters, which is nearly all text, is returned unchanged.
func visible(text []byte) []byte {
	var out []byte // nil as long as nothing has changed
	from := 0
	replace := func(at, length int, by string) {
		out = append(append(out, text[from:at]...), by...)
		from = at + length
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == 0x7f:
			replace(i, 1, `\\u007f`)
		case c == 0xc2 && i+1 < len(text) && text[i+1] >= 0x80 && text[i+1] < 0xa0: // U+0080 to U+009F
			replace(i, 2, fmt.Sprintf(`\\u%04x`, text[i+1]))
			i++
		case c == '\\' && i+1 < len(text):
			i++ // the escaped character is checked here, and not again
			if text[i] == 'b' || text[i] == 'f' || text[i] == 'r' || text[i] == 'u' && isControl(text[i+1:]) {
				replace(i-1, 0, `\`)
			}
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[from:]...)
}

// isControl reports whether the digits behind \u are those of a control character that is shown.
func isControl(digits []byte) bool {
	if len(digits) < 4 || digits[0] != '0' || digits[1] != '0' {
		return false
	}
	var code int
	if _, err := fmt.Sscanf(string(digits[2:4]), "%02x", &code); err != nil {
		return false
	}
	return code < 0x20 && code != '\t' && code != '\n' || code >= 0x7f && code < 0xa0
}
