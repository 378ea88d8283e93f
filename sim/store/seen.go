package store

import (
	"encoding/json"
	"hash/maphash"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Rules of custom objects take a millisecond to ask. Most changes of a status are of times
// alone, which no rule looks at: what has passed once, passes with other times.

// mostSeen is how many digests are kept.
const mostSeen = 1 << 16

// seen reports whether the same spec and status passed the rules, at whatever time.
func (k *Kind) seen(object client.Object) bool {
	digest, ok := digestOf(object)
	return ok && k.valid[digest]
}

func (k *Kind) note(object client.Object) {
	if k.valid == nil || len(k.valid) >= mostSeen {
		k.valid = map[uint64]bool{}
	}
	if digest, ok := digestOf(object); ok {
		k.valid[digest] = true
	}
}

// seed is another one in each process; a digest is only ever compared.
var seed = maphash.MakeSeed()

// digestOf the JSON of spec and status, with every time as the same.
func digestOf(object client.Object) (uint64, bool) {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, name := range []string{"Spec", "Status"} {
		f := reflect.ValueOf(object).Elem().FieldByName(name)
		if !f.IsValid() {
			continue
		}
		text, err := json.Marshal(f.Addr().Interface())
		if err != nil {
			return 0, false
		}
		for len(text) > 0 {
			at := timeIn(text)
			_, _ = h.Write(text[:at]) // a hash takes whatever it is given
			if at == len(text) {
				break
			}
			text = text[at+len(likeTime):]
		}
	}
	return h.Sum64(), true
}

// likeTime is the form of times in JSON; 0 stands for any digit.
const likeTime = `"0000-00-00T00:00:00Z"`

// timeIn finds the next time in a text, or its end.
func timeIn(text []byte) int {
	for i := 0; i+len(likeTime) <= len(text); i++ {
		if text[i] == '"' && isTime(text[i:i+len(likeTime)]) {
			return i
		}
	}
	return len(text)
}

func isTime(text []byte) bool {
	for i, c := range text {
		if digit := c >= '0' && c <= '9'; likeTime[i] == '0' && !digit || likeTime[i] != '0' && likeTime[i] != c {
			return false
		}
	}
	return true
}
