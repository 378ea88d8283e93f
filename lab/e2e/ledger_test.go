package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ledgerReading is what the controller says was spent, and until when.
type ledgerReading struct {
	spent float64
	until time.Time
}

// ledger follows the controller's counter of what was spent.
type ledger struct{ metrics, aws string }

// ledgerOf finds the ports of the controller's metrics and of the emulated AWS.
func ledgerOf(t *testing.T, status statusText) ledger {
	t.Helper()
	var out ledger
	for _, c := range status.Components {
		for _, p := range c.Ports {
			address := fmt.Sprintf("http://127.0.0.1:%d", p.Number)
			switch {
			case p.Name == "metrics" && c.Name == "tenon":
				out.metrics = address + "/metrics"
			case c.Name == "aws" && out.aws == "":
				out.aws = address + "/lab/instances"
			}
		}
	}
	if out.metrics == "" || out.aws == "" {
		t.Fatalf("no port of the controller's metrics, or of the emulated AWS: %+v", status.Components)
	}
	return out
}

func fetched(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// reading is what the controller says all of its machines have cost.
func (l ledger) reading(t *testing.T) ledgerReading {
	t.Helper()
	var out ledgerReading
	for line := range strings.Lines(fetched(t, l.metrics)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		spent, stamp := strings.HasPrefix(name, "karpenter_cost_spent_total{"), name == "karpenter_cost_spent_timestamp_seconds"
		if !spent && !stamp {
			continue
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if stamp {
			out.until = time.UnixMilli(int64(math.Round(value * 1000)))
		} else {
			out.spent += value
		}
	}
	return out
}

// hourly is what the emulated AWS asks for an hour of all machines that run, and which those are.
func (l ledger) hourly(t *testing.T) (price float64, machines string) {
	t.Helper()
	var list []struct{ ID, State, Hourly string }
	if err := json.Unmarshal([]byte(fetched(t, l.aws)), &list); err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		if i.State != "running" {
			if i.State != "terminated" {
				machines += " " + i.ID + " " + i.State
			}
			continue
		}
		value, err := strconv.ParseFloat(i.Hourly, 64)
		if err != nil {
			t.Fatalf("the price of %s: %v", i.ID, err)
		}
		price += value
		machines += " " + i.ID
	}
	return price, machines
}

// next waits until the controller has counted once more, and the same is read twice: then it is not read while it counts.
func (l ledger) next(t *testing.T) ledgerReading {
	t.Helper()
	first := l.reading(t)
	last := first
	until(t, "the controller counts what was spent", func() bool {
		before := last
		last = l.reading(t)
		return last == before && last.until.After(first.until) && last.spent > first.spent
	})
	return last
}

// What was spent may be so far from price times hours; and a counter of whole millionths lacks less than one of them.
const (
	ledgerTolerance = 0.001
	ledgerUnit      = 1e-6
)

// check checks what the controller says was spent between two of its readings against the prices of the emulated AWS, over
// a time in which the same machines run.
func (l ledger) check(t *testing.T) {
	t.Helper()
	for range 5 {
		if l.checked(t) {
			return
		}
	}
	t.Error("the machines change all the time")
}

// checked reports false if other machines run than at its beginning.
func (l ledger) checked(t *testing.T) bool {
	t.Helper()
	price, machines := l.hourly(t)
	begin := l.next(t)
	l.next(t)
	end := l.next(t)
	if _, now := l.hourly(t); now != machines || price == 0 {
		return false
	}
	spent, want := end.spent-begin.spent, price*end.until.Sub(begin.until).Hours()
	off := math.Abs(spent - want)
	t.Logf("machines%s at %.4f an hour: %.7f was spent in %s, price times hours is %.7f, %.3f %% off", machines, price, spent, end.until.Sub(begin.until), want, 100*off/want)
	if off > want*ledgerTolerance+ledgerUnit {
		t.Errorf("%.7f was spent, and price times hours is %.7f", spent, want)
	}
	return true
}
