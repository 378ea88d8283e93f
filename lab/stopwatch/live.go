package stopwatch

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/facts"
	"tenon/core/model"
	"tenon/internal/testing/workload"
	"tenon/lab/process"
	"tenon/lab/state"
)

// LivePlan says which workload to run live, beside what "tenon plan" says of it.
type LivePlan struct {
	Plan
	Tenon    string // the program that plans
	Workload string
	Seed     uint64
	Scale    float64       // of the number of pods
	Share    float64       // of the pods, to which the workload is scaled down at last
	Quiet    time.Duration // without a change makes rest
	Longest  time.Duration // for each of the two phases
	Log      string        // file that gets the controller's log; empty for none
}

// LiveResult is what the fleet became.
type LiveResult struct {
	Workload string `json:"workload"`
	Seed     uint64 `json:"seed"`
	Up       Phase  `json:"up"`
	Down     Phase  `json:"down"`
}

// Phase is what became of the workload after its pods were made, or after it was scaled down.
// Times count from the request on, money is dollars an hour.
type Phase struct {
	Pods  int     `json:"pods"`
	Bound float64 `json:"lowerBoundPerHour"` // of "tenon plan" on the pods alone
	// Price and Ratio to the bound are those at rest, First and FirstRatio those when all pods were
	// bound for the first time.
	Price        float64       `json:"pricePerHour"`
	Ratio        float64       `json:"ratio"`
	First        float64       `json:"pricePerHourWhenBound"`
	FirstRatio   float64       `json:"ratioWhenBound"`
	FirstClaims  int           `json:"claimsWhenBound"`
	Planned      float64       `json:"plannedPerHour"`
	PlannedNodes int           `json:"plannedNodes"`
	Peak         float64       `json:"peakPerHour"`
	Nodes        int           `json:"nodes"`
	Claims       int           `json:"claims"`      // that were made
	Made         time.Duration `json:"lastPodMade"` // of those that were there when all were bound, as the next two
	LastClaim    time.Duration `json:"lastClaim"`
	LastBound    time.Duration `json:"lastBound"`
	Rest         time.Duration `json:"rest"`
	Moved        int           `json:"moved"` // pods that were deleted beyond those that the scaling takes
	Landed       int           `json:"landed"`
	Strayed      int           `json:"strayed"`
	Nominated    int           `json:"nominations"` // that were written
	CPU          time.Duration `json:"controllerCPU"`
	Resident     int64         `json:"controllerResidentBytes"`
}

// Live starts a lab, runs a workload in it, scales it down, and tells what each cost.
func Live(ctx context.Context, plan LivePlan) (result LiveResult, err error) {
	deployments, err := workload.Deployments(plan.Workload, plan.Seed, plan.Scale)
	if err != nil {
		return result, err
	}
	result.Workload, result.Seed = plan.Workload, plan.Seed
	err = inLab(ctx, plan.Plan, func(r run) error {
		fleet := workload.Fleet()
		for _, o := range fleet {
			if err := r.client.Create(ctx, o.DeepCopyObject().(client.Object)); err != nil {
				return fmt.Errorf("make %T %s: %w", o, o.GetName(), err)
			}
		}
		if err := r.poolsReady(ctx); err != nil {
			return err
		}
		t := &tally{run: r, plan: plan, deployments: deployments, fleet: fleet}
		if err := t.start(ctx); err != nil {
			return err
		}
		defer t.keepLog()
		if result.Up, err = t.phase(ctx, 1); err != nil {
			return err
		}
		if plan.Share < 1 {
			result.Down, err = t.phase(ctx, plan.Share)
		}
		return err
	})
	return result, err
}

// keepLog copies the controller's log before the lab goes.
func (t *tally) keepLog() {
	if t.plan.Log == "" {
		return
	}
	record, _, err := t.directory.Load()
	if err == nil {
		tenon, _ := record.Find("tenon")
		var text []byte
		if text, err = os.ReadFile(tenon.Log); err == nil {
			err = os.WriteFile(t.plan.Log, text, 0o600)
		}
	}
	if err != nil {
		t.run.plan.Say("the log is lost: %v", err)
	}
}

// tally follows pods and claims through both phases.
type tally struct {
	run
	plan        LivePlan
	deployments []*appsv1.Deployment
	fleet       []client.Object
	seen        <-chan sight

	pods      map[string]bool        // by name: whether it is bound
	prices    map[string]model.Money // of claims that have a machine
	claims    map[string]bool        // all that there are
	nodes     map[string]bool        // that there are
	now       Phase
	deleted   int
	made      time.Duration // when the last pod was
	lastClaim time.Duration
	counted   map[string]float64 // counters of the controller when the phase began
	cpu       time.Duration
}

