// Package redact makes snapshots that may be shown to others: names are replaced, and the plan stays the same. It must
// not decide, read or write files.
//
// What is not known to be public is replaced, so that a new field of snapshots is replaced until it is listed here.
package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tenon/core/order"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/core/wait"
)

// Snapshot is s with other names. Equal texts stay equal and keep their order, since plans depend on both. Numbers, times,
// machines, zones and the labels that describe them stay.
//
// Names are numbered in their order, which also keeps the order of labels beside those that stay. A hash could be found out by hashing likely names.
func Snapshot(s *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	tree, err := decoded(s)
	if err != nil {
		return nil, err
	}
	r := &redactor{facts: factsOf(s), numeric: map[string]bool{}, names: map[string]string{}, keys: map[string]string{}}
	r.walk("", tree) // collects
	r.number()
	out, err := encoded(r.walk("", tree))
	if err != nil {
		return nil, err
	}
	keepStock(out, s)
	return out, nil
}

type document struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Snapshot any    `json:"snapshot"`
}

func decoded(s *snapshot.Snapshot) (document, error) {
	var text bytes.Buffer
	var d document
	if err := snapshot.Write(&text, s); err != nil {
		return d, err
	}
	decoder := json.NewDecoder(&text)
	decoder.UseNumber() // amounts of bytes are too large for a float
	if err := decoder.Decode(&d); err != nil {
		return d, fmt.Errorf("redact snapshot: %w", err)
	}
	return d, nil
}

func encoded(tree any) (*snapshot.Snapshot, error) {
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("redact snapshot: %w", err)
	}
	out, err := snapshot.Read(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("redact snapshot: %w", err)
	}
	return out, nil
}

// keepStock makes the stock of refused pods anew, which is told apart by the names of pools.
func keepStock(out, s *snapshot.Snapshot) {
	renamed := map[string]string{}
	if len(s.Waiting.Refused) > 0 {
		for i := range s.Pools {
			renamed[wait.Stock(s, &s.Pools[i])] = wait.Stock(out, &out.Pools[i])
		}
	}
	for i := range s.Waiting.Refused {
		if stock, found := renamed[s.Waiting.Refused[i].Stock]; found {
			out.Waiting.Refused[i].Stock = stock
		}
	}
}

// redactor replaces texts. The first walk collects them; number gives each its new name, which the second walk puts in.
type redactor struct {
	// facts are the labels whose values say what a machine is.
	facts map[string]bool
	// numeric are the labels whose values are compared as numbers.
	numeric map[string]bool
	names   map[string]string
	// keys are the new names of labels and resources. Those that stay are among them.
	keys  map[string]string
	ready bool
}

// number gives each text that was collected another one. The order of all texts remains, and that of keys beside those that
// stay.
func (r *redactor) number() {
	texts := order.Keys(r.names)
	for i, text := range texts {
		r.names[text] = numbered("x", i, len(texts))
	}
	keys := order.Keys(r.keys)
	kept := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !stays(key) })
	for i, key := range keys {
		if at, stays := slices.BinarySearch(kept, key); !stays {
			r.keys[key] = numbered(between(kept, at), i, len(keys))
		} else {
			r.keys[key] = key
		}
	}
	r.ready = true
}

// numbered has as many digits as all numbers below the end need.
func numbered(prefix string, n, end int) string {
	return fmt.Sprintf("%s%0*d", prefix, len(strconv.Itoa(end)), n)
}

// between is how names begin that come after sorted[at-1] and before sorted[at], which begin with letters. A tilde comes after
// all that names of labels and resources have, and two hyphens come before all that follows in a longer one.
func between(sorted []string, at int) string {
	switch {
	case at == 0:
		return "0x"
	case at == len(sorted):
		return "~x"
	}
	low, high := sorted[at-1], sorted[at]
	for i := range low {
		if low[i] != high[i] {
			return low[:i+1] + "~"
		}
	}
	return low + "--"
}

// walk is a part of the document with other names. Its field is the name of the nearest object's field that it is in.
func (r *redactor) walk(field string, part any) any {
	switch part := part.(type) {
	case document:
		part.Snapshot = r.walk("", part.Snapshot)
		return part
	case string:
		return r.text(field, part)
	case []any:
		out := make([]any, len(part))
		for i, item := range part {
			if key, isText := item.(string); isText && listsLabels[field] {
				out[i] = r.key(key)
			} else {
				out[i] = r.walk(field, item)
			}
		}
		return out
	case map[string]any:
		return r.object(field, part)
	}
	return part
}

// Fields whose names are those of lower case, since reasons have none of their own in documents.
var (
	listsLabels = map[string]bool{"labels": true, "ignored": true, "wellknown": true}
	mapsLabels  = map[string]bool{"labels": true, "annotations": true, "chosen": true}
	resources   = map[string]bool{"capacity": true, "allocatable": true, "overhead": true, "requests": true, "most": true}
	labelValues = map[string]bool{"value": true, "values": true, "in": true, "notin": true}
	// words have one of a few values that Kubernetes, a cloud or Tenon defines.
	words = map[string]bool{
		"code": true, "effect": true, "operator": true, "protocol": true, "preferences": true, "policy": true, "phase": true, "underway": true,
		"expanders": true, "instancetype": true, "zone": true, "capacitytype": true,
	}
)

