package manifest

import "bytes"

// flow reads a collection in brackets on one line, and returns the text after it.
func (r *blockReader) flow(text []byte, depth int) (rest []byte, ok bool) {
	if depth > maxDepth {
		return nil, false
	}
	opening, closing := text[0], byte('}')
	if opening == '[' {
		closing = ']'
	}
	outer := len(r.keys)
	defer r.forget(outer)
	r.out = append(r.out, opening)
	text = bytes.TrimLeft(text[1:], " ")
	for first := true; len(text) > 0 && text[0] != closing || !first && len(text) > 0; first = false {
		if opening == '{' {
			if text, ok = r.flowKey(text, outer); !ok {
				return nil, false
			}
		}
		if text, ok = r.flowValue(text, depth); !ok || len(text) == 0 {
			return nil, false
		}
		if text[0] == closing {
			break
		}
		if text[0] != ',' {
			return nil, false
		}
		r.out = append(r.out, ',')
		text = bytes.TrimLeft(text[1:], " ")
	}
	if len(text) == 0 {
		return nil, false
	}
	r.out = append(r.out, closing)
	return text[1:], true
}

func (r *blockReader) flowKey(text []byte, outer int) (rest []byte, ok bool) {
	if len(text) == 0 {
		return nil, false
	}
	key, rest, ok := cutKey(text)
	if !ok || len(rest) == 0 || !r.newKey(key, outer) {
		return nil, false
	}
	r.out = append(appendText(r.out, key), ':')
	return rest, true
}

// flowValue reads a value and the spaces after it.
func (r *blockReader) flowValue(text []byte, depth int) (rest []byte, ok bool) {
	if len(text) == 0 {
		return nil, false
	}
	var value []byte
	switch text[0] {
	case '{', '[':
		rest, ok = r.flow(text, depth+1)
		return bytes.TrimLeft(rest, " "), ok
	case '"':
		value, rest, ok = doubleQuoted(text)
	case '\'':
		value, rest, ok = singleQuoted(nil, text[1:])
	default:
		end := 0
		for end < len(text) && (isKeyByte(text[end]) || text[end] == '+') {
			end++
		}
		rest = bytes.TrimLeft(text[end:], " ")
		follows := len(rest) > 0 && (rest[0] == ',' || rest[0] == '}' || rest[0] == ']')
		return rest, end > 0 && follows && mayBegin(text[:end]) && r.scalar(text[:end])
	}
	r.out = appendText(r.out, value)
	return bytes.TrimLeft(rest, " "), ok
}
