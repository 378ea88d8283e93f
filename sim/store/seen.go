package store

import (
	"encoding/json"
	"hash/maphash"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Evaluating the rules of a custom object takes a millisecond. Most writes change only the status, and the new status
// differs from an accepted one only in times, names, messages and amounts, which no rule reads. So the store remembers
// the statuses that the rules have accepted. A caller that runs one store after another keeps them, because every
// store has the same rules.
//
// This is done only for a status whose object keeps its spec: no rule of ours compares the status with the spec or with
// the earlier status.

// mostSeen is the largest number of digests that are kept.
const mostSeen = 1 << 16

// Passed holds digests of statuses that have passed the rules. Stores may share it, also when they are used
// at the same time. The zero value is empty.
type Passed struct {
	lock    sync.Mutex
	digests map[uint64]bool
}

// seen reports whether a status that the rules cannot tell from the object's has passed them.
func (k *Kind) seen(object client.Object) bool {
	digest, ok := k.digestOf(object)
	if !ok {
		return false
	}
	k.passed.lock.Lock()
	defer k.passed.lock.Unlock()
	return k.passed.digests[digest]
}

func (k *Kind) note(object client.Object) {
	digest, ok := k.digestOf(object)
	if !ok {
		return
	}
	k.passed.lock.Lock()
	defer k.passed.lock.Unlock()
	if k.passed.digests == nil || len(k.passed.digests) >= mostSeen {
		k.passed.digests = map[uint64]bool{}
	}
	k.passed.digests[digest] = true
}

// seed differs from process to process, which does no harm: digests are only compared with each other.
var seed = maphash.MakeSeed()

// digestOf returns the digest of the JSON of a status, without the parts that no rule reads.
func (k *Kind) digestOf(object client.Object) (uint64, bool) {
	f := reflect.ValueOf(object).Elem().FieldByName("Status")
	if !f.IsValid() {
		return 0, false
	}
	text, err := json.Marshal(f.Addr().Interface())
	if err != nil {
		return 0, false
	}
	var h maphash.Hash
	h.SetSeed(seed)
	writeKind(&h, k.GVK)
	writeBare(&h, text)
	return h.Sum64(), true
}

func writeKind(h *maphash.Hash, gvk schema.GroupVersionKind) {
	for _, part := range []string{gvk.Group, gvk.Version, gvk.Kind} {
		_, _ = h.WriteString(part) // a hash accepts every input
		_ = h.WriteByte(0)
	}
}

// free are the fields that may hold any text up to a length.
var free = map[string]bool{"message": true, "nodeName": true, "providerID": true, "imageID": true}

// freely is the largest length of such a text, with its quotation marks.
const freely = 1 << 15

// amounts are the fields that hold quantities by resource name. The quantities have been decoded and
// encoded again, so their form is valid.
var amounts = map[string]bool{"resources": true, "capacity": true, "allocatable": true}

// writeBare hashes JSON without the values of free fields, times and amounts.
func writeBare(h *maphash.Hash, text []byte) {
	key, from, inside := "", 0, false
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '}':
			inside = false
			continue
		case '"':
		default:
			continue
		}
		end := closing(text, at)
		value := text[at : end+1]
		switch {
		case end+1 < len(text) && text[end+1] == ':':
			key = string(value[1 : len(value)-1])
			inside = inside || amounts[key] && text[end+2] == '{'
		case inside, free[key] && len(value) <= freely, isTime(value):
			_, _ = h.Write(text[from : at+1]) // a hash accepts every input
			from = end
		}
		at = end
	}
	_, _ = h.Write(text[from:])
}

// closing returns the position of the quotation mark that ends the string which begins at a position.
func closing(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at
}

// likeTime is the form of a time in JSON, where 0 stands for any digit.
const likeTime = `"0000-00-00T00:00:00Z"`

func isTime(text []byte) bool {
	if len(text) != len(likeTime) {
		return false
	}
	for i, c := range text {
		if digit := c >= '0' && c <= '9'; likeTime[i] == '0' && !digit || likeTime[i] != '0' && likeTime[i] != c {
			return false
		}
	}
	return true
}
