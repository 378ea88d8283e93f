package store

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Requests to the store do not go over a wire, and encoding and decoding objects would be most of the cost of
// a request. The types show what the encoding would lose: fractions of seconds, the difference between empty
// and missing, the values of fields that are not sent, and how a quantity was written. A carrier removes exactly
// that from a copy of the object. The test compares each kind with an object that went through its encoding.

// carrier removes from a value what its encoding does not carry.
type carrier func(reflect.Value) error

// errUnclear says that a carrier cannot tell what the encoding would make of a value.
var errUnclear = errors.New("only the encoding itself can say what becomes of it")

// wording is one of the two ways in which clients send objects.
type wording struct {
	// sent reports whether a field is sent, and whether it is omitted when it is empty.
	sent func(reflect.StructField) (sent, empties, known bool)
	// special are types that the encoding treats in its own way.
	special func(reflect.Type) (lose carrier, is bool)
	// text is what the encoding does to strings. Nil means that it leaves them alone.
	text carrier
	// null returns a function that finds the values to which a pointer is written as null, or nil if a type has none.
	null func(reflect.Type) (isNull func(reflect.Value) bool)
	made sync.Map // of made, by type; all stores share them
}

type made struct {
	lose  carrier // nil means that nothing is lost
	known bool    // false means that there can be no carrier for the type
}

var (
	timeType     = reflect.TypeFor[metav1.Time]()
	quantityType = reflect.TypeFor[resource.Quantity]()
)

// carrierOf returns the carrier of a type, or nil if its encoding loses nothing. Known is false for a type that
// can have no carrier.
func (e *wording) carrierOf(t reflect.Type) (lose carrier, known bool) {
	if m, there := e.made.Load(t); there {
		return m.(made).lose, m.(made).known
	}
	lose, known = e.make(t)
	e.made.Store(t, made{lose, known})
	return lose, known
}

func (e *wording) make(t reflect.Type) (lose carrier, known bool) {
	switch t {
	case timeType:
		return loseTime, true
	case quantityType:
		return loseQuantity, true
	}
	if lose, is := e.special(t); is {
		return lose, lose != nil
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return nil, true
	case reflect.String:
		return e.text, true
	case reflect.Pointer:
		return e.pointer(t)
	case reflect.Slice:
		return e.slice(t)
	case reflect.Map:
		return e.table(t)
	case reflect.Struct:
		return e.structure(t)
	}
	return nil, false
}

// loseTime keeps whole seconds.
func loseTime(v reflect.Value) error {
	at := v.Addr().Interface().(*metav1.Time)
	if at.IsZero() {
		at.Time = time.Time{}
	} else {
		at.Time = time.Unix(at.Unix(), 0).Local()
	}
	return nil
}

// loseQuantity keeps the canonical form.
func loseQuantity(v reflect.Value) (err error) {
	q := v.Addr().Interface().(*resource.Quantity)
	*q, err = resource.ParseQuantity(strings.TrimSpace(q.String()))
	return err
}

func loseQuantities(v reflect.Value) (err error) {
	list := *v.Addr().Interface().(*corev1.ResourceList)
	for name, q := range list { // the order does not matter
		if list[name], err = resource.ParseQuantity(strings.TrimSpace(q.String())); err != nil || !utf8.ValidString(string(name)) {
			return errUnclear
		}
	}
	return nil
}

func (e *wording) pointer(t reflect.Type) (carrier, bool) {
	switch t.Elem().Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return nil, false
	}
	lose, known := e.carrierOf(t.Elem())
	isNull := e.null(t.Elem())
	if lose == nil && isNull == nil {
		return nil, known
	}
	return func(v reflect.Value) error {
		switch {
		case v.IsNil():
			return nil
		case isNull != nil && isNull(v.Elem()):
			v.SetZero()
			return nil
		case lose == nil:
			return nil
		}
		return lose(v.Elem())
	}, known
}

func (e *wording) slice(t reflect.Type) (carrier, bool) {
	lose, known := e.carrierOf(t.Elem())
	if lose == nil {
		return nil, known
	}
	return func(v reflect.Value) error {
		for i := range v.Len() {
			if err := lose(v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}, known
}

func (e *wording) table(t reflect.Type) (carrier, bool) {
	switch {
	case t.Key().Kind() != reflect.String, t.Elem().Kind() == reflect.Slice, t.Elem().Kind() == reflect.Pointer:
		return nil, false
	}
	lose, known := e.carrierOf(t.Elem())
	switch t {
	case reflect.TypeFor[map[string]string]():
		return e.texts(), known
	case reflect.TypeFor[corev1.ResourceList]():
		return loseQuantities, known
	}
	if lose == nil && e.text == nil {
		return nil, known
	}
	return func(v reflect.Value) error {
		for entries := v.MapRange(); entries.Next(); { // the order does not matter
			if e.text != nil && !utf8.ValidString(entries.Key().String()) {
				return errUnclear
			}
			if lose == nil {
				continue
			}
			value := reflect.New(t.Elem()).Elem()
			value.Set(entries.Value())
			if err := lose(value); err != nil {
				return err
			}
			v.SetMapIndex(entries.Key(), value)
		}
		return nil
	}, known
}

// texts does the work of table for map[string]string, the type of most maps.
func (e *wording) texts() carrier {
	if e.text == nil {
		return nil
	}
	return func(v reflect.Value) error {
		for key, value := range *v.Addr().Interface().(*map[string]string) { // the order does not matter
			if !utf8.ValidString(key) || !utf8.ValidString(value) {
				return errUnclear
			}
		}
		return nil
	}
}

// partOf is a field of which the encoding may lose something.
type partOf struct {
	field   int
	clear   bool // the field is not sent
	empties bool // the field is not sent when it is empty
	lose    carrier
}

func (e *wording) structure(t reflect.Type) (carrier, bool) {
	var parts []partOf
	for i := range t.NumField() {
		f := t.Field(i)
		sent, empties, known := e.sent(f)
		if !known || !f.IsExported() {
			return nil, false
		}
		if !sent {
			parts = append(parts, partOf{field: i, clear: true})
			continue
		}
		lose, known := e.carrierOf(f.Type)
		if !known {
			return nil, false
		}
		if empties = empties && (f.Type.Kind() == reflect.Slice || f.Type.Kind() == reflect.Map); empties || lose != nil {
			parts = append(parts, partOf{i, false, empties, lose})
		}
	}
	if len(parts) == 0 {
		return nil, true
	}
	return func(v reflect.Value) error {
		for i := range parts {
			if err := parts[i].take(v.Field(parts[i].field)); err != nil {
				return err
			}
		}
		return nil
	}, true
}

func (p *partOf) take(v reflect.Value) error {
	switch {
	case p.clear, p.empties && v.Len() == 0:
		v.SetZero()
		return nil
	case p.lose == nil:
		return nil
	}
	return p.lose(v)
}
