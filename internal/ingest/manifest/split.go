package manifest

import (
	"bytes"
	"encoding/json"
)

// document is one document of a file, or one item of a list that was taken apart.
type document struct {
	file   string
	number int // in the file, from 1
	item   int // in the list, from 1; 0 if it is no item
	text   []byte
	json   bool
	// of is the type of an item that does not state its own.
	of typeMeta
	// whole is the document from which the item was cut, if that was done without parsing it.
	whole *document
}

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	separator     = []byte("---")
)

// split cuts a file into documents. It leaves out empty documents, and those of comments only, but
// counts them, as an editor would.
func split(file string, data []byte) []document {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if looksLikeJSON(data) {
		return splitJSON(file, data)
	}
	var out []document
	number := 0
	for len(data) > 0 {
		text, rest := nextDocument(data)
		data = rest
		if isBlank(text) && number == 0 && len(rest) > 0 {
			continue // the text before the first separator
		}
		number++
		if !isBlank(text) {
			out = append(out, document{file: file, number: number, text: text, json: looksLikeJSON(text)})
		}
	}
	return out
}

// nextDocument is the text up to a line that begins with three dashes, and the text after that
// line.
func nextDocument(data []byte) (text, rest []byte) {
	for at := 0; at < len(data); {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			end = len(data)
		} else {
			end += at + 1
		}
		if isSeparator(data[at:end]) {
			// Text on the same line belongs to the next document.
			return data[:at], data[at+len(separator):]
		}
		at = end
	}
	return data, nil
}

func isSeparator(line []byte) bool {
	if !bytes.HasPrefix(line, separator) {
		return false
	}
	return len(line) == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\n' || line[3] == '\r'
}

func isBlank(text []byte) bool {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("...")) {
			return false
		}
		text = rest
	}
	return true
}

func looksLikeJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// splitJSON cuts a stream of JSON values. If the stream is malformed, the rest is one document, so
// that its decoding reports the mistake. (YAML in flow style begins like JSON; it ends up there
// too, and is read as YAML.)
func splitJSON(file string, data []byte) []document {
	var out []document
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		start := decoder.InputOffset()
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			if rest := data[start:]; !isBlank(rest) {
				out = append(out, document{file: file, number: len(out) + 1, text: rest})
			}
			return out
		}
		out = append(out, document{file: file, number: len(out) + 1, text: value, json: true})
	}
}
