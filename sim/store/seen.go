package store

import (
	"encoding/json"
	"hash/maphash"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Rules of custom objects take a millisecond to ask, and most writes are of a status that
// differs from one that has passed in times, names and messages alone, which no rule looks
// at, nor at amounts. What passed once is remembered by the caller that runs one store after the other:
// the rules are the same in each.
//
// Only statuses are remembered, of objects whose spec stays: no rule of ours compares the
// two, nor a status with the one before.

// mostSeen is how many digests are kept.
const mostSeen = 1 << 16

// Passed are digests of statuses that have passed the rules. Stores may share them, also those
// that are used at the same time. The zero value is none.
type Passed struct {
	lock    sync.Mutex
	digests map[uint64]bool
}

// seen reports whether such a status has passed the rules.
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

// seed is another one in each process; a digest is only ever compared.
var seed = maphash.MakeSeed()

// digestOf the JSON of a status, without what no rule looks at.
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

// free are fields that may hold any text, up to a length.
var free = map[string]bool{"message": true, "nodeName": true, "providerID": true, "imageID": true}

// freely is how long such a text may be.
const freely = 1 << 15

// amounts are fields that hold only quantities by their names. These have been read and
// written again, so that their form is right.
var amounts = map[string]bool{"resources": true, "capacity": true, "allocatable": true}

// writeBare writes JSON without the values of free fields, without times and amounts.
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

// closing is where the string that begins somewhere ends.
func closing(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at
}

// likeTime is the form of times in JSON; 0 stands for any digit.
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
