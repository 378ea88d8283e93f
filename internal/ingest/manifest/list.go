package manifest

import (
	"bytes"
	"encoding/json"
)

// bigList is the size from which a list is cut into items before it is decoded, so that its items
// can be decoded in parallel and memory stays bounded.
const bigList = 64 << 10

// list is a list without its items.
type list struct {
	typeMeta `json:",inline"`
	Items    []json.RawMessage `json:"items"`
}

// documents makes a document of each item.
func (l *list) documents(d document) []document {
	out := make([]document, len(l.Items))
	for i, text := range l.Items {
		out[i] = document{file: d.file, number: d.number, item: i + 1, text: text, json: true, of: l.item()}
	}
	return out
}

// takeApart returns the items of a big list, if they can be found without decoding all of it.
func takeApart(d document) ([]document, bool) {
	if len(d.text) < bigList {
		return nil, false
	}
	if !d.json {
		return takeApartYAML(d)
	}
	var l list
	if json.Unmarshal(d.text, &l) != nil || !l.isList() {
		return nil, false
	}
	return l.documents(d), true
}

// takeApartYAML cuts a list at the lines that begin its items, which in block style is safe: no
// line inside an item can begin with a dash so far to the left. If an item then cannot be read (for
// example because it refers to an anchor in another one), the caller reads the list as a whole.
//
//	apiVersion: v1
//	items:
//	- apiVersion: v1      ← each item becomes a document of its own,
//	  kind: Pod             its dash replaced by a space
//	kind: List
func takeApartYAML(d document) ([]document, bool) {
	head, items, tail, ok := cutItems(d.text)
	if !ok {
		return nil, false
	}
	shell, err := toJSON(append(bytes.Clone(head), tail...))
	if err != nil {
		return nil, false
	}
	var l list
	if json.Unmarshal(shell, &l) != nil || !l.isList() || l.Items != nil {
		return nil, false
	}
	out := make([]document, len(items))
	for i, text := range items {
		out[i] = document{file: d.file, number: d.number, item: i + 1, text: text, of: l.item(), whole: &d}
	}
	return out, true
}

var itemsKey = []byte("items:")

// cutItems finds the block "items:" of a mapping without indentation.
func cutItems(text []byte) (head []byte, items [][]byte, tail []byte, ok bool) {
	at := 0
	for at < len(text) {
		line := lineAt(text, at)
		if bytes.Equal(bytes.TrimRight(line, " \t\r\n"), itemsKey) {
			break
		}
		at += len(line)
	}
	if at == len(text) {
		return nil, nil, nil, false
	}
	head = text[:at]
	at += len(lineAt(text, at))
	dash := bytes.IndexByte(text[at:], '-')
	if dash < 0 || len(bytes.Trim(text[at:at+dash], " ")) > 0 {
		return nil, nil, nil, false
	}
	items, tail = cutAtDashes(text[at:], dash)
	return head, items, tail, true
}

func lineAt(text []byte, at int) []byte {
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return text[at : at+end+1]
	}
	return text[at:]
}

// cutAtDashes cuts where a line has a dash after exactly indent spaces, and ends where a
// line has fewer.
func cutAtDashes(text []byte, indent int) (items [][]byte, tail []byte) {
	start := -1
	at := 0
	for at < len(text) {
		line := lineAt(text, at)
		depth := len(line) - len(bytes.TrimLeft(line, " "))
		content := bytes.TrimSpace(line)
		switch {
		case len(content) == 0:
		case depth == indent && isDash(content):
			if start >= 0 {
				items = append(items, item(text[start:at], indent))
			}
			start = at
		case depth <= indent:
			return append(items, item(text[start:at], indent)), text[at:]
		}
		at += len(line)
	}
	return append(items, item(text[start:], indent)), nil
}

func isDash(content []byte) bool {
	return content[0] == '-' && (len(content) == 1 || content[1] == ' ')
}

// item is the text of an item, with its dash replaced by a space.
func item(text []byte, indent int) []byte {
	out := bytes.Clone(text)
	out[indent] = ' '
	return out
}
