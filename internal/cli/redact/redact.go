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

	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/core/wait"
)

// Snapshot is s with other names. Equal texts stay equal and keep their order, since plans depend on both. Numbers, times,
// machines, zones and the labels that describe them stay.
//
// Names are numbered in their order. A hash could be found out by hashing likely names.
func Snapshot(s *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	tree, err := decoded(s)
	if err != nil {
		return nil, err
	}
	r := &redactor{facts: factsOf(s), numeric: map[string]bool{}, names: map[string]string{}, numbers: map[int64]int64{}}
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
	// numeric are the replaced labels whose values are compared as numbers.
	numeric map[string]bool
	names   map[string]string
	numbers map[int64]int64
	ready   bool
}

// number gives each text and each number that was collected another one, in their order.
func (r *redactor) number() {
	texts := make([]string, 0, len(r.names))
	for text := range r.names {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	width := len(strconv.Itoa(len(texts)))
	for i, text := range texts {
		r.names[text] = fmt.Sprintf("x%0*d", width, i)
	}
	values := make([]int64, 0, len(r.numbers))
	for value := range r.numbers {
		values = append(values, value)
	}
	slices.Sort(values)
	first := int64(1)
	for first <= int64(len(values)) {
		first *= 10
	}
	for i, value := range values {
		r.numbers[value] = first + int64(i)
	}
	r.ready = true
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
				out[i] = r.label(key)
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
	labelValues = map[string]bool{"value": true, "values": true, "in": true, "notin": true, "gte": true, "lte": true}
	// words have one of a few values that Kubernetes, a cloud or Tenon defines.
	words = map[string]bool{
		"code": true, "effect": true, "operator": true, "protocol": true, "preferences": true, "policy": true, "phase": true, "underway": true,
		"expanders": true, "instancetype": true, "zone": true, "capacitytype": true,
	}
)

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
			out[r.label(name)] = r.value(name, value)
		case resources[field]:
			out[r.resource(name)] = value
		case hasKey && lower == "key":
			out[name] = r.label(key)
		case hasKey && labelValues[lower]:
			out[name] = r.value(key, value)
		case isAmount && lower == "name":
			out[name] = r.resource(value.(string))
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
	if words[field] || field == "ip" && (text == "0.0.0.0" || text == "::") || isTime(text) {
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

// name is the new name of a text. Nothing and truth values have no other.
func (r *redactor) name(text string) string {
	if text == "" || text == "true" || text == "false" {
		return text
	}
	if !r.ready {
		r.names[text] = ""
	}
	return r.names[text]
}

// label is the new key of a label, an annotation or a taint. Those of Kubernetes, Karpenter, Tenon and the cloud stay.
func (r *redactor) label(key string) string {
	if domain, _, found := strings.Cut(key, "/"); found && domains[domain] {
		return key
	}
	return r.name(key)
}

// value is the new value of a label, or a list of them; bounds are numbers.
func (r *redactor) value(key string, value any) any {
	if r.facts[key] {
		return value
	}
	switch value := value.(type) {
	case string:
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && strconv.FormatInt(n, 10) == value && (!r.ready || r.numeric[key]) {
			if r.ready {
				return strconv.FormatInt(r.rank(n), 10)
			}
			r.rank(n)
		}
		return r.text("", value)
	case json.Number:
		if n, err := value.Int64(); err == nil {
			return r.rank(n)
		}
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = r.value(key, value[i])
		}
		if r.numeric[key] { // texts keep their order, and numbers are in the order of their texts
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return out
	}
	return r.walk("", value)
}

// rank is the number that stands for another.
func (r *redactor) rank(n int64) int64 {
	if !r.ready {
		r.numbers[n] = 0
	}
	return r.numbers[n]
}

// resource is the new name of a resource. Those of Kubernetes and of makers of devices stay.
func (r *redactor) resource(name string) string {
	domain, _, found := strings.Cut(name, "/")
	switch {
	case found && (domains[domain] || makers[domain]):
	case !found && (strings.HasPrefix(name, "hugepages-") || slices.Contains([]string{"cpu", "memory", "ephemeral-storage", "pods", "nodes"}, name)):
	default:
		return r.name(name)
	}
	return name
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
