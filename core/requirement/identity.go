package requirement

import "encoding/binary"

// Key identifies s among all sets, as a key of maps and for total orders: two sets are
// Equal exactly when their keys are the same. It is not for people.
func (s Set) Key() string {
	var id []byte
	for i := range s.list {
		id = s.list[i].appendIdentity(id)
	}
	return string(id)
}

// appendIdentity writes every part of r so that no two requirements, nor lists of them,
// can write the same: texts have their length in front.
func (r *Requirement) appendIdentity(id []byte) []byte {
	id = appendText(id, r.key)
	var flags byte
	for i, flag := range []bool{r.complement, r.absent, r.bounds.low.set, r.bounds.high.set} {
		if flag {
			flags |= 1 << i
		}
	}
	id = append(id, flags)
	id = binary.AppendVarint(id, r.bounds.low.n)
	id = binary.AppendVarint(id, r.bounds.high.n)
	id = binary.AppendVarint(id, int64(r.minValues))
	id = binary.AppendUvarint(id, uint64(len(r.values)))
	for _, value := range r.values {
		id = appendText(id, value)
	}
	return id
}

func appendText(id []byte, text string) []byte {
	return append(binary.AppendUvarint(id, uint64(len(text))), text...)
}
