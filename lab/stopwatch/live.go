package stopwatch

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/model"
	"tenon/internal/testing/workload"
	"tenon/lab/process"
	"tenon/lab/state"
	"tenon/sim/measure"
)

// LivePlan describes a live workload. Its cost is compared with that of "tenon plan".
type LivePlan struct {
	Plan
	Workload string
	Seed     uint64
	Scale    float64       // of the number of pods
	Share    float64       // of the pods, which remain after scaling down
	Quiet    time.Duration // how long nothing must change until the cluster counts as settled
	Longest  time.Duration // for each of the two phases
	Log      string        // file that gets the controller's log; empty for none
}

// LiveResult is the measured fleet.
type LiveResult struct {
	Workload string `json:"workload"`
	Seed     uint64 `json:"seed"`
	Up       Phase  `json:"up"`
	Down     Phase  `json:"down"`
}

// Phase is the result after the pods of the workload were made, or after it was scaled down.
type Phase struct {
	measure.Phase
	Landed  int `json:"landed"`
	Strayed int `json:"strayed"`
	// MovesLanded counts the moved pods that landed where the disruption had planned them, MovesStrayed the others.
	MovesLanded  int           `json:"movesLanded"`
	MovesStrayed int           `json:"movesStrayed"`
	Nominated    int           `json:"nominations"` // written nominations
	CPU          time.Duration `json:"controllerCPU"`
	Resident     int64         `json:"controllerResidentBytes"`
	// Calls are the controller's calls of the API server, by verb and kind; Called is their number.
	Calls  map[string]int `json:"calls"`
	Called int            `json:"called"`
}

// Live starts a lab, runs a workload in it, scales it down, and returns what each fleet costs.
func Live(ctx context.Context, plan LivePlan) (result LiveResult, err error) {
	deployments, err := workload.Deployments(plan.Workload, plan.Seed, plan.Scale)
	if err != nil {
		return result, err
	}
	result.Workload, result.Seed = plan.Workload, plan.Seed
	err = inLab(ctx, plan.Plan, func(r run) error {
		fleet := workload.Fleet(plan.Workload)
		for _, o := range fleet {
			if err := r.client.Create(ctx, o.DeepCopyObject().(client.Object)); err != nil {
				return fmt.Errorf("make %T %s: %w", o, o.GetName(), err)
			}
		}
		if err := r.poolsReady(ctx); err != nil {
			return err
		}
		prices, err := r.prices(ctx)
		if err != nil {
			return err
		}
		m := &measurement{run: r, Fleet: measure.NewFleet(prices), plan: plan, prices: prices, deployments: deployments, fleet: fleet}
		if m.seen, err = m.watching(ctx, &corev1.Pod{}, &karpenterv1.NodeClaim{}, &corev1.Node{}); err != nil {
			return err
		}
		defer m.keepLog()
		if result.Up, err = m.phase(ctx, 1); err != nil {
			return err
		}
		if plan.Share < 1 {
			result.Down, err = m.phase(ctx, plan.Share)
		}
		return err
	})
	return result, err
}

// keepLog copies the controller's log before the lab is removed.
func (m *measurement) keepLog() {
	if m.plan.Log == "" {
		return
	}
	record, _, err := m.Directory.Load()
	if err == nil {
		tenon, _ := record.Find("tenon")
		var text []byte
		if text, err = os.ReadFile(tenon.Log); err == nil {
			err = os.WriteFile(m.plan.Log, text, 0o600)
		}
	}
	if err != nil {
		m.run.plan.Say("the log is lost: %v", err)
	}
}

// measurement follows the workload's fleet through both phases.
type measurement struct {
	run
	*measure.Fleet
	plan        LivePlan
	prices      measure.Prices
	deployments []*appsv1.Deployment
	fleet       []client.Object
	seen        <-chan sighted
}

// phase runs this share of the workload, waits until it has settled, and measures the fleet.
func (m *measurement) phase(ctx context.Context, share float64) (p Phase, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.plan.Longest)
	defer cancel()
	before, err := m.controller(ctx)
	if err != nil {
		return p, err
	}
	objects, pods := slices.Clone(m.fleet), 0
	for _, d := range m.deployments {
		wanted := d.DeepCopy()
		replicas := workload.Scaled(d, share)
		wanted.Spec.Replicas = &replicas
		objects = append(objects, wanted)
		pods += int(replicas)
	}
	m.run.plan.Say("%s: %d pods", m.plan.Workload, pods)
	begun := time.Now()
	m.Begin(pods)
	go m.ask(ctx, share)
	if err := m.rest(ctx, begun, pods); err != nil {
		return p, err
	}
	planned, err := measure.Plan(ctx, region, m.prices, objects)
	if err != nil {
		return p, err
	}
	p.Phase = m.End(planned)
	after, err := m.controller(ctx)
	since := func(series string) int { return int(after.counted[series] - before.counted[series]) }
	p.Landed = since(`karpenter_pods_placements_total{landed="true"}`)
	p.Strayed = since(`karpenter_pods_placements_total{landed="false"}`)
	p.MovesLanded = since(`karpenter_pods_moves_total{landed="true"}`)
	p.MovesStrayed = since(`karpenter_pods_moves_total{landed="false"}`)
	p.Nominated = since(`karpenter_pods_nominations_total{action="nominated"}`)
	p.CPU, p.Resident = after.CPU-before.CPU, after.ResidentBytes
	p.Calls = map[string]int{}
	for series := range after.counted {
		if call, is := callOf(series); is && since(series) > 0 {
			p.Calls[call] += since(series)
			p.Called += since(series)
		}
	}
	return p, err
}

