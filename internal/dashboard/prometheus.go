package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// spans are the spans of time of which the page Cost shows the price from Prometheus, with the step between two samples.
var spans = map[string]struct{ length, step time.Duration }{
	"day": {24 * time.Hour, 5 * time.Minute}, "week": {7 * 24 * time.Hour, 30 * time.Minute}, "month": {30 * 24 * time.Hour, 2 * time.Hour},
}

// The queries for the price an hour of the fleet, and for its idle part.
const (
	priceQuery = "sum(max by (nodepool, capacity_type, part) (karpenter_cost_per_hour))"
	idleQuery  = `sum(max by (nodepool, capacity_type) (karpenter_cost_per_hour{part="idle"}))`
)

// Prometheus returns the samples of a query; the dashboard asks for the price over time.
type Prometheus func(ctx context.Context, query string, from, until time.Time, step time.Duration) (map[int64]float64, error)

// mostAnswer is how many bytes of an answer are read.
const mostAnswer = 8 << 20

// PrometheusAt asks a Prometheus server at an address.
func PrometheusAt(address string, client *http.Client) (Prometheus, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("%q is no address of a Prometheus server, such as http://prometheus.monitoring:9090", address)
	}
	return func(ctx context.Context, query string, from, until time.Time, step time.Duration) (map[int64]float64, error) {
		target := *base
		target.Path = strings.TrimSuffix(target.Path, "/") + "/api/v1/query_range"
		target.RawQuery = url.Values{"query": {query}, "start": {strconv.FormatInt(from.Unix(), 10)}, "end": {strconv.FormatInt(until.Unix(), 10)}, "step": {strconv.Itoa(int(step.Seconds()))}}.Encode()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
		if err != nil {
			return nil, fmt.Errorf("ask Prometheus: %w", err)
		}
		response, err := client.Do(request)
		if err != nil {
			return nil, fmt.Errorf("ask Prometheus: %w", err)
		}
		defer response.Body.Close()
		return samplesOf(io.LimitReader(response.Body, mostAnswer), response.StatusCode)
	}, nil
}

// samplesOf reads the answer of Prometheus to a query for a range.
func samplesOf(body io.Reader, status int) (map[int64]float64, error) {
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct{ Values [][2]any }
		}
	}
	if err := json.NewDecoder(body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("read the answer of Prometheus (status %d): %w", status, err)
	}
	if answer.Status != "success" {
		return nil, errors.New("Prometheus: " + answer.Error)
	}
	out := map[int64]float64{}
	for _, series := range answer.Data.Result {
		for _, pair := range series.Values {
			at, timed := pair[0].(float64)
			text, valued := pair[1].(string)
			value, err := strconv.ParseFloat(text, 64)
			if !timed || !valued || err != nil {
				return nil, fmt.Errorf("read the answer of Prometheus: %v is no sample", pair)
			}
			out[int64(at)] = value
		}
	}
	return out, nil
}

// asked keeps the last answer for each span, so that many open pages ask Prometheus once a minute.
type asked struct {
	mu      sync.Mutex
	answers map[string]priced
	at      map[string]time.Time
}

// priced is the price over a span of time.
type priced struct {
	Samples []sample `json:"samples"`
	Problem string   `json:"problem,omitempty"`
}

// askAgain is how old an answer may be.
const askAgain = time.Minute

// costHistory serves the price over a day, a week or a month by Prometheus.
func (d *Dashboard) costHistory(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("span")
	span, known := spans[name]
	if !known || d.options.Prometheus == nil {
		http.NotFound(w, r)
		return
	}
	now := d.options.Clock()
	own := &d.asked
	own.mu.Lock()
	defer own.mu.Unlock()
	if at, has := own.at[name]; has && now.Sub(at) < askAgain {
		answer(w, own.answers[name])
		return
	}
	if own.at == nil {
		own.answers, own.at = map[string]priced{}, map[string]time.Time{}
	}
	ctx, end := context.WithTimeout(r.Context(), patience)
	defer end()
	own.answers[name], own.at[name] = d.pricesOver(ctx, now, span.length, span.step), now
	answer(w, own.answers[name])
}

func (d *Dashboard) pricesOver(ctx context.Context, now time.Time, length, step time.Duration) priced {
	out := priced{Samples: []sample{}}
	from := now.Add(-length).Truncate(step)
	prices, err := d.options.Prometheus(ctx, priceQuery, from, now, step)
	if err != nil {
		return priced{out.Samples, err.Error()}
	}
	idle, err := d.options.Prometheus(ctx, idleQuery, from, now, step)
	if err != nil {
		return priced{out.Samples, err.Error()}
	}
	for at := from.Unix(); at <= now.Unix(); at += int64(step.Seconds()) {
		price, known := prices[at]
		if !known {
			continue
		}
		one := sample{At: at, Price: price}
		if part, known := idle[at]; known {
			one.Idle = &part
		}
		out.Samples = append(out.Samples, one)
	}
	return out
}
