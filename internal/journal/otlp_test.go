package journal_test

import (
	"bytes"
	"testing"
	"time"

	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	logsv1 "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"tenon/internal/journal"
)

// TestLogsAreOTLP reads the export with the protocol's own types, which refuse unknown fields: "OTLP/JSON"
// in the OpenTelemetry protocol's specification.
func TestLogsAreOTLP(t *testing.T) {
	t.Parallel()
	saved := 0.25
	entry := journal.Entry{ID: 7, Decision: journal.Decision{
		At: epoch, By: "provisioner", Woke: "a pod", TookMicros: 1500, Cost: &journal.Cost{New: 0.5},
		Unplaced: []journal.Unplaced{{Pods: 2, Names: []string{"shop/a", "shop/b"}, Why: "no pool"}}, Kept: map[string]int{"NotWorthIt": 3},
	}, Outcomes: []journal.Outcome{{At: epoch.Add(time.Second), Decision: 7, Action: journal.ActionLaunch, Result: journal.Failed, Why: "refused", Savings: &saved}}}
	told := journal.Entry{ID: 6, Outcomes: []journal.Outcome{{At: epoch, Action: journal.ActionDisrupt, Result: journal.Over}}}
	var out bytes.Buffer
	if err := journal.ExportLogs(&out, []journal.Entry{entry}, []journal.Entry{told, {ID: 5}}); err != nil {
		t.Fatal(err)
	}
	var records []*logsv1.LogRecord
	for line := range bytes.Lines(out.Bytes()) {
		var logs logsv1.LogsData
		if err := protojson.Unmarshal(line, &logs); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		records = append(records, logs.GetResourceLogs()[0].GetScopeLogs()[0].GetLogRecords()...)
	}
	if len(records) != 3 {
		t.Fatalf("%d records, want a decision and two outcomes", len(records))
	}
	for i, want := range []struct {
		event    string
		severity logsv1.SeverityNumber
		at       time.Time
		key      string
		value    *commonv1.AnyValue
	}{
		{"tenon.decision", logsv1.SeverityNumber_SEVERITY_NUMBER_WARN, epoch, "tookMicros", &commonv1.AnyValue{Value: &commonv1.AnyValue_IntValue{IntValue: 1500}}},
		{"tenon.outcome", logsv1.SeverityNumber_SEVERITY_NUMBER_ERROR, epoch.Add(time.Second), "savingsPerHour", &commonv1.AnyValue{Value: &commonv1.AnyValue_DoubleValue{DoubleValue: 0.25}}},
		{"tenon.outcome", logsv1.SeverityNumber_SEVERITY_NUMBER_INFO, epoch, "result", &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: "over"}}},
	} {
		got := records[i]
		if got.GetEventName() != want.event || got.GetSeverityNumber() != want.severity || got.GetTimeUnixNano() != uint64(want.at.UnixNano()) || got.GetBody().GetStringValue() == "" {
			t.Errorf("record %d: %v", i, got)
		}
		if value := attribute(got, want.key); value.String() != want.value.String() {
			t.Errorf("record %d: %s is %v, want %v", i, want.key, value, want.value)
		}
	}
	pods := attribute(records[0], "unplaced").GetArrayValue().GetValues()
	if len(pods) != 1 || len(pods[0].GetKvlistValue().GetValues()) != 3 {
		t.Errorf("pods without a place: %v", pods)
	}
	if got := attribute(records[0], "id").GetIntValue(); got != 7 {
		t.Errorf("the decision's number is %d", got)
	}
}

func attribute(r *logsv1.LogRecord, key string) *commonv1.AnyValue {
	for _, a := range r.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue()
		}
	}
	return nil
}
