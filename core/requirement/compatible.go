package requirement

// Compatible reports whether a node that s describes can satisfy incoming.
//
// Keys that s does not mention are missing from the node, so incoming must accept their absence, unless the
// key is in undefined. For new nodes well-known labels may be undefined; for existing nodes none may. Keys
// that both mention need a common value, or both must accept absence.
func (s Set) Compatible(incoming Set, undefined KeySet) bool {
	from := 0
	for i := range incoming.list {
		in := &incoming.list[i]
		at, found := s.search(in.key, from)
		from = at
		switch {
		case found && !compatible(&s.list[at], in):
			return false
		case !found && !satisfiableUndefined(in, undefined):
			return false
		}
	}
	return true
}

func satisfiableUndefined(in *Requirement, undefined KeySet) bool {
	return in.absent || !in.Impossible() && undefined.Contains(in.key)
}

// FindMismatch says why incoming is not Compatible with s, and false when it is. Of
// several reasons it gives a key that s does not define before one that it defines
// otherwise, and the first key of either kind. It does not allocate; the text is made
// when it is asked for.
func (s Set) FindMismatch(incoming Set, undefined KeySet) (Mismatch, bool) {
	conflict, conflicts := Mismatch{}, false
	from := 0
	for i := range incoming.list {
		in := &incoming.list[i]
		at, found := s.search(in.key, from)
		from = at
		switch {
		case found:
			if !conflicts && !compatible(&s.list[at], in) {
				conflict, conflicts = Mismatch{code: Conflict, incoming: in, existing: &s.list[at]}, true
			}
		case in.Impossible():
			if !conflicts {
				conflict, conflicts = Mismatch{code: Contradiction, incoming: in}, true
			}
		case !satisfiableUndefined(in, undefined):
			return Mismatch{code: Undefined, incoming: in, defined: s, known: undefined}, true
		}
	}
	return conflict, conflicts
}

// Intersects reports whether s and o agree on every key that both are about.
func (s Set) Intersects(o Set) bool {
	if len(s.list) > len(o.list) {
		s, o = o, s
	}
	from := 0
	for i := range s.list {
		at, found := o.search(s.list[i].key, from)
		from = at
		if found && !compatible(&s.list[i], &o.list[at]) {
			return false
		}
	}
	return true
}

// FindConflict says on which key, the first, s and incoming do not agree, and false when
// they Intersect. It does not allocate.
func (s Set) FindConflict(incoming Set) (Mismatch, bool) {
	from := 0
	for i := range incoming.list {
		in := &incoming.list[i]
		at, found := s.search(in.key, from)
		from = at
		if found && !compatible(&s.list[at], in) {
			return Mismatch{code: Conflict, incoming: in, existing: &s.list[at]}, true
		}
	}
	return Mismatch{}, false
}