// meanings are the values of a field that are no names.
var meanings = map[string][]string{"ip": {"0.0.0.0", "::"}, "safetoevict": {"true", "false"}}

func (r *redactor) object(field string, part map[string]any) any {
	out := make(map[string]any, len(part))
	key, hasKey := part["key"].(string)
	_, isAmount := part["value"].(json.Number)
	if hasKey {
		r.findNumeric(key, part)
	}
	for name, value := range part {
		lower := strings.ToLower(name)
		switch {
		case mapsLabels[field]:
			out[r.key(name)] = r.value(name, value)
		case resources[field]:
			out[r.key(name)] = value
		case hasKey && lower == "key":
			out[name] = r.key(key)
		case hasKey && labelValues[lower]:
			out[name] = r.value(key, value)
		case isAmount && lower == "name":
			out[name] = r.key(value.(string))
		case lower == "driver": // has a limit by its name
			out[name] = r.key(value.(string))
		case field == "types" && lower == "name": // of a machine
			out[name] = value
		default:
			out[name] = r.walk(lower, value)
		}
	}
	return out
}

// findNumeric notes a label that a requirement or a toleration compares as a number.
func (r *redactor) findNumeric(key string, part map[string]any) {
	_, low := part["gte"]
	_, high := part["lte"]
	if operator := part["operator"]; low || high || operator == "Lt" || operator == "Gt" {
		r.numeric[key] = true
	}
}

// text replaces the texts of a field that is no label. In NAMESPACE/NAME and KIND/NAME each part is replaced.
func (r *redactor) text(field, text string) string {
	if words[field] || slices.Contains(meanings[field], text) || isTime(text) {
		return text
	}
	if group, found := snapshot.NodeGroup(text); found {
		return snapshot.GroupPool(r.name(group))
	}
	parts := strings.Split(text, "/")
	for i, part := range parts {
		if i > 0 || len(parts) == 1 || !kinds[part] {
			parts[i] = r.name(part)
		}
	}
	return strings.Join(parts, "/")
}

var kinds = map[string]bool{
	"Deployment": true, "ReplicaSet": true, "StatefulSet": true, "DaemonSet": true, "Job": true, "CronJob": true, "ReplicationController": true, "Node": true,
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}

// name is the new name of a text. The empty one has no other.
func (r *redactor) name(text string) string {
	if text == "" {
		return ""
	}
	if !r.ready {
		r.names[text] = ""
	}
	return r.names[text]
}

// key is the new name of a label, an annotation, a taint or a resource.
func (r *redactor) key(key string) string {
	if key == "" {
		return ""
	}
	if !r.ready {
		r.keys[key] = ""
	}
	return r.keys[key]
}

// stays reports whether a name of a label or a resource says nothing of a cluster. Those of Kubernetes, Karpenter, Tenon and the
// cloud do not, nor do resources of makers of devices.
func stays(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	if found {
		return domains[domain] || makers[domain]
	}
	return strings.HasPrefix(key, "hugepages-") || slices.Contains([]string{"cpu", "memory", "ephemeral-storage", "pods", "nodes"}, key)
}

// value is the new value of a label, or a list of them. Numbers remain where a rule compares them.
func (r *redactor) value(key string, value any) any {
	if r.facts[key] {
		return value
	}
	switch value := value.(type) {
	case string:
		if _, err := strconv.ParseInt(value, 10, 64); err == nil && r.numeric[key] {
			return value
		}
		return r.text("", value)
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = r.value(key, value[i])
		}
		return out
	}
	return r.walk("", value)
}

// domains have labels whose keys say nothing of a cluster. A role of nodes can be named for anything, so its domain is not
// among them.
var domains = map[string]bool{
	"kubernetes.io": true, "node.kubernetes.io": true, "topology.kubernetes.io": true, "app.kubernetes.io": true,
	"karpenter.sh": true, "karpenter.k8s.aws": true, "topology.k8s.aws": true, "eks.amazonaws.com": true, "tenon.sh": true,
}

var makers = map[string]bool{
	"nvidia.com": true, "amd.com": true, "intel.com": true, "gpu.intel.com": true, "habana.ai": true, "aws.amazon.com": true, "vpc.amazonaws.com": true,
}

// factsOf are the labels that describe machines and places: the well-known ones, but for those that name something of the
// cluster or of the account.
func factsOf(s *snapshot.Snapshot) map[string]bool {
	facts := map[string]bool{}
	keys := append(s.Settings.WellKnown.Sorted(), requirement.KeyZone, requirement.KeyRegion, requirement.KeyInstanceType,
		requirement.KeyArch, requirement.KeyOS, requirement.KeyWindowsBuild, requirement.KeyCapacityType)
	for _, key := range keys {
		domain, name, _ := strings.Cut(key, "/")
		private := slices.ContainsFunc([]string{"hostname", "nodepool", "nodeclass", "group", "reservation-id"}, func(word string) bool { return strings.Contains(name, word) })
		if domains[domain] && !private {
			facts[key] = true
		}
	}
	return facts
}
