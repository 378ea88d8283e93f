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

// ledgerReading is what the controller says was spent, and the times between which it read its machines for that.
type ledgerReading struct {
	spent         float64
	after, before time.Time
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

// spent is what the controller says all of its machines have cost.
func (l ledger) spent(t *testing.T) float64 {
	t.Helper()
	sum := 0.0
	for line := range strings.Lines(fetched(t, l.metrics)) {
		if !strings.HasPrefix(line, "karpenter_cost_spent_total{") {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		sum += value
	}
	return sum
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

// next waits until the counter has grown.
func (l ledger) next(t *testing.T) ledgerReading {
	t.Helper()
	first := l.spent(t)
	var out ledgerReading
	until(t, "the controller counts what was spent", func() bool {
		asked := time.Now()
		now := l.spent(t)
		if now == first {
			out.after = asked
			return false
		}
		out.spent, out.before = now, time.Now()
		return !out.after.IsZero()
	})
	return out
}

// ledgerTolerance is how far what was spent may be from price times hours.
const ledgerTolerance = 0.001

// check checks what the controller says was spent between two of its readings against the prices of the emulated AWS, over
// a time in which the same machines run. When a reading was made is known only as far as the counter is asked for.
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
	spent := end.spent - begin.spent
	least, most := price*end.after.Sub(begin.before).Hours(), price*end.before.Sub(begin.after).Hours()
	middle := (least + most) / 2
	t.Logf("machines%s at %.4f an hour: %.7f was spent, price times hours is %.7f to %.7f, %.3f %% from its middle", machines, price, spent, least, most, 100*math.Abs(spent-middle)/middle)
	if spent < least*(1-ledgerTolerance) || spent > most*(1+ledgerTolerance) {
		t.Errorf("%.7f was spent, and price times hours is %.7f to %.7f", spent, least, most)
	}
	return true
}