func (t *tally) start(ctx context.Context) error {
	t.pods, t.prices, t.claims, t.nodes = map[string]bool{}, map[string]model.Money{}, map[string]bool{}, map[string]bool{}
	var err error
	t.seen, err = t.watching(ctx, &corev1.Pod{}, &karpenterv1.NodeClaim{}, &corev1.Node{})
	return err
}

// phase has so much of the workload run, waits for rest, and looks at the fleet.
func (t *tally) phase(ctx context.Context, share float64) (Phase, error) {
	ctx, cancel := context.WithTimeout(ctx, t.plan.Longest)
	defer cancel()
	var err error
	t.now, t.deleted, t.made, t.lastClaim = Phase{}, 0, 0, 0
	before := len(t.pods)
	if t.counted, t.cpu, err = t.controller(ctx); err != nil {
		return t.now, err
	}
	begun := time.Now()
	for _, d := range t.deployments {
		t.now.Pods += int(workload.Scaled(d, share))
	}
	t.run.plan.Say("%s: %d pods", t.plan.Workload, t.now.Pods)
	go t.ask(ctx, share)
	if err := t.rest(ctx, begun); err != nil {
		return t.now, err
	}
	t.now.Moved = t.deleted - max(0, before-t.now.Pods)
	t.now.Price, t.now.Nodes = t.price().Float(), len(t.nodes)
	if err := t.compare(ctx, share); err != nil {
		return t.now, err
	}
	counted, cpu, err := t.controller(ctx)
	since := func(series string) int { return int(counted[series] - t.counted[series]) }
	t.now.Landed = since(`karpenter_pods_placements_total{landed="true"}`)
	t.now.Strayed = since(`karpenter_pods_placements_total{landed="false"}`)
	t.now.Nominated = since(`karpenter_pods_nominations_total{action="nominated"}`)
	t.now.CPU = cpu - t.cpu
	return t.now, err
}

// ask makes the Deployments, or scales those that are there, without waiting for an answer.
func (t *tally) ask(ctx context.Context, share float64) {
	for _, d := range t.deployments {
		wanted := d.DeepCopy()
		replicas := workload.Scaled(d, share)
		wanted.Spec.Replicas = &replicas
		err := t.client.Create(ctx, wanted)
		if client.IgnoreAlreadyExists(err) == nil && err != nil {
			err = t.client.Patch(ctx, wanted, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)))
		}
		if err != nil {
			t.run.plan.Say("%s: %v", d.Name, err)
		}
	}
}

// rest follows what happens until everything has stayed as it is for a while.
func (t *tally) rest(ctx context.Context, begun time.Time) error {
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	changed, told := begun, begun
	for {
		select {
		case s := <-t.seen:
			if t.note(s, s.at.Sub(begun)) {
				changed = s.at
			}
			t.watchFirst(s.at.Sub(begun))
		case at := <-ticks.C:
			if at.Sub(told) >= progress {
				told = at
				t.run.plan.Say("%4ds: %d of %d pods bound, %d claims for %.2f $/h, %d made, %d pods deleted", int(at.Sub(begun).Seconds()),
					t.bound(), t.now.Pods, len(t.claims), t.price().Float(), t.now.Claims, t.deleted)
			}
			if t.settled() && at.Sub(changed) > t.plan.Quiet {
				t.now.Rest = changed.Sub(begun)
				return nil
			}
		case <-ctx.Done():
			return fmt.Errorf("%s is not at rest: %d of %d pods bound: %w", t.plan.Workload, t.bound(), t.now.Pods, ctx.Err())
		}
	}
}

// progress is how often it is told how far the fleet has come.
const progress = 10 * time.Second

// watchFirst notes what there is when all pods are bound for the first time.
func (t *tally) watchFirst(since time.Duration) {
	if t.now.LastBound > 0 || !t.settled() {
		return
	}
	t.now.Made, t.now.LastClaim, t.now.LastBound = t.made, t.lastClaim, since
	t.now.First, t.now.FirstClaims = t.price().Float(), t.now.Claims
}

func (t *tally) settled() bool { return len(t.pods) == t.now.Pods && t.bound() == t.now.Pods }

func (t *tally) bound() int {
	n := 0
	for _, bound := range t.pods {
		if bound {
			n++
		}
	}
	return n
}

// note takes one sight in, and reports whether it is a change of the fleet or of where pods are.
func (t *tally) note(s sight, since time.Duration) bool {
	switch o := s.object.(type) {
	case *corev1.Pod:
		return t.notePod(o, s, since)
	case *karpenterv1.NodeClaim:
		return t.noteClaim(o, s, since)
	case *corev1.Node:
		had := t.nodes[o.Name]
		if s.gone {
			delete(t.nodes, o.Name)
		} else {
			t.nodes[o.Name] = true
		}
		return had != t.nodes[o.Name]
	}
	return false
}

