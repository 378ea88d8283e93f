package decide_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tenon/core/catalog"
	"tenon/core/check"
	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts print into their files")

// Each script in testdata is a list of scenarios: lines that describe a cluster, a line
// "----", and what is decided. Every plan is also checked by core/check.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			runScript(t, file)
		})
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, scenario := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		given, want, _ := strings.Cut(scenario, "\n----\n")
		s := parseScenario(t, given)
		p := decide.Decide(s, decide.Budget{Disrupt: strings.Contains(given, "\nconsolidate")}).Plan
		for _, v := range check.Plan(s, &p) {
			t.Errorf("%s\nthe plan breaks a rule: %v", given, v)
		}
		got := render(s, &p)
		if strings.Contains(given, "\nrules") {
			got += renderRules(s, &p, given)
		}
		if got != want && !*rewrite {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", given, got, want)
		}
		out = append(out, given+"\n----\n"+got)
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// booking adds a set of pods of a request; lines with the same name are the sets of one request.
func (sc *scenario) booking(words []string) {
	pods, err := strconv.Atoi(strings.TrimPrefix(words[1], "x"))
	if err != nil {
		sc.t.Fatal(err)
	}
	set := 0
	for i := range sc.s.Buffers {
		if sc.s.Buffers[i].Name == words[0] {
			set++
		}
	}
	booking := &snapshot.Booking{Set: set, Buys: words[2] == "atomic", Held: words[3] == "held"}
	sc.s.Buffers = append(sc.s.Buffers, snapshot.Buffer{
		Namespace: "default", Name: words[0], Pods: pods, Template: sc.template(words[0], sc.options(words[3:])), Booking: booking,
	})
}

// scenario is a cluster in the making.
type scenario struct {
	t     *testing.T
	s     *snapshot.Snapshot
	zones []string
	types []map[string]string
}

func parseScenario(t *testing.T, text string) *snapshot.Snapshot {
	sc := &scenario{t: t, zones: []string{"a", "b", "c"}, s: &snapshot.Snapshot{Settings: snapshot.Settings{
		Preferences: snapshot.Respect, WellKnown: requirement.Core().WellKnown(), ReservedCapacity: true,
	}}}
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		sc.line(words[0], words[1:])
	}
	sc.s.Catalogs = []catalog.Catalog{sc.catalog()}
	if len(sc.s.Pools) == 0 {
		sc.pool([]string{"default"})
	}
	return sc.s
}

func (sc *scenario) line(verb string, words []string) {
	switch verb {
	case "zones":
		sc.zones = words
	case "preferences":
		sc.s.Settings.Preferences = snapshot.Preferences(words[0])
	case "type":
		opts := sc.options(words[1:])
		opts["name"] = words[0]
		sc.types = append(sc.types, opts)
	case "pool":
		sc.pool(words)
	case "node":
		sc.node(words)
	case "pods":
		sc.pods(words)
	case "daemon":
		sc.s.Daemons = append(sc.s.Daemons, snapshot.Daemon{Namespace: "kube-system", Name: words[0], Template: sc.template(words[0], sc.options(words[1:]))})
	case "buffer": // its name, for how many pods, and what these are like
		pods, err := strconv.Atoi(strings.TrimPrefix(words[1], "x"))
		if err != nil {
			sc.t.Fatal(err)
		}
		sc.s.Buffers = append(sc.s.Buffers, snapshot.Buffer{Namespace: "default", Name: words[0], Pods: pods, Template: sc.template(words[0], sc.options(words[2:]))})
	case "booking": // like a buffer, of a ProvisioningRequest, and the words check or atomic, and held, before what the pods are like
		sc.booking(words)
	case "consolidate":
		sc.s.Now = present
		sc.s.Settings.SpotToSpot = slices.Contains(words, "spot-to-spot")
	case "budget":
		sc.budget(words)
	case "rules": // asks what rules cost, see renderRules
	default:
		sc.t.Fatalf("unknown line %q", verb)
	}
}

// options reads key=value; a key given twice joins its values by a blank.
func (sc *scenario) options(words []string) map[string]string {
	out := map[string]string{}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		if old, ok := out[key]; ok {
			value = old + " " + value
		}
		out[key] = value
	}
	return out
}

