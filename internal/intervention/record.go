package intervention

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// Record is the last change of an object by hand.
type Record struct {
	At   time.Time
	By   string
	Verb Verb
}

// annotation is the record as the object has it.
func (r Record) annotation() string {
	return fmt.Sprintf("%s %s: %s", r.At.UTC().Format(time.RFC3339), r.By, r.Verb)
}

// String is the record in a few words.
func (r Record) String() string {
	return fmt.Sprintf("%s, by %s at %s", r.Verb, r.By, r.At.UTC().Format(time.RFC3339))
}

// verbs are all changes that there are.
var verbs = []Verb{Pin, Unpin, Cordon, Uncordon, Remove, Pause, Resume}

// longestUser bounds the name of a user: a longer one is not believed.
const longestUser = 512

// RecordOf reads the record of an object. An annotation that Do would not have written counts as none: every user who may
// change the object can write it, and what it says is shown to others.
func RecordOf(object metav1.Object) (Record, bool) {
	when, rest, found := strings.Cut(object.GetAnnotations()[karpenterv1.AnnotationChangedByHand], " ")
	at, err := time.Parse(time.RFC3339, when)
	end := strings.LastIndex(rest, ": ")
	if !found || err != nil || end <= 0 || end > longestUser {
		return Record{}, false
	}
	r := Record{At: at.UTC(), By: rest[:end], Verb: Verb(rest[end+len(": "):])}
	printable := !strings.ContainsFunc(r.By, func(c rune) bool { return !unicode.IsPrint(c) })
	return r, printable && slices.Contains(verbs, r.Verb)
}
