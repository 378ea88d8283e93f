// Package fingerprint computes the 64-bit hash by which drift is detected.
//
// The numbers are stored on objects in clusters and compared across versions and across
// products, so they are a wire format: a value must always hash to the same number, or every
// node of a cluster would be seen as drifted. The format is the one that the API's users already
// have in their annotations (hashstructure, format 2, with lists read as sets and zero values
// omitted). It is not meant to resist an attack.
//
//	string, []byte of a time    FNV-1 of the bytes
//	bool, integers              FNV-1 of the little-endian bytes; bool as int8, int as int64
//	pointer                     what it points to; nil is the zero value of its type
//	list                        exclusive or of the elements' hashes, so pairs of equal elements cancel
//	map                         finish(exclusive or of pair(key, value))
//	struct                      start with the hash of the type's name; for each field that is exported,
//	                            not marked and not zero, in order: h = finish(h xor pair(name, value))
//
// where pair(a, b) is FNV-1 of both hashes' little-endian bytes and finish(h) that of one. A field
// is left out with the tag `hash:"ignore"`, and replaced by its String method with `hash:"string"`.
package fingerprint

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"reflect"
	"strconv"
	"time"
)

// Of returns the fingerprint of a value in decimal. It panics on a type that API objects do not
// have (functions, channels, floats, interfaces with methods): such a type is a mistake
// in its declaration, and no input can cause it.
func Of(value any) string {
	return strconv.FormatUint(hashValue(reflect.ValueOf(value)), 10)
}

func hashValue(v reflect.Value) uint64 {
	v = dereference(v)
	if t, ok := v.Interface().(time.Time); ok {
		return hashTime(t)
	}
	switch v.Kind() {
	case reflect.String:
		return hashBytes([]byte(v.String()))
	case reflect.Bool:
		if v.Bool() {
			return hashBytes([]byte{1})
		}
		return hashBytes([]byte{0})
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return hashInteger(uint64(v.Int()), v.Type().Bits())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return hashInteger(v.Uint(), v.Type().Bits())
	case reflect.Slice:
		return hashSet(v)
	case reflect.Map:
		return hashMap(v)
	case reflect.Struct:
		return hashStruct(v)
	default:
		panic(fmt.Sprintf("fingerprint: no format for %s", v.Type()))
	}
}

// dereference follows pointers and interfaces; a nil pointer stands for the zero value.
func dereference(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() && v.Kind() == reflect.Pointer {
			v = reflect.Zero(v.Type().Elem())
			continue
		}
		v = v.Elem()
	}
	return v
}

func hashStruct(v reflect.Value) uint64 {
	h := hashBytes([]byte(v.Type().Name()))
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		tag := field.Tag.Get("hash")
		if !field.IsExported() || tag == "ignore" || value.IsZero() {
			continue
		}
		if tag == "string" {
			value = reflect.ValueOf(value.Interface().(fmt.Stringer).String())
		}
		h = finish(h ^ pair(hashBytes([]byte(field.Name)), hashValue(value)))
	}
	return h
}

func hashMap(v reflect.Value) uint64 {
	var h uint64
	for entries := v.MapRange(); entries.Next(); { // exclusive or does not depend on the order
		h ^= pair(hashValue(entries.Key()), hashValue(entries.Value()))
	}
	return finish(h)
}

func hashSet(v reflect.Value) uint64 {
	var h uint64
	for i := range v.Len() {
		h ^= hashValue(v.Index(i))
	}
	return h
}

// hashTime uses the binary form of a time. Its only failure is a zone offset that is no whole
// number of minutes in range, which no timestamp read from an API object has.
func hashTime(t time.Time) uint64 {
	encoded, err := t.MarshalBinary()
	if err != nil {
		panic(fmt.Sprintf("fingerprint: %v", err))
	}
	return hashBytes(encoded)
}

func hashInteger(n uint64, bits int) uint64 {
	return hashBytes(binary.LittleEndian.AppendUint64(nil, n)[:bits/8])
}

func pair(a, b uint64) uint64 {
	return hashBytes(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, a), b))
}

func finish(h uint64) uint64 {
	return hashBytes(binary.LittleEndian.AppendUint64(nil, h))
}

func hashBytes(b []byte) uint64 {
	h := fnv.New64()
	_, _ = h.Write(b) // a hash.Hash never returns an error
	return h.Sum64()
}