func (t *tally) notePod(pod *corev1.Pod, s sight, since time.Duration) bool {
	bound, known := t.pods[pod.Name]
	switch {
	case pod.Namespace != corev1.NamespaceDefault:
		return false
	case s.gone:
		delete(t.pods, pod.Name)
		t.deleted++
		return true
	case !known:
		t.made = since
	}
	t.pods[pod.Name] = pod.Spec.NodeName != ""
	return !known || bound != t.pods[pod.Name]
}

func (t *tally) noteClaim(claim *karpenterv1.NodeClaim, s sight, since time.Duration) bool {
	if s.gone {
		delete(t.prices, claim.Name)
		delete(t.claims, claim.Name)
		return true
	}
	fresh := !t.claims[claim.Name]
	t.claims[claim.Name] = true
	if fresh {
		t.now.Claims++
		t.lastClaim = since
	}
	price := facts.PricesFor(claim.Labels[corev1.LabelTopologyRegion]).Hourly[claim.Labels[corev1.LabelInstanceTypeStable]]
	if claim.Status.ProviderID == "" || t.prices[claim.Name] == price {
		return fresh
	}
	t.prices[claim.Name] = price
	t.now.Peak = max(t.now.Peak, t.price().Float())
	return true
}

func (t *tally) price() model.Money {
	var sum model.Money
	for _, p := range t.prices {
		sum += p
	}
	return sum
}

// compare asks "tenon plan" what the pods would cost on a fleet of their own.
func (t *tally) compare(ctx context.Context, share float64) error {
	objects := workload.Typed(t.fleet)
	for _, d := range t.deployments {
		wanted := d.DeepCopy()
		replicas := workload.Scaled(d, share)
		wanted.Spec.Replicas = &replicas
		objects = append(objects, workload.Typed([]client.Object{wanted})...)
	}
	file := filepath.Join(string(t.directory), "live.json")
	var text []byte
	for _, o := range objects {
		one, err := json.Marshal(o)
		if err != nil {
			return fmt.Errorf("write %s: %w", o.GetName(), err)
		}
		text = append(append(text, one...), '\n')
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	output, err := exec.CommandContext(ctx, t.plan.Tenon, "plan", "-f", file, "-o", "json").Output()
	if err != nil {
		return fmt.Errorf("tenon plan: %w", err)
	}
	var planned struct {
		Nodes []struct{} `json:"nodes"`
		Cost  struct{ NewPerHour, LowerBoundPerHour float64 }
	}
	if err := json.Unmarshal(output, &planned); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	t.now.Planned, t.now.Bound, t.now.PlannedNodes = planned.Cost.NewPerHour, planned.Cost.LowerBoundPerHour, len(planned.Nodes)
	if t.now.Bound > 0 {
		t.now.Ratio, t.now.FirstRatio = t.now.Price/t.now.Bound, t.now.First/t.now.Bound
	}
	return nil
}

// controller reads what the controller counts of placements, and the CPU that it has taken.
func (t *tally) controller(ctx context.Context) (counted map[string]float64, cpu time.Duration, err error) {
	record, _, err := t.directory.Load()
	if err != nil {
		return nil, 0, fmt.Errorf("read record of the lab: %w", err)
	}
	tenon, found := record.Find("tenon")
	if !found {
		return nil, 0, fmt.Errorf("tenon does not run")
	}
	usage, err := process.Measure(tenon.Pid)
	if err != nil {
		return nil, 0, err
	}
	t.now.Resident = usage.ResidentBytes
	counted, err = counters(ctx, metricsOf(tenon))
	return counted, usage.CPU, err
}

// metricsOf is where a component serves its metrics.
func metricsOf(c state.Component) string {
	for _, p := range c.Ports {
		if p.Name == "metrics" {
			return fmt.Sprintf("http://127.0.0.1:%d/metrics", p.Number)
		}
	}
	return ""
}

// counters are the series about pods' places, by name and labels.
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
	counted := map[string]float64{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		series, value, found := strings.Cut(lines.Text(), " ")
		if !found || !strings.HasPrefix(series, "karpenter_pods_placements_total") && !strings.HasPrefix(series, "karpenter_pods_nominations_total") {
			continue
		}
		if counted[series], err = strconv.ParseFloat(value, 64); err != nil {
			return nil, fmt.Errorf("read metric %q: %w", lines.Text(), err)
		}
	}
	return counted, lines.Err()
}