func (sc *scenario) catalog() catalog.Catalog {
	var c catalog.Catalog
	for _, o := range sc.types {
		capacity := sc.resources(o)
		if capacity.Pods == 0 {
			capacity.Pods = 110
		}
		labels := sc.prefixed(o, "label.")
		labels[requirement.KeyInstanceType] = o["name"]
		labels[requirement.KeyArch] = cmp.Or(o["arch"], "amd64")
		labels[requirement.KeyOS] = "linux"
		t := catalog.Type{Name: o["name"], Requirements: requirement.FromLabels(labels), Capacity: capacity}
		for _, zone := range strings.Split(cmp.Or(o["zones"], strings.Join(sc.zones, ",")), ",") {
			for _, ct := range []string{catalog.OnDemand, catalog.Spot} {
				if price := o[map[string]string{catalog.OnDemand: "price", catalog.Spot: "spot"}[ct]]; price != "" {
					t.Offerings = append(t.Offerings, catalog.Offering{Zone: zone, CapacityType: ct, Price: sc.money(price), Available: !slices.Contains(strings.Split(o["unavailable"], ","), zone)})
				}
			}
		}
		if n := o["reserved"]; n != "" {
			t.Offerings = append(t.Offerings, catalog.Offering{Zone: sc.zones[0], CapacityType: catalog.Reserved, ReservationID: "cr-" + o["name"], Price: 1, Available: true, ReservationCapacity: sc.integer(n)})
		}
		c.Types = append(c.Types, t)
	}
	return c
}

func (sc *scenario) pool(words []string) {
	o := sc.options(words[1:])
	labels := sc.prefixed(o, "label.")
	p := snapshot.Pool{Name: words[0], Weight: int32(sc.integer(cmp.Or(o["weight"], "0"))), Labels: maps.Clone(labels)}
	if o["unready"] != "" {
		p.Unready = reason.Unready{Code: reason.NotReady, Message: o["unready"]}
	}
	labels[requirement.KeyNodePool] = words[0]
	p.Requirements = requirement.FromLabels(labels).Intersect(sc.requires(o))
	for key, value := range sc.prefixed(o, "limit.") {
		p.Limits = append(p.Limits, model.Amount{Name: key, Value: sc.resources(map[string]string{key: value}).Get(key)})
		if key == model.Nodes {
			p.Limits[len(p.Limits)-1].Value = sc.integer(value)
		}
	}
	p.Taints = sc.taints(o["taint"])
	p.PriceCeiling = sc.integer(cmp.Or(o["ceiling"], "0"))
	p.NodePrice = sc.money(cmp.Or(o["nodeprice"], "0"))
	p.Consolidation = sc.consolidation(o)
	sc.s.Pools = append(sc.s.Pools, p)
}

// requires reads require=key:Operator:v1,v2 and min.key=n.
func (sc *scenario) requires(o map[string]string) requirement.Set {
	var set requirement.Set
	for _, text := range strings.Fields(o["require"]) {
		parts := strings.SplitN(text, ":", 3)
		var values []string
		if len(parts) == 3 {
			values = strings.Split(parts[2], ",")
		}
		set = set.With(requirement.New(parts[0], requirement.Operator(parts[1]), values...))
	}
	for key, n := range sc.prefixed(o, "min.") {
		set = set.Replaced(set.Get(key).WithMinValues(int(sc.integer(n))))
	}
	return set
}

func (sc *scenario) node(words []string) {
	o := sc.options(words[1:])
	labels := sc.prefixed(o, "label.")
	labels[requirement.KeyHostname] = words[0]
	labels[requirement.KeyZone] = cmp.Or(o["zone"], "a")
	room := sc.resources(o)
	if room.Pods == 0 {
		room.Pods = 110
	}
	sc.s.Nodes = append(sc.s.Nodes, snapshot.Node{
		Name: words[0], Pool: o["pool"], Labels: labels, Taints: sc.taints(o["taint"]), Capacity: room, Allocatable: room,
		Initialized: o["starting"] == "", Leaving: o["leaving"] != "", Unschedulable: o["cordoned"] != "",
	})
	sc.used(&sc.s.Nodes[len(sc.s.Nodes)-1], o)
}

func (sc *scenario) pods(words []string) {
	name, n := words[0], 1
	rest := words[1:]
	if len(rest) > 0 && strings.HasPrefix(rest[0], "x") {
		n = int(sc.integer(rest[0][1:]))
		rest = rest[1:]
	}
	o := sc.options(rest)
	template := sc.template(name, o)
	leaving := slices.ContainsFunc(sc.s.Nodes, func(n snapshot.Node) bool { return n.Name == o["on"] && n.Leaving })
	for i := range n {
		sc.s.Pods = append(sc.s.Pods, snapshot.Pod{
			Namespace: "default", Name: fmt.Sprintf("%s-%d", name, i), Template: template,
			Node: o["on"], Pending: o["on"] == "", Movable: leaving, Refused: obstacles(o["refused"]), Ends: o["ends"] != "", Tie: sc.tie(o),
		})
	}
}

// obstacles of pods have no text of their own in scripts.
func obstacles(text string) reason.Obstacles {
	if text == "" {
		return nil
	}
	return reason.Obstacles{{Code: reason.PodRefused, Detail: text}}
}

