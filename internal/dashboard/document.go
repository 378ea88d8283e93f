package dashboard

import (
	"math"
	"time"

	"tenon/core/model"
	"tenon/internal/cost"
	"tenon/internal/view"
)

// update is what a browser is sent: all small parts, and the nodes that have changed.
type update struct {
	Title    string    `json:"title"`
	Clusters []cluster `json:"clusters"` // that the server shows; none if it is only this one
	Currency string    `json:"currency"` // of all prices; empty if it is not known
	// Discounts names what is paid less than known prices.
	Discounts string                     `json:"discounts"`
	At        int64                      `json:"at"`
	Whole     bool                       `json:"whole"` // forget what was sent before
	Managed   bool                       `json:"managed"`
	Market    int64                      `json:"market"` // when the controller published its prices
	Problems  []string                   `json:"problems"`
	Total     total                      `json:"total"`
	Pools     []pool                     `json:"pools"`
	Nodes     []node                     `json:"nodes"`
	Gone      []string                   `json:"gone"`
	Pending   []pod                      `json:"pending"`
	Costs     map[cost.Dimension][]money `json:"costs"`
	Notices   []noticeLine               `json:"notices"`
	History   []sample                   `json:"history"`
	// Spans says that Prometheus has the price over longer times.
	Spans bool   `json:"spans"`
	Links []Link `json:"links"`
}

type total struct {
	Nodes    int        `json:"nodes"`
	Ready    int        `json:"ready"`
	Pods     int        `json:"pods"`
	Price    float64    `json:"price"`
	Unpriced int        `json:"unpriced"`
	Idle     float64    `json:"idle"`
	Overhead float64    `json:"overhead"`
	Blocked  int        `json:"blocked"`
	Leaving  int        `json:"leaving"`
	CPU      [3]float64 `json:"cpu"`    // requested, allocatable, by daemons
	Memory   [3]float64 `json:"memory"` // in bytes
	// Used is the part that is really used of the CPU and memory that nodes with a measurement have; none if nothing is measured.
	Used []float64 `json:"used,omitempty"`
}

type pool struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind"`
	Object  string       `json:"object"`
	Class   string       `json:"class"`
	Total   total        `json:"total"`
	Limits  []limit      `json:"limits"`
	Moves   moves        `json:"moves"`
	Notices []noticeLine `json:"notices"`
}

// moves are what consolidation was expected to save an hour in all, and what it did save.
type moves struct {
	Count    int64   `json:"count"`
	Expected float64 `json:"expected"`
	Realised float64 `json:"realised"`
}

type limit struct {
	Name string  `json:"name"`
	Have float64 `json:"have"`
	Most float64 `json:"most"`
}

type node struct {
	Name     string     `json:"name"`
	Claim    string     `json:"claim"`
	Instance string     `json:"instance"`
	Pool     string     `json:"pool"`
	Kind     string     `json:"kind"`
	Type     string     `json:"type"`
	Zone     string     `json:"zone"`
	Capacity string     `json:"capacity"`
	Arch     string     `json:"arch"`
	Created  int64      `json:"created"`
	Phase    view.Phase `json:"phase"`
	Since    int64      `json:"since"`
	Cordoned bool       `json:"cordoned"`
	Going    string     `json:"going"`
	Verdict  string     `json:"verdict"`
	Message  string     `json:"message"`
	Price    float64    `json:"price"`
	Source   string     `json:"source"`
	Idle     float64    `json:"idle"`
	Overhead float64    `json:"overhead"`
	CPU      [3]float64 `json:"cpu"`
	Memory   [3]float64 `json:"memory"`
	// Used is what is really used of CPU and memory, as parts of what is allocatable; none if that is not measured.
	Used []float64 `json:"used,omitempty"`
	Pods []pod     `json:"pods"`
	// Console is the address of the cloud's own page about the instance.
	Console string `json:"console,omitempty"`
}

type pod struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Owner     string   `json:"owner"`
	Phase     string   `json:"phase"`
	Created   int64    `json:"created"`
	CPU       float64  `json:"cpu"`
	Memory    float64  `json:"memory"`
	Cost      float64  `json:"cost"`
	Daemon    bool     `json:"daemon,omitempty"`
	Ending    bool     `json:"ending,omitempty"`
	Flags     []string `json:"flags,omitempty"`
	Why       string   `json:"why,omitempty"`
	Teller    string   `json:"teller,omitempty"`
}

type noticeLine struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	At      int64  `json:"at"`
	Warning bool   `json:"warning"`
}

type money struct {
	Name  string  `json:"name"`
	Price float64 `json:"price"`
	Count int     `json:"count"`
}

// mostLines is how many lines of cost are sent for each dimension, and shownNotices how many events.
const (
	mostLines    = 100
	shownNotices = 50
)

