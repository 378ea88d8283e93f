package manifest

import (
	"bytes"
)

// plainYAML turns the YAML that kubectl prints and people usually write into JSON, some twenty times faster
// than a complete YAML parser: 50,000 pods are read in seconds. It supports block mappings and sequences,
// scalars in all three styles, literal blocks, and flow collections on one line. For anything else
// (anchors, tags, tabs, folded blocks, non-ASCII letters, duplicate keys, doubtful indentation …) it gives
// up, and the caller uses the complete parser. It reads what it accepts exactly as the complete parser
// does; a fuzz test compares the two.
func plainYAML(text []byte) ([]byte, bool) {
	for _, c := range text {
		if c >= 0x7f || c < ' ' && c != '\n' {
			return nil, false
		}
	}
	r := &blockReader{text: text, out: make([]byte, 0, len(text)+len(text)/4)}
	r.next()
	if r.done || !r.node(-1) || !r.done {
		return nil, false
	}
	return r.out, true
}

// blockReader reads one line of content at a time. Methods return false to give up.
type blockReader struct {
	text []byte
	at   int // the index of the next line
	out  []byte

	done   bool   // there are no more lines of content
	indent int    // of the line, or of its rest after a dash
	line   []byte // without indentation
	depth  int
	keys   [][]byte           // of the open mappings, innermost last
	many   map[keyAt]struct{} // the keys of those open mappings that have more than fewKeys
}

// maxDepth keeps malformed input from exhausting the stack.
const maxDepth = 200

// rawLine returns the next line unchanged, without its end.
func (r *blockReader) rawLine() ([]byte, bool) {
	if r.at >= len(r.text) {
		return nil, false
	}
	rest := r.text[r.at:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		r.at += end + 1
		return rest[:end], true
	}
	r.at = len(r.text)
	return rest, true
}

// next goes to the next line that is neither blank nor a comment.
func (r *blockReader) next() {
	for {
		line, ok := r.rawLine()
		if !ok {
			r.done, r.line, r.indent = true, nil, -1
			return
		}
		content := bytes.TrimLeft(line, " ")
		if len(content) > 0 && content[0] != '#' {
			r.indent, r.line = len(line)-len(content), bytes.TrimRight(content, " ")
			return
		}
	}
}

// node reads the value that begins at the current line, which must be indented by more than parent.
func (r *blockReader) node(parent int) bool {
	if r.indent <= parent || r.depth > maxDepth {
		return false
	}
	r.depth++
	defer func() { r.depth-- }()
	if isDash(r.line) {
		return r.sequence(r.indent)
	}
	if _, _, ok := cutKey(r.line); ok {
		return r.mapping(r.indent)
	}
	return false // a scalar on a line of its own
}

// sequence reads the items of a sequence whose dashes are in the same column.
func (r *blockReader) sequence(column int) bool {
	r.out = append(r.out, '[')
	for first := true; !r.done && r.indent == column && isDash(r.line); first = false {
		if !first {
			r.out = append(r.out, ',')
		}
		if !r.item(column) {
			return false
		}
	}
	r.out = append(r.out, ']')
	return r.done || r.indent <= column
}

func (r *blockReader) item(column int) bool {
	content := bytes.TrimLeft(r.line[1:], " ")
	if len(content) == 0 || content[0] == '#' {
		r.next()
		if r.done || r.indent <= column {
			r.out = append(r.out, "null"...)
			return true
		}
		return r.node(column)
	}
	_, _, isMapping := cutKey(content)
	if isMapping || isDash(content) {
		r.indent += len(r.line) - len(content)
		r.line = content
		return r.node(column)
	}
	return r.value(content, column)
}

// mapping reads the entries of a mapping whose keys are in the same column.
func (r *blockReader) mapping(column int) bool {
	outer := len(r.keys)
	defer r.forget(outer)
	r.out = append(r.out, '{')
	for !r.done && r.indent == column {
		if len(r.keys) > outer {
			r.out = append(r.out, ',')
		}
		key, rest, ok := cutKey(r.line)
		if !ok || !r.newKey(key, outer) {
			return false
		}
		r.out = append(appendText(r.out, key), ':')
		if !r.entry(rest, column) {
			return false
		}
	}
	r.out = append(r.out, '}')
	return r.done || r.indent < column
}

// fewKeys is the number of keys of a mapping up to which they are compared one by one: most
// mappings have fewer.
const fewKeys = 100

// keyAt is a key of the mapping whose keys begin at this index.
type keyAt struct {
	outer int
	key   string
}

// newKey records a key of the innermost mapping, and gives up if the mapping has it already.
func (r *blockReader) newKey(key []byte, outer int) bool {
	open := r.keys[outer:]
	if len(open) < fewKeys {
		for _, other := range open {
			if bytes.Equal(key, other) {
				return false
			}
		}
		r.keys = append(r.keys, key)
		return true
	}
	if r.many == nil {
		r.many = map[keyAt]struct{}{}
	}
	if len(open) == fewKeys {
		for _, other := range open {
			r.many[keyAt{outer, string(other)}] = struct{}{}
		}
	}
	at := keyAt{outer, string(key)}
	if _, twice := r.many[at]; twice {
		return false
	}
	r.many[at] = struct{}{}
	r.keys = append(r.keys, key)
	return true
}

// forget closes the innermost mapping.
func (r *blockReader) forget(outer int) {
	if len(r.keys)-outer > fewKeys {
		for _, key := range r.keys[outer:] {
			delete(r.many, keyAt{outer, string(key)})
		}
	}
	r.keys = r.keys[:outer]
}

// entry reads a value that begins after its key or on the next line. A sequence may be indented as
// little as the key.
func (r *blockReader) entry(rest []byte, column int) bool {
	if len(rest) > 0 && rest[0] != '#' {
		return r.value(rest, column)
	}
	r.next()
	switch {
	case !r.done && r.indent == column && isDash(r.line):
		r.depth++
		defer func() { r.depth-- }()
		return r.depth <= maxDepth && r.sequence(column)
	case r.done || r.indent <= column:
		r.out = append(r.out, "null"...)
		return true
	}
	return r.node(column)
}

// maxKey is below the length from which YAML does not accept text before a colon as a key.
const maxKey = 500

// cutKey splits "key: rest". It accepts only keys that are certainly text.
func cutKey(line []byte) (key, rest []byte, ok bool) {
	end := 0
	if quote := line[0]; quote == '"' || quote == '\'' {
		closing := bytes.IndexByte(line[1:], quote)
		if closing < 0 {
			return nil, nil, false
		}
		key, end = line[1:1+closing], closing+2
		if bytes.IndexByte(key, '\\') >= 0 || end < len(line) && line[end] == quote {
			return nil, nil, false // escapes
		}
	} else {
		for end < len(line) && isKeyByte(line[end]) {
			end++
		}
		key = line[:end]
		if end == 0 || kindOf(key) != isText {
			return nil, nil, false
		}
	}
	if len(key) > maxKey || end == len(line) || line[end] != ':' || end+1 < len(line) && line[end+1] != ' ' {
		return nil, nil, false
	}
	return key, bytes.TrimLeft(line[end+1:], " "), true
}

func isKeyByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '/' || c == '-'
}
