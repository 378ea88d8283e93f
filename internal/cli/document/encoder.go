package document

import (
	"bufio"
	"io"
	"regexp"
)

// layout is the outer form: how objects and lists that take several lines look.
type layout int

const (
	jsonStyle layout = iota
	yamlStyle
)

// encoder writes nested objects and lists line by line. The innermost values are given as JSON
// on one line, which both styles understand.
type encoder struct {
	w     *bufio.Writer
	style layout
	depth int
	// first is set until the innermost object or list has an entry.
	first bool
	// dashed is set right after the dash of a YAML item, where its first key goes.
	dashed bool
	buffer []byte
}

func newEncoder(w io.Writer, s layout) *encoder {
	return &encoder{w: bufio.NewWriterSize(w, 64<<10), style: s, buffer: make([]byte, 0, 4<<10)}
}

// scratch is an empty buffer for a value to be written at once. A value that outgrows it gets
// memory of its own; values that are made in it must not be kept.
func (e *encoder) scratch() []byte { return e.buffer[:0] }

func (e *encoder) put(text string) { e.w.WriteString(text) } // errors stay in w until finish

func (e *encoder) indent() {
	for range e.depth {
		e.put("  ")
	}
}

// open begins an object, close ends it.
func (e *encoder) open() {
	if e.style == jsonStyle {
		e.put("{")
	}
	e.first = true
	e.depth++
}

func (e *encoder) close() {
	e.depth--
	if e.style == jsonStyle {
		e.put("\n")
		e.indent()
		e.put("}")
	}
	e.first = false
}

// key begins an entry of an object.
func (e *encoder) key(name string) {
	if e.style == jsonStyle {
		e.separate()
		e.put(`"` + name + `": `)
		return
	}
	if !e.dashed && !(e.first && e.depth == 1) {
		e.put("\n")
		e.depth--
		e.indent()
		e.depth++
	}
	e.first, e.dashed = false, false
	e.put(name + ":")
}

// separate begins a line of JSON.
func (e *encoder) separate() {
	if !e.first {
		e.put(",")
	}
	e.first = false
	e.put("\n")
	e.indent()
}

// inline writes an entry whose value is given as JSON.
func (e *encoder) inline(name string, value []byte) {
	e.key(name)
	if e.style == yamlStyle {
		e.put(" ")
	}
	e.w.Write(value)
}

// plain YAML strings need no quotes. All others get them.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9./_-]*[A-Za-z0-9]$`)

// words are those that YAML does not read as strings.
var words = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|null)$`)

func (e *encoder) text(name, value string) {
	if e.style == yamlStyle && plain.MatchString(value) && !words.MatchString(value) {
		e.inline(name, append(e.scratch(), value...))
		return
	}
	e.inline(name, appendString(e.scratch(), value))
}

// list writes a list of n objects.
func (e *encoder) list(name string, n int, item func(i int)) {
	e.key(name)
	if n == 0 {
		e.empty()
		return
	}
	e.openList()
	for i := range n {
		e.item()
		item(i)
	}
	e.closeList()
}

// stream writes a list of values that are given as JSON, a line each.
func (e *encoder) stream(name string, items func(item func([]byte))) {
	e.key(name)
	any := false
	items(func(value []byte) {
		if !any {
			e.openList()
		}
		any = true
		e.item()
		e.w.Write(value)
		e.dashed = false
	})
	if !any {
		e.empty()
		return
	}
	e.closeList()
}

func (e *encoder) empty() {
	if e.style == yamlStyle {
		e.put(" ")
	}
	e.put("[]")
	e.first = false
}

func (e *encoder) openList() {
	if e.style == jsonStyle {
		e.put("[")
	}
	e.first = true
	e.depth++
}

func (e *encoder) item() {
	if e.style == jsonStyle {
		e.separate()
		return
	}
	e.put("\n")
	e.depth--
	e.indent()
	e.depth++
	e.put("- ")
	e.dashed = true
}

func (e *encoder) closeList() {
	e.depth--
	if e.style == jsonStyle {
		e.put("\n")
		e.indent()
		e.put("]")
	}
	e.first = false
}

// finish writes what is left, and gives the first error that any write met.
func (e *encoder) finish() error {
	e.put("\n")
	return e.w.Flush()
}