// update returns what a browser that has seen one picture needs to show the next; nil stands for no
// picture.
func (d *Dashboard) update(last, now *view.Fleet) update {
	out := update{
		Title: d.options.Title, Clusters: append([]cluster{}, d.clusters...), Currency: now.Currency, Discounts: now.Discounts, At: d.options.Clock().Unix(), Whole: last == nil, Managed: now.Managed, Market: seconds(now.Published), Problems: append([]string{}, d.options.Problems()...),
		Total: totalOf(&now.Total), Pools: []pool{}, Nodes: []node{}, Gone: []string{}, Pending: []pod{}, Costs: map[cost.Dimension][]money{}, Notices: []noticeLine{}, History: d.history.all(),
		Spans: d.options.Prometheus != nil, Links: append([]Link{}, d.options.Links...),
	}
	before := map[string]*view.Node{}
	if last != nil {
		for _, n := range last.Nodes {
			before[n.Name] = n
		}
	}
	for _, n := range now.Nodes {
		if before[n.Name] != n {
			out.Nodes = append(out.Nodes, d.nodeOf(n))
		}
		delete(before, n.Name)
	}
	for name := range before {
		out.Gone = append(out.Gone, name)
	}
	for _, p := range now.Pools {
		out.Pools = append(out.Pools, poolOf(p))
	}
	for _, p := range now.Pending {
		out.Pending = append(out.Pending, podOf(p))
	}
	for _, by := range cost.Dimensions {
		lines := now.Cost(by)
		out.Costs[by] = []money{}
		for _, line := range lines[:min(len(lines), mostLines)] {
			out.Costs[by] = append(out.Costs[by], money{line.Name, line.Price.Float(), line.Count})
		}
	}
	out.Notices = noticesOf(now.Notices[:min(len(now.Notices), shownNotices)])
	return out
}

func totalOf(t *view.Total) total {
	return total{
		Nodes: t.Nodes, Ready: t.Ready, Pods: t.Pods, Price: t.Price.Float(), Unpriced: t.Unpriced, Idle: t.Idle.Float(), Overhead: t.Overhead.Float(), Blocked: t.Blocked, Leaving: t.Leaving,
		CPU: cpu(t.Requested, t.Allocatable, t.Daemons), Memory: memory(t.Requested, t.Allocatable, t.Daemons), Used: used(t.Used, t.Measured),
	}
}

// used returns the parts of CPU and memory that are really used, to a thousandth; none if that is not measured.
func used(of, all model.Resources) []float64 {
	if of.IsZero() {
		return nil
	}
	part := func(resource string) float64 { return math.Round(1000*view.Use(of, all, resource)) / 1000 }
	return []float64{part(model.CPU), part(model.Memory)}
}

func cpu(all ...model.Resources) (out [3]float64) {
	for i := range out {
		out[i] = float64(all[i].CPU) / 1000
	}
	return out
}

func memory(all ...model.Resources) (out [3]float64) {
	for i := range out {
		out[i] = float64(all[i].Memory)
	}
	return out
}

func poolOf(p *view.Pool) pool {
	out := pool{Name: p.Name, Kind: p.Kind, Object: p.Object, Class: p.Class, Total: totalOf(&p.Total), Limits: []limit{}, Notices: noticesOf(p.Notices), Moves: moves{p.Savings.Moves, p.Savings.Predicted.Float(), p.Savings.Realised.Float()}}
	for _, l := range p.Limits {
		unit := 1.0
		if l.Name == "cpu" {
			unit = 1000
		}
		out.Limits = append(out.Limits, limit{l.Name, float64(p.Limited(l.Name)) / unit, float64(l.Value) / unit})
	}
	return out
}

func (d *Dashboard) nodeOf(n *view.Node) node {
	out := node{
		Name: n.Name, Claim: n.Claim, Instance: n.Instance, Pool: n.Pool, Kind: n.PoolKind, Type: n.Type, Zone: n.Zone, Capacity: n.CapacityType, Arch: n.Arch,
		Created: seconds(n.Created), Phase: n.Phase, Since: seconds(n.Since), Cordoned: n.Cordoned, Going: n.Going, Verdict: n.Verdict.Word, Message: n.Verdict.Message,
		Price: n.Price.Float(), Source: string(n.Source), Idle: n.Idle.Float(), Overhead: n.Overhead.Float(),
		CPU: cpu(n.Requested, n.Allocatable, n.Daemons), Memory: memory(n.Requested, n.Allocatable, n.Daemons), Used: used(n.Used, n.Allocatable), Pods: []pod{},
	}
	if d.options.Console != nil {
		out.Console = d.options.Console(n.Region, n.Instance)
	}
	for _, p := range n.Pods {
		out.Pods = append(out.Pods, podOf(p))
	}
	return out
}

func podOf(p *view.Pod) pod {
	return pod{
		Namespace: p.Namespace, Name: p.Name, Owner: p.Owner, Phase: p.Phase, Created: seconds(p.Created), CPU: float64(p.Requests.CPU) / 1000, Memory: float64(p.Requests.Memory),
		Cost: p.Cost.Float(), Daemon: p.Daemon, Ending: p.Ending, Flags: p.Flags, Why: p.Why, Teller: p.Teller,
	}
}

func noticesOf(list []view.Notice) []noticeLine {
	out := make([]noticeLine, 0, len(list))
	for _, n := range list {
		out = append(out, noticeLine{n.Kind, n.Name, n.Reason, n.Message, seconds(n.At), n.Warning})
	}
	return out
}

// seconds returns the seconds since 1970; 0 if the time is unknown.
func seconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.Unix()
}
