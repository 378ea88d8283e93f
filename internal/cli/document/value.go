package document

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// The functions below append a value as JSON on one line, which is YAML too.

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return append(b, quoted(s)...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// quoted is for the few strings that need escapes. What cannot be printed is escaped too, since
// YAML does not admit all of it as it is. Kubernetes has no such names; files may.
func quoted(s string) []byte {
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff: // YAML and JSON escape these differently
			b = utf8.AppendRune(b, utf8.RuneError)
		default:
			b = fmt.Appendf(b, "\\u%04x", r)
		}
	}
	return append(b, '"')
}

// object appends fields one after the other.
type object struct{ b []byte }

func (o *object) key(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ", "...)
	}
	o.b = appendString(o.b, name)
	o.b = append(o.b, ": "...)
}

func (o *object) text(name, value string) {
	o.key(name)
	o.b = appendString(o.b, value)
}

// appendResources always has cpu, memory and pods, and others that are not zero.
func appendResources(b []byte, r model.Resources) []byte {
	values := map[string]int64{model.CPU: r.CPU, model.Memory: r.Memory, model.Pods: r.Pods}
	for _, a := range r.Amounts() {
		values[a.Name] = a.Value
	}
	o := object{append(b, '{')}
	for _, name := range order.Keys(values) {
		o.text(name, reason.Quantity(name, values[name]))
	}
	return append(o.b, '}')
}

func appendLabels(b []byte, labels map[string]string) []byte {
	o := object{append(b, '{')}
	for _, key := range order.Keys(labels) {
		o.text(key, labels[key])
	}
	return append(o.b, '}')
}

func appendTaints(b []byte, taints []model.Taint) []byte {
	b = append(b, '[')
	for i, t := range taints {
		if i > 0 {
			b = append(b, ", "...)
		}
		o := object{append(b, '{')}
		o.text("key", t.Key)
		if t.Value != "" {
			o.text("value", t.Value)
		}
		o.text("effect", string(t.Effect))
		b = append(o.b, '}')
	}
	return append(b, ']')
}

func appendOffer(b []byte, offer plan.Offer) []byte {
	o := object{append(b, '{')}
	o.text("instanceType", offer.InstanceType)
	o.text("zone", offer.Zone)
	o.text("capacityType", offer.CapacityType)
	o.key("pricePerHour")
	return append(append(o.b, offer.Price.String()...), '}')
}

func (p Planned) appendPods(b []byte, pods []snapshot.PodIndex) []byte {
	b = append(b, '[')
	for i, pod := range pods {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendString(b, p.Snapshot.Pods[pod].Key())
	}
	return append(b, ']')
}

// appendReasons gives each pool's message. The smallest change that would help is told with
// the pool in which it would, and with every pool if there is none.
func appendReasons(b []byte, v *reason.Verdict) []byte {
	b = append(b, '[')
	add := func(pool, message string) {
		if b[len(b)-1] != '[' {
			b = append(b, ", "...)
		}
		o := object{append(b, '{')}
		o.text("nodePool", pool)
		o.text("message", message)
		b = append(o.b, '}')
	}
	if v.General.Code != reason.None {
		add("", v.GeneralText())
	}
	for i := range v.Pools {
		pool := &v.Pools[i]
		message := pool.Text()
		if remedy := v.RemedyText(); remedy != "" && (v.Remedy == nil || v.Remedy.Pool == pool.Pool) {
			message += "; " + remedy
		}
		add(pool.Pool, message)
	}
	return append(b, ']')
}
