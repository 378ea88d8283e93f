package manifest

import (
	"bytes"
)

// value reads a scalar or a flow collection that begins in the current line, in a
// collection of the given column, and goes to the line after it.
func (r *blockReader) value(text []byte, column int) bool {
	switch text[0] {
	case '"', '\'':
		return r.quoted(text, column)
	case '|':
		return r.literal(text, column)
	case '{', '[':
		rest, ok := r.flow(text, 0)
		if !ok || !isEnd(rest) {
			return false
		}
		r.next()
		return r.done || r.indent <= column
	}
	return r.plain(text, column)
}

// isEnd reports whether at most a comment follows a value.
func isEnd(rest []byte) bool {
	content := bytes.TrimLeft(rest, " ")
	return len(content) == 0 || content[0] == '#' && len(content) < len(rest)
}

// plain reads a scalar without quotes, which may continue in lines that are indented more than its
// collection; line breaks then become spaces.
func (r *blockReader) plain(text []byte, column int) bool {
	folded, ended, ok := plainLine(text)
	if !ok || !mayBegin(text) {
		return false
	}
	several := false
	for {
		before := r.at
		r.next()
		if r.done || r.indent <= column {
			break
		}
		if ended || r.skippedLines(before) {
			return false // a line that belongs to no value, or that stands for a line break
		}
		var more []byte
		if more, ended, ok = plainLine(r.line); !ok || r.line[0] == '#' {
			return false
		}
		folded = append(append(bytes.Clone(folded), ' '), more...)
		several = true
	}
	if several { // no number and no keyword contains a space
		r.out = appendText(r.out, folded)
		return true
	}
	return r.scalar(folded)
}

// skippedLines reports whether next has skipped blank lines or comments since a position.
func (r *blockReader) skippedLines(before int) bool {
	return bytes.Count(r.text[before:max(before, r.at-1)], []byte("\n")) > 0
}

// plainLine is a line of a plain scalar without its comment, and says whether it had one.
func plainLine(text []byte) (line []byte, commented, ok bool) {
	if i := bytes.Index(text, []byte(" #")); i >= 0 {
		text, commented = bytes.TrimRight(text[:i], " "), true
	}
	if len(text) == 0 || bytes.Contains(text, []byte(": ")) || text[len(text)-1] == ':' {
		return nil, false, false
	}
	return text, commented, true
}

// mayBegin reports whether a byte can begin a plain scalar and nothing else.
func mayBegin(text []byte) bool {
	c := text[0]
	if c == '-' {
		return len(text) > 1 && text[1] != ' '
	}
	return isKeyByte(c) || c == '+' || c == '~' || c == '$' || c == '(' || c == '='
}

// scalar writes the value of a plain scalar of one line.
func (r *blockReader) scalar(text []byte) bool {
	switch kindOf(text) {
	case isText:
		r.out = appendText(r.out, text)
	case isTrue:
		r.out = append(r.out, "true"...)
	case isFalse:
		r.out = append(r.out, "false"...)
	case isNull:
		r.out = append(r.out, "null"...)
	case isInteger:
		r.out = append(r.out, text...)
	default:
		return r.doubtful(text)
	}
	return true
}

// doubtful asks the complete parser for the value of a scalar.
func (r *blockReader) doubtful(text []byte) bool {
	const before, after = `{"a":`, `}`
	converted, err := wholeYAML(append([]byte("a: "), text...))
	if err != nil || !bytes.HasPrefix(converted, []byte(before)) {
		return false
	}
	r.out = append(r.out, bytes.TrimSuffix(converted[len(before):], []byte(after))...)
	return true
}

// quoted reads a scalar in quotes. In single quotes it may continue in further lines.
func (r *blockReader) quoted(text []byte, column int) bool {
	if text[0] == '"' {
		value, rest, ok := doubleQuoted(text)
		if !ok || !isEnd(rest) {
			return false
		}
		r.out = appendText(r.out, value)
		r.next()
		return r.done || r.indent <= column
	}
	value, rest, closed := singleQuoted(nil, text[1:])
	for !closed {
		before := r.at
		value = bytes.TrimRight(value, " ")
		line, ok := r.rawLine()
		content := bytes.TrimSpace(line)
		if !ok || len(content) == 0 || len(line)-len(bytes.TrimLeft(line, " ")) <= column || before == r.at {
			return false
		}
		value, rest, closed = singleQuoted(append(value, ' '), content)
	}
	if !isEnd(rest) {
		return false
	}
	r.out = appendText(r.out, value)
	r.next()
	return r.done || r.indent <= column
}

// singleQuoted adds text to value up to the closing quote. Two quotes stand for one.
func singleQuoted(value, text []byte) (out, rest []byte, closed bool) {
	for {
		i := bytes.IndexByte(text, '\'')
		if i < 0 {
			return append(value, text...), nil, false
		}
		value = append(value, text[:i]...)
		text = text[i+1:]
		if len(text) == 0 || text[0] != '\'' {
			return value, text, true
		}
		value = append(value, '\'')
		text = text[1:]
	}
}

// doubleQuoted reads a scalar of one line with the usual escapes.
func doubleQuoted(text []byte) (value, rest []byte, ok bool) {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return value, text[i+1:], true
		case c != '\\':
			value = append(value, c)
		default:
			i++
			if i == len(text) {
				return nil, nil, false
			}
			escaped := bytes.IndexByte([]byte(`"\ntr`), text[i])
			if escaped < 0 {
				return nil, nil, false
			}
			value = append(value, "\"\\\n\t\r"[escaped])
		}
	}
	return nil, nil, false
}

// literal reads a block after | or |-: the lines unchanged, without their indentation.
func (r *blockReader) literal(header []byte, column int) bool {
	keep := string(header) == "|"
	if !keep && string(header) != "|-" {
		return false
	}
	var value []byte
	indent := -1
	for {
		before := r.at
		line, ok := r.rawLine()
		content := bytes.TrimLeft(line, " ")
		depth := len(line) - len(content)
		switch {
		case indent < 0 && ok && len(content) > 0 && depth > column:
			indent = depth
		case indent < 0:
			return false // empty, or it begins with blank lines
		case ok && len(content) == 0 && depth <= indent:
			value = append(value, '\n')
			continue
		case !ok && r.text[len(r.text)-1] != '\n':
			return false // the last line has no line break to keep or to remove
		case !ok || depth < indent:
			r.at = before
			r.out = appendText(r.out, clipped(value, keep))
			r.next()
			return r.done || r.indent <= column
		}
		value = append(append(value, line[indent:]...), '\n')
	}
}

// clipped has one line break at its end, or none.
func clipped(value []byte, keep bool) []byte {
	value = bytes.TrimRight(value, "\n")
	if keep {
		return append(value, '\n')
	}
	return value
}
