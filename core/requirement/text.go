package requirement

import "strconv"

// listed is how many values a text shows before it counts the rest.
const listed = 5

// String is the text that users see in events and reasons, such as
// "zone In [a b] minValues 2" or "cpu Exists >=4 <=16". Long lists are cut: it does not
// identify a requirement.
func (r Requirement) String() string { return string(r.appendText(nil)) }

func (r *Requirement) appendText(text []byte) []byte {
	text = append(text, r.key...)
	text = append(text, ' ')
	text = append(text, r.Operator()...)
	if len(r.values) > 0 {
		text = append(text, ' ', '[')
		for i, value := range r.values[:min(listed, len(r.values))] {
			if i > 0 {
				text = append(text, ' ')
			}
			text = append(text, value...)
		}
		if rest := len(r.values) - listed; rest > 0 {
			text = append(text, " and "...)
			text = strconv.AppendInt(text, int64(rest), 10)
			text = append(text, " others"...)
		}
		text = append(text, ']')
	}
	text = r.bounds.low.appendText(text, " >=")
	text = r.bounds.high.appendText(text, " <=")
	return limit{int64(r.minValues), r.minValues > 0}.appendText(text, " minValues ")
}

func (l limit) appendText(text []byte, label string) []byte {
	if !l.set {
		return text
	}
	return strconv.AppendInt(append(text, label...), l.n, 10)
}
