package store

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/scalar"
)

// asJSON is how custom objects are sent. Tags say which fields are omitted when they are empty, and some types
// encode themselves.
var asJSON = &wording{
	sent: func(f reflect.StructField) (sent, empties, known bool) {
		tag, _ := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		empties = strings.Contains(","+options+",", ",omitempty,")
		return tag != "-", empties, !strings.Contains(","+options+",", ",string,") && (name != "-" || tag == "-")
	},
	special: func(t reflect.Type) (carrier, bool) {
		if t == reflect.TypeFor[scalar.Duration]() {
			return func(reflect.Value) error { return nil }, true // to the nanosecond
		}
		return throughJSON, own[json.Marshaler](t) || own[json.Unmarshaler](t) || own[encoding.TextMarshaler](t)
	},
	text: func(v reflect.Value) error {
		if !utf8.ValidString(v.String()) {
			return errUnclear
		}
		return nil
	},
	null: func(t reflect.Type) func(reflect.Value) bool {
		if t != timeType {
			return nil
		}
		return func(v reflect.Value) bool { return v.Addr().Interface().(*metav1.Time).IsZero() }
	},
}

func own[I any](t reflect.Type) bool { return reflect.PointerTo(t).Implements(reflect.TypeFor[I]()) }

// throughJSON encodes and decodes a value whose type has its own encoding.
func throughJSON(v reflect.Value) error {
	text, err := json.Marshal(v.Addr().Interface())
	if err != nil {
		return err
	}
	v.SetZero()
	return json.Unmarshal(text, v.Addr().Interface())
}

// asMessage is how Kubernetes' own objects are sent, as protocol buffers. These do not tell an empty list from a missing
// one, and do not send fields without a number.
var asMessage = &wording{
	sent: func(f reflect.StructField) (sent, empties, known bool) {
		_, sent = f.Tag.Lookup("protobuf")
		bytes := f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Uint8
		return sent, !bytes, sent || f.Type == reflect.TypeFor[metav1.TypeMeta]()
	},
	special: func(t reflect.Type) (carrier, bool) {
		if t == reflect.TypeFor[metav1.FieldsV1]() {
			return loseEmptyFields, true
		}
		return nil, t == reflect.TypeFor[metav1.MicroTime]()
	},
	null: func(reflect.Type) func(reflect.Value) bool { return nil },
}

// loseEmptyFields handles FieldsV1, the one type of bytes that does not tell empty from missing.
func loseEmptyFields(v reflect.Value) error {
	if fields := v.Addr().Interface().(*metav1.FieldsV1); len(fields.GetRawBytes()) == 0 {
		*fields = metav1.FieldsV1{}
	}
	return nil
}
