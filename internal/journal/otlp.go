package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"tenon/core/order"
)

// The OpenTelemetry protocol's JSON encoding of logs, as far as the journal needs it. A line of it is both a
// line of a file that the collector's otlpjsonfile receiver reads, and the body of a request to /v1/logs.
type (
	otlpLogs struct {
		ResourceLogs []otlpResourceLogs `json:"resourceLogs"`
	}
	otlpResourceLogs struct {
		Resource  otlpResource    `json:"resource"`
		ScopeLogs []otlpScopeLogs `json:"scopeLogs"`
	}
	otlpResource struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScopeLogs struct {
		Scope      otlpScope    `json:"scope"`
		LogRecords []otlpRecord `json:"logRecords"`
	}
	otlpScope struct {
		Name string `json:"name"`
	}
	otlpRecord struct {
		Time       string          `json:"timeUnixNano"`
		Severity   int             `json:"severityNumber"`
		Text       string          `json:"severityText"`
		Event      string          `json:"eventName"`
		Body       otlpValue       `json:"body"`
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		String *string     `json:"stringValue,omitempty"`
		Bool   *bool       `json:"boolValue,omitempty"`
		Int    *string     `json:"intValue,omitempty"`
		Double *float64    `json:"doubleValue,omitempty"`
		Array  *otlpArray  `json:"arrayValue,omitempty"`
		Map    *otlpKeyMap `json:"kvlistValue,omitempty"`
	}
	otlpArray struct {
		Values []otlpValue `json:"values"`
	}
	otlpKeyMap struct {
		Values []otlpAttribute `json:"values"`
	}
)

// Names of the records, and severities as the protocol numbers them.
const (
	decisionEvent     = "tenon.decision"
	outcomeEvent      = "tenon.outcome"
	interventionEvent = "tenon.intervention"

	otlpInfo, otlpWarn, otlpError = 9, 13, 17
)

var severityTexts = map[int]string{otlpInfo: "INFO", otlpWarn: "WARN", otlpError: "ERROR"}

// ExportLogs writes decisions, each with its outcomes, as OTLP logs: one line of JSON for each. Attributes
// are the fields of the journal's lines. Of decisions in later, only the outcomes are written.
func ExportLogs(w io.Writer, entries, later []Entry) error {
	encoder := json.NewEncoder(w)
	write := func(records []otlpRecord) error {
		if len(records) == 0 {
			return nil
		}
		if err := encoder.Encode(logsOf(records)); err != nil {
			return fmt.Errorf("write logs: %w", err)
		}
		return nil
	}
	for i := range entries {
		if err := write(append([]otlpRecord{entries[i].decisionRecord()}, entries[i].outcomeRecords()...)); err != nil {
			return err
		}
	}
	for i := range later {
		if err := write(later[i].outcomeRecords()); err != nil {
			return err
		}
	}
	return nil
}

func logsOf(records []otlpRecord) otlpLogs {
	return otlpLogs{[]otlpResourceLogs{{
		Resource:  otlpResource{[]otlpAttribute{{"service.name", textValue("tenon")}}},
		ScopeLogs: []otlpScopeLogs{{otlpScope{"tenon/journal"}, records}},
	}}}
}

// decisionRecord is a warning if pods find no place.
func (e *Entry) decisionRecord() otlpRecord {
	if e.Intervention != nil {
		return record(e.At, otlpInfo, interventionEvent, e.Head(), e.ID, e.Intervention)
	}
	severity := otlpInfo
	if len(e.Unplaced) > 0 {
		severity = otlpWarn
	}
	return record(e.At, severity, decisionEvent, e.Head(), e.ID, e.Decision)
}

func (e *Entry) outcomeRecords() []otlpRecord {
	var out []otlpRecord
	for _, o := range e.Outcomes {
		severity := otlpInfo
		if o.Result == Failed {
			severity = otlpError
		}
		o.Decision = 0 // the record has the number anyway
		out = append(out, record(o.At, severity, outcomeEvent, e.outcome(o), e.ID, o))
	}
	return out
}

func record(at time.Time, severity int, event, text string, number int64, fields any) otlpRecord {
	digits := strconv.FormatInt(number, 10)
	return otlpRecord{
		Time: strconv.FormatInt(at.UnixNano(), 10), Severity: severity, Text: severityTexts[severity], Event: event, Body: textValue(text),
		Attributes: append([]otlpAttribute{{"id", otlpValue{Int: &digits}}}, attributesOf(fields)...),
	}
}

// attributesOf are the JSON fields of a struct.
func attributesOf(fields any) []otlpAttribute {
	text, err := json.Marshal(fields)
	if err != nil { // lines of the journal can always be written
		panic(fmt.Sprintf("write a record: %s", err))
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // 64 bits are more than a float holds
	var all map[string]any
	if err := decoder.Decode(&all); err != nil {
		panic(fmt.Sprintf("write a record: %s", err))
	}
	return attributes(all)
}

func attributes(all map[string]any) []otlpAttribute {
	var out []otlpAttribute
	for _, key := range order.Keys(all) {
		out = append(out, otlpAttribute{key, valueOf(all[key])})
	}
	return out
}

func valueOf(v any) otlpValue {
	switch v := v.(type) {
	case string:
		return textValue(v)
	case bool:
		return otlpValue{Bool: &v}
	case json.Number:
		if _, err := v.Int64(); err == nil {
			digits := v.String()
			return otlpValue{Int: &digits}
		}
		if number, err := v.Float64(); err == nil {
			return otlpValue{Double: &number}
		}
		return textValue(v.String())
	case []any:
		list := &otlpArray{Values: make([]otlpValue, 0, len(v))}
		for _, each := range v {
			list.Values = append(list.Values, valueOf(each))
		}
		return otlpValue{Array: list}
	case map[string]any:
		return otlpValue{Map: &otlpKeyMap{Values: attributes(v)}}
	default:
		return otlpValue{} // null
	}
}

func textValue(s string) otlpValue { return otlpValue{String: &s} }
