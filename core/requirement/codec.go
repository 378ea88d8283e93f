package requirement

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Entries write r as users write requirements: the entries of one key together mean r
// again, and each carries the minimum. Most requirements take one entry, a range with
// exclusions up to three. A NotIn that was narrowed so that the label must exist says so
// with an Exists beside it, and the impossible is what both Exists and does not.
func (r Requirement) Entries() []Entry {
	var entries []Entry
	add := func(operator Operator, values ...string) {
		entries = append(entries, Entry{Key: r.key, Operator: operator, Values: values, MinValues: r.minValues})
	}
	if n, ok := r.AtLeast(); ok {
		add(Gte, strconv.FormatInt(n, 10))
	}
	if n, ok := r.AtMost(); ok {
		add(Lte, strconv.FormatInt(n, 10))
	}
	operator := r.Operator()
	needsValue := operator == NotIn || operator == DoesNotExist
	if needsValue && !r.absent && !r.bounds.some() {
		add(Exists)
	}
	if operator != Exists || len(entries) == 0 {
		add(operator, r.Values()...)
	}
	return entries
}

// document is the form of a requirement in snapshots. A concrete set has "in", even when
// it is empty; everything else is a complement.
type document struct {
	Key       string    `json:"key"`
	In        *[]string `json:"in,omitempty"`
	NotIn     []string  `json:"notIn,omitempty"`
	AtLeast   *int64    `json:"gte,omitempty"`
	AtMost    *int64    `json:"lte,omitempty"`
	Absent    bool      `json:"absent,omitempty"`
	MinValues int       `json:"minValues,omitempty"`
}

// MarshalJSON writes r without loss. Equal requirements give the same bytes.
func (r Requirement) MarshalJSON() ([]byte, error) { return r.document().append(nil), nil }

func (r Requirement) document() document {
	d := document{Key: r.key, Absent: r.absent, MinValues: r.minValues}
	if r.complement {
		d.NotIn = r.values
	} else {
		d.In = &r.values
	}
	if n, ok := r.AtLeast(); ok {
		d.AtLeast = &n
	}
	if n, ok := r.AtMost(); ok {
		d.AtMost = &n
	}
	return d
}

// append writes what json.Marshal would: a catalogue has ten thousand requirements, and reflection takes
// most of the time in which a snapshot is written.
func (d document) append(to []byte) []byte {
	to = appendQuoted(append(to, `{"key":`...), d.Key)
	if d.In != nil {
		to = appendList(append(to, `,"in":`...), *d.In)
	}
	if len(d.NotIn) > 0 {
		to = appendList(append(to, `,"notIn":`...), d.NotIn)
	}
	if d.AtLeast != nil {
		to = strconv.AppendInt(append(to, `,"gte":`...), *d.AtLeast, 10)
	}
	if d.AtMost != nil {
		to = strconv.AppendInt(append(to, `,"lte":`...), *d.AtMost, 10)
	}
	if d.Absent {
		to = append(to, `,"absent":true`...)
	}
	if d.MinValues != 0 {
		to = strconv.AppendInt(append(to, `,"minValues":`...), int64(d.MinValues), 10)
	}
	return append(to, '}')
}

func appendList(to []byte, texts []string) []byte {
	to = append(to, '[')
	for i, text := range texts {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendQuoted(to, text)
	}
	return append(to, ']')
}

func appendQuoted(to []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 {
			quoted, _ := json.Marshal(text) // strings always have a form in JSON
			return append(to, quoted...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}

// UnmarshalJSON reads what MarshalJSON writes. Fields that it does not know are refused:
// a constraint that is silently dropped would be a wrong placement later.
func (r *Requirement) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var d document
	if err := decoder.Decode(&d); err != nil {
		return fmt.Errorf("read requirement: %w", err)
	}
	read, err := d.requirement()
	if err != nil {
		return fmt.Errorf("read requirement on %q: %w", d.Key, err)
	}
	*r = read
	return nil
}

func (d document) requirement() (Requirement, error) {
	if d.MinValues < 0 {
		return Requirement{}, errors.New("minValues is negative")
	}
	r := Requirement{key: d.Key, minValues: d.MinValues, absent: d.Absent}
	if d.In != nil {
		return d.concrete(r)
	}
	if d.AtLeast != nil {
		r.bounds.low = limit{*d.AtLeast, true}
	}
	if d.AtMost != nil {
		r.bounds.high = limit{*d.AtMost, true}
	}
	r.complement = true
	r.values = keep(sortedUnique(d.NotIn), r.bounds.admit)
	switch {
	case r.bounds.crossed():
		return Requirement{}, errors.New("gte is above lte")
	case r.absent && (r.bounds.some() || len(r.values) == 0):
		return Requirement{}, errors.New("only notIn alone and an empty in admit absence")
	}
	return r, nil
}

func (d document) concrete(r Requirement) (Requirement, error) {
	r.values = sortedUnique(*d.In)
	switch {
	case len(d.NotIn) > 0 || d.AtLeast != nil || d.AtMost != nil:
		return Requirement{}, errors.New("in excludes notIn, gte and lte")
	case r.absent && len(r.values) > 0:
		return Requirement{}, errors.New("only notIn alone and an empty in admit absence")
	}
	return r, nil
}