func (sc *scenario) template(name string, o map[string]string) snapshot.TemplateIndex {
	t := snapshot.Template{Namespace: "default", Labels: sc.prefixed(o, "label."), Owner: "Deployment/" + name, Requests: sc.resources(o)}
	t.Labels["app"] = name
	t.Requests.Pods = 1
	t.Priority = int32(sc.integer(cmp.Or(o["priority"], "0")))
	t.Selector = requirement.FromLabels(sc.prefixed(o, "select.")).Intersect(sc.requires(o))
	for _, term := range strings.Fields(o["term"]) {
		t.Terms = append(t.Terms, sc.requires(map[string]string{"require": term}))
	}
	for _, term := range strings.Fields(o["prefer"]) {
		t.Preferred = append(t.Preferred, snapshot.WeightedTerm{Weight: 1, Term: sc.requires(map[string]string{"require": term})})
	}
	for _, key := range strings.Fields(o["tolerate"]) {
		t.Tolerations = append(t.Tolerations, model.Toleration{Key: key, Operator: "Exists"})
	}
	for _, text := range strings.Fields(o["spread"]) { // key[:maxSkew[:soft]]
		parts := strings.Split(text+strings.Repeat(":", 2), ":")
		t.Spreads = append(t.Spreads, snapshot.Spread{Key: topologyKey(parts[0]), MaxSkew: int32(sc.integer(cmp.Or(parts[1], "1"))), Soft: parts[2] == "soft", Selector: app(name), MinDomains: int32(sc.integer(cmp.Or(o["minDomains"], "0")))})
	}
	term := func(text string) snapshot.AffinityTerm {
		key, other, _ := strings.Cut(text, ":")
		return snapshot.AffinityTerm{Key: topologyKey(key), Namespaces: []string{"default"}, Selector: app(cmp.Or(other, name))}
	}
	for _, text := range strings.Fields(o["anti"]) {
		t.AntiAffinity = append(t.AntiAffinity, term(text))
	}
	for _, text := range strings.Fields(o["near"]) {
		t.Affinity = append(t.Affinity, term(text))
	}
	for _, text := range strings.Fields(o["avoid"]) {
		t.PreferredAntiAffinity = append(t.PreferredAntiAffinity, snapshot.WeightedAffinity{Weight: 1, Term: term(text)})
	}
	for _, port := range strings.Fields(o["port"]) {
		t.HostPorts = append(t.HostPorts, model.HostPort{Port: int32(sc.integer(port)), Protocol: "TCP"})
	}
	for _, zone := range strings.Fields(o["volume"]) {
		t.Volumes = append(t.Volumes, snapshot.Volume{ID: name, Terms: []requirement.Set{requirement.FromLabels(map[string]string{requirement.KeyZone: zone})}})
	}
	sc.s.Templates = append(sc.s.Templates, t)
	return snapshot.TemplateIndex(len(sc.s.Templates) - 1)
}

// app selects the pods of one app or, joined by bars, of several.
func app(names string) model.Selector {
	return model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: strings.Split(names, "|")}}}
}

func topologyKey(short string) string {
	return cmp.Or(map[string]string{"zone": requirement.KeyZone, "host": requirement.KeyHostname, "capacity": requirement.KeyCapacityType}[short], short)
}

func (sc *scenario) prefixed(o map[string]string, prefix string) map[string]string {
	out := map[string]string{}
	for key, value := range o {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			out[topologyKey(name)] = value
		}
	}
	return out
}

func (sc *scenario) taints(text string) []model.Taint {
	var out []model.Taint
	for _, t := range strings.Fields(text) {
		key, effect, _ := strings.Cut(t, ":")
		out = append(out, model.Taint{Key: key, Effect: model.Effect(cmp.Or(effect, string(model.NoSchedule)))})
	}
	return out
}

func (sc *scenario) resources(o map[string]string) model.Resources {
	r := model.Resources{Pods: sc.integer(cmp.Or(o["pods"], "0"))}
	if cpu := o["cpu"]; strings.HasSuffix(cpu, "m") {
		r.CPU = sc.integer(strings.TrimSuffix(cpu, "m"))
	} else if cpu != "" {
		r.CPU = 1000 * sc.integer(cpu)
	}
	r.Memory = sc.bytes(cmp.Or(o["mem"], o["memory"]))
	if gpu := o["gpu"]; gpu != "" {
		r = r.Add(model.NewResources(model.Amount{Name: "example.com/gpu", Value: sc.integer(gpu)}))
	}
	return r
}

func (sc *scenario) bytes(text string) int64 {
	switch {
	case text == "":
		return 0
	case strings.HasSuffix(text, "Gi"):
		return sc.integer(strings.TrimSuffix(text, "Gi")) << 30
	}
	return sc.integer(strings.TrimSuffix(text, "Mi")) << 20
}

func (sc *scenario) integer(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		sc.t.Fatalf("not a number: %q", text)
	}
	return n
}

func (sc *scenario) money(text string) model.Money {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		sc.t.Fatalf("not a price: %q", text)
	}
	return model.MoneyFromFloat(f)
}