// ask makes the Deployments, or scales existing ones, without waiting for pods.
func (m *measurement) ask(ctx context.Context, share float64) {
	for _, d := range m.deployments {
		wanted := d.DeepCopy()
		replicas := workload.Scaled(d, share)
		wanted.Spec.Replicas = &replicas
		err := m.client.Create(ctx, wanted)
		if client.IgnoreAlreadyExists(err) == nil && err != nil {
			err = m.client.Patch(ctx, wanted, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)))
		}
		if err != nil {
			m.run.plan.Say("%s: %v", d.Name, err)
		}
	}
}

// rest waits until nothing has changed for a while.
func (m *measurement) rest(ctx context.Context, begun time.Time, pods int) error {
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	told := begun
	for {
		select {
		case s := <-m.seen:
			m.Note(s.object, s.gone, s.at.Sub(begun))
		case at := <-ticks.C:
			if at.Sub(told) >= progress {
				told = at
				m.Say(at.Sub(begun), m.run.plan.Say)
			}
			if m.Settled() && m.Quiet(at.Sub(begun)) > m.plan.Quiet {
				return nil
			}
		case <-ctx.Done():
			m.Say(time.Since(begun), m.run.plan.Say)
			return fmt.Errorf("%s with %d pods is not at rest: %w", m.plan.Workload, pods, ctx.Err())
		}
	}
}

// progress is the interval between reports on the fleet.
const progress = 10 * time.Second

// region is the region of the lab's machines.
const region = "us-west-2"

// prices returns EC2's present prices.
func (r run) prices(ctx context.Context) (measure.Prices, error) {
	url, err := r.endpoint()
	if err != nil {
		return measure.Prices{}, err
	}
	market := ec2.NewFromConfig(aws.Config{Region: region, BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider("000000000001", "lab", "")})
	out := asked{Estimated: instancetype.BuiltIn(region, instancetype.DefaultSpotPercent), spot: map[[2]string]model.Money{}}
	now := time.Now()
	pages := ec2.NewDescribeSpotPriceHistoryPaginator(market, &ec2.DescribeSpotPriceHistoryInput{StartTime: &now, ProductDescriptions: []string{"Linux/UNIX"}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return measure.Prices{}, fmt.Errorf("read spot prices: %w", err)
		}
		for _, p := range page.SpotPriceHistory {
			price, err := model.ParsePrice(aws.ToString(p.SpotPrice))
			if err != nil {
				return measure.Prices{}, fmt.Errorf("read spot price of %s: %w", p.InstanceType, err)
			}
			out.spot[[2]string{string(p.InstanceType), aws.ToString(p.AvailabilityZone)}] = price
		}
	}
	return measure.Prices{Prices: out}, nil
}

// asked are prices from the list, and the spot prices that EC2 returned.
type asked struct {
	instancetype.Estimated
	spot map[[2]string]model.Money
}

// Spot implements instancetype.Prices.
func (a asked) Spot(instanceType, zone string) (model.Money, bool) {
	price, known := a.spot[[2]string{instanceType, zone}]
	return price, known
}

// reading is what the controller has counted and used so far.
type reading struct {
	process.Usage
	counted map[string]float64
}

// controller reads the controller's counts of placements, and its use of the machine.
func (m *measurement) controller(ctx context.Context) (out reading, err error) {
	record, _, err := m.Directory.Load()
	if err != nil {
		return out, fmt.Errorf("read record of the lab: %w", err)
	}
	tenon, found := record.Find("tenon")
	if !found {
		return out, fmt.Errorf("tenon does not run")
	}
	all, err := m.Usage()
	if err != nil {
		return out, err
	}
	out.Usage = all[tenon.Name]
	out.counted, err = counters(ctx, metricsOf(tenon))
	return out, err
}

// metricsOf returns the address of a component's metrics.
func metricsOf(c state.Component) string {
	for _, p := range c.Ports {
		if p.Name == "metrics" {
			return fmt.Sprintf("http://127.0.0.1:%d/metrics", p.Number)
		}
	}
	return ""
}

// calls is the metric that counts the calls of the API server.
const calls = "client_go_request_duration_seconds_count"

// counted are the metrics about pods' places and about calls.
func counted() []string {
	return []string{"karpenter_pods_placements_total", "karpenter_pods_moves_total", "karpenter_pods_nominations_total", calls}
}

// label is a label of a series.
var label = regexp.MustCompile(`(\w+)="([^"]*)"`)

// callOf returns verb and kind of a series that counts calls, such as "POST pods/eviction".
func callOf(series string) (string, bool) {
	name, labels, _ := strings.Cut(series, "{")
	if name != calls {
		return "", false
	}
	of := map[string]string{}
	for _, l := range label.FindAllStringSubmatch(labels, -1) {
		of[l[1]] = l[2]
	}
	call := of["verb"] + " " + of["kind"]
	if of["subresource"] != "" {
		call += "/" + of["subresource"]
	}
	return call, true
}

// counters returns the counted series, by name and labels.
func counters(ctx context.Context, url string) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	defer response.Body.Close()
	values := map[string]float64{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		series, value, found := strings.Cut(lines.Text(), " ")
		if !found || !slices.ContainsFunc(counted(), func(name string) bool { return strings.HasPrefix(series, name+"{") }) {
			continue
		}
		if values[series], err = strconv.ParseFloat(value, 64); err != nil {
			return nil, fmt.Errorf("read metric %q: %w", lines.Text(), err)
		}
	}
	return values, lines.Err()
}
