package dashboard_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/snapshot"
	"tenon/internal/aws"
	"tenon/internal/cli"
	"tenon/internal/dashboard"
	"tenon/internal/journal"
	"tenon/internal/view"
)

var screenshots = flag.String("screenshots", "", "folder for pictures of every page")

const lines = `{"seq":1,"start":{"at":"2026-03-01T11:00:00Z","kept":"in memory"}}
{"seq":2,"decision":{"at":"2026-03-01T11:00:01Z","by":"provisioner","woke":"3 pods became pending","tookMicros":1200,"snapshot":"s","cost":{"newPerHour":0.2,"lowerBoundPerHour":0.19,"fleetPerHourBefore":0.4,"fleetPerHourAfter":0.6,"currency":"USD"},"launches":[{"nodes":1,"nodePool":"default","instanceType":"m5.large","zone":"us-west-2a","capacityType":"spot","pricePerHour":0.2,"pods":3}],"unplaced":[{"pods":1,"names":["shop/big"],"why":"no instance type has 900 CPU"}]}}
{"seq":3,"outcome":{"at":"2026-03-01T11:00:02Z","decision":2,"action":"launch","result":"made","nodeClaims":["default-x7k2p"]}}
{"seq":4,"decision":{"at":"2026-03-01T11:30:01Z","by":"disruption","woke":"a minute has passed","tookMicros":900,"cost":{"newPerHour":0,"lowerBoundPerHour":0,"fleetPerHourBefore":0.6,"fleetPerHourAfter":0.4,"currency":"USD"},"disruptions":[{"reason":"Underutilized","decision":"delete","nodes":["node-3"],"evictions":2,"savingsPerHour":0.2}],"kept":{"PodBlocksDisruption":2,"NotWorthIt":5}}}
`

// cluster has so many nodes with so many pods each, and a pod that waits.
func cluster(nodes, pods int) *view.State {
	state := view.NewState(nil)
	state.PricedIn(func(string) string { return "USD" })
	room := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	pod := func(name, node, cpu string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: room(cpu, "256Mi")}}}}}
		p.Status.Phase = corev1.PodRunning
		return p
	}
	for i := range nodes {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i), Labels: map[string]string{
			view.PriceLabel: "0.2", corev1.LabelInstanceTypeStable: "m5.large", corev1.LabelTopologyZone: fmt.Sprintf("us-west-2%c", 'a'+i%2), "karpenter.sh/nodepool": fmt.Sprintf("pool-%d", i%3), "karpenter.sh/capacity-type": "spot",
		}}}
		n.Status.Allocatable = room("8", "32Gi")
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		state.Put(n)
		for j := range pods {
			state.Put(pod(fmt.Sprintf("web-%d-%d", i, j), n.Name, "200m"))
		}
	}
	used := map[string]model.Resources{}
	for i := range nodes / 2 {
		used[fmt.Sprintf("node-%d", i)] = model.Resources{CPU: 3000, Memory: 8 << 30}
	}
	state.Measure(used)
	objects(state)
	big := pod("big", "", "900")
	big.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/12 nodes are available: <b>12 Insufficient cpu</b>.",
	}}}
	state.Put(big)
	return state
}

// objects adds a pool with its class, a node group, a claim that failed to launch before it did, and events.
func objects(state *view.State) {
	at := func(ago time.Duration) metav1.Time { return metav1.NewTime(time.Now().Add(-ago)) }
	says := func(kind string, status metav1.ConditionStatus, message string, ago time.Duration) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: kind, Message: message, LastTransitionTime: at(ago)}
	}
	later, hours := fmt.Sprintf("0 %d * * *", time.Now().UTC().Add(6*time.Hour).Hour()), scalar.Duration{Duration: 3 * time.Hour}
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "pool-1", CreationTimestamp: at(90 * time.Hour)}}
	pool.Spec.Limits = karpenterv1.Limits{corev1.ResourceCPU: resource.MustParse("40"), corev1.ResourceMemory: resource.MustParse("200Gi")}
	pool.Spec.Template.Labels = map[string]string{"team": "<i>shop</i>"}
	pool.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	pool.Spec.Template.Spec.Requirements = []karpenterv1.Requirement{{Key: "karpenter.sh/capacity-type", Operator: corev1.NodeSelectorOpIn, Values: []string{"spot", "on-demand"}}}
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "50%"}, {Nodes: "0", Reasons: []karpenterv1.DisruptionReason{karpenterv1.DisruptionDrifted}}, {Nodes: "1", Schedule: &later, Duration: &hours}}
	pool.Status.Conditions = []metav1.Condition{says("Ready", metav1.ConditionTrue, "", 80*time.Hour), says(karpenterv1.ConditionLimitReached, metav1.ConditionTrue, "3 pods wait for nodes that the limit of cpu forbids", 5*time.Minute)}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", CreationTimestamp: at(100 * time.Hour)}}
	class.Status.Subnets = []awsv1.Subnet{{ID: "subnet-0a1b", Zone: "us-west-2a", ZoneID: "usw2-az1"}}
	class.Status.AMIs = []awsv1.AMI{{ID: "ami-0123456789", Name: "amazon-eks-node-al2023-x86_64-standard-1.36-v20260901", Requirements: []corev1.NodeSelectorRequirement{{Key: "kubernetes.io/arch", Operator: "In", Values: []string{"amd64"}}}}}
	class.Status.Conditions = []metav1.Condition{says("SubnetsReady", metav1.ConditionFalse, "No subnet matches the selector of zone us-west-2b", time.Hour)}
	group := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "base", CreationTimestamp: at(400 * time.Hour)}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "base", Mode: tenonv1alpha1.ModeNative}}
	group.Status.Size = &tenonv1alpha1.NodeGroupSize{Min: 1, Max: 5, Desired: 3}
	group.Status.Backoff = &tenonv1alpha1.NodeGroupBackoff{Failures: 2, Since: at(4 * time.Minute), Until: at(-6 * time.Minute)}
	group.Status.Conditions = []metav1.Condition{says(tenonv1alpha1.ConditionBackedOff, metav1.ConditionTrue, "instances did not come twice in a row", 4*time.Minute)}
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "pool-0-abcde", CreationTimestamp: at(3 * time.Hour), Labels: map[string]string{"karpenter.sh/nodepool": "pool-0"}, Annotations: map[string]string{"karpenter.sh/do-not-disrupt": "true"}}}
	claim.Status.NodeName, claim.Status.ProviderID = "node-3", "aws:///us-west-2a/i-0123456789abcdef0"
	claim.Status.Conditions = []metav1.Condition{
		says(karpenterv1.ConditionLaunched, metav1.ConditionTrue, "", 3*time.Hour-2*time.Second), says(karpenterv1.ConditionRegistered, metav1.ConditionTrue, "", 3*time.Hour-31*time.Second),
		says(karpenterv1.ConditionInitialized, metav1.ConditionTrue, "", 3*time.Hour-40*time.Second), says(karpenterv1.ConditionDisruptable, metav1.ConditionFalse, "Pod shop/web-3-0 must not be evicted", time.Minute),
	}
	failing := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "pool-2-xyz", CreationTimestamp: at(4 * time.Minute), Labels: map[string]string{"karpenter.sh/nodepool": "pool-2"}}}
	failing.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionLaunched, Status: metav1.ConditionUnknown, Reason: "LaunchFailed", Message: "RunInstances: InsufficientInstanceCapacity in us-west-2a", LastTransitionTime: at(3 * time.Minute)}}
	state.Publish(time.Now().Add(-time.Minute), &catalog.Catalog{Types: []catalog.Type{{Name: "m5.large", Capacity: model.Resources{CPU: 2000, Memory: 8 << 30}, Offerings: []catalog.Offering{
		{Zone: "us-west-2a", CapacityType: "on-demand", Price: model.MoneyFromFloat(0.1), Available: true}, {Zone: "us-west-2a", CapacityType: "spot", Price: model.MoneyFromFloat(0.04), Available: true},
		{Zone: "us-west-2b", CapacityType: "spot", Price: model.MoneyFromFloat(0.03), Outage: &catalog.Outage{Since: time.Now().Add(-5 * time.Minute), Until: time.Now().Add(3 * time.Minute)}},
	}}}})
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "e1"}, InvolvedObject: corev1.ObjectReference{Kind: "NodePool", Name: "pool-1"}, Type: corev1.EventTypeWarning, Reason: "LimitReached", Message: "3 pods wait for nodes that the limit of cpu forbids", LastTimestamp: at(5 * time.Minute), Source: corev1.EventSource{Component: "karpenter"}}
	unconsolidatable := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "e2"}, InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: "node-3"}, Reason: "Unconsolidatable", Message: "Pod shop/web-3-0 must not be evicted", LastTimestamp: at(time.Minute), Source: corev1.EventSource{Component: "karpenter"}}
	for _, o := range []any{pool, class, group, claim, failing, event, unconsolidatable} {
		state.Put(o)
	}
}

// recorded is a journal in which every snapshot is of an empty cluster.
type recorded struct{ journal.File }

// Contents implements journal.Source.
func (recorded) Contents(_ context.Context, _ string, w io.Writer) error {
	return snapshot.Write(w, &snapshot.Snapshot{})
}

var links = []dashboard.Link{{Name: "Grafana", Of: "node", Address: "https://grafana.example/d/node?var-node={node}"}, {Name: "Logs", Of: "pod", Address: "https://logs.example/?q={namespace}/{pod}"}}

// prices are what Prometheus says: a price that rises for a day.
func prices(_ context.Context, query string, from, until time.Time, step time.Duration) (map[int64]float64, error) {
	out := map[int64]float64{}
	for at := from; at.Before(until); at = at.Add(step) {
		out[at.Unix()] = at.Sub(from).Hours() / 10
		if strings.Contains(query, "idle") {
			out[at.Unix()] /= 4
		}
	}
	return out, nil
}

// browser is Chromium with the dashboard open in it, and what went wrong there.
type browser struct {
	context.Context

	address string
	mu      sync.Mutex
	wrong   []string

	axe   string
	found []finding
}

func (b *browser) fault(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
}

// opened serves the dashboard and opens it. Without Chromium the test is skipped, and says so.
func opened(t testing.TB, state *view.State) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("skipped: there is no chromium; the package of that name has it")
	}
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	pages := dashboard.New(dashboard.Options{Title: "lab", Fleet: state.Fleet, Problems: func() []string { return nil }, Details: state.Details, Market: state.Market, Console: aws.Cloud().Builtin.Console, Journal: recorded{journal.File(file)}, Clock: time.Now,
		Links: links, Prometheus: prices,
		Try: cli.Try(cli.Env{LookupEnv: func(string) (string, bool) { return "", false }, Cloud: aws.Cloud()})})
	go pages.Remember(t.Context())
	server := httptest.NewServer(pages.Handler())
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(2*time.Minute))
	limit, end := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(end)
	allocator, stop := chromedp.NewExecAllocator(limit, options...)
	t.Cleanup(stop)
	b := &browser{address: server.URL, axe: axe(t)}
	tab, leave := chromedp.NewContext(allocator, chromedp.WithListener(b.listen))
	t.Cleanup(leave)
	b.Context = tab
	b.do(t, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(server.URL))
	return b
}

// listen notes errors of the console and requests that leave this machine.
func (b *browser) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.fault("an exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.fault("the console says: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		b.fault("the console is written to: %s", e.Type)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.address+"/") {
			b.fault("a request goes to %s", e.Request.URL)
		}
	}
}

func (b *browser) do(t testing.TB, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b, actions...); err != nil {
		t.Fatal(err)
	}
}

// read evaluates an expression in the page.
func read[T any](t testing.TB, b *browser, expression string) T {
	t.Helper()
	value, err := chromedp.Run(b, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// shows waits until the page has a text, and fails with what it has instead.
func (b *browser) shows(t testing.TB, want string) {
	t.Helper()
	is := fmt.Sprintf("document.getElementById('main').innerText.includes(%q)", want)
	if _, err := chromedp.Run(b, chromedp.Poll[bool](is, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(30*time.Second))); err != nil {
		t.Fatalf("the page lacks %q (%v); it says:\n%s", want, err, read[string](t, b, "document.getElementById('main').innerText"))
	}
}

// look sets the screen and the colours that the user prefers.
func (b *browser) look(t testing.TB, width, height int64, colours string) {
	t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}}}
	if _, err := chromedp.Call(b, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.EmulateViewport(width, height))
}

func (b *browser) picture(t testing.TB, name string) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	image, err := chromedp.Run(b, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), image, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPagesInChromium checks what each page shows, that names are text, that no page is wider than the
// screen, and that neither the console nor the network reports anything.
func TestPagesInChromium(t *testing.T) {
	b := opened(t, cluster(12, 8))
	views := []struct {
		name          string
		width, height int64
		colours       string
	}{{"light", 1280, 900, "light"}, {"dark", 1280, 900, "dark"}, {"narrow", 400, 800, "light"}}
	pages := []struct {
		hash string
		want []string
	}{
		{"fleet", []string{"2.400 USD/h", "1 pending", "38 % used", "pool-0"}},
		{"pending", []string{"shop", "<b>12 Insufficient cpu</b>"}},
		{"nodes", []string{"13 nodes", "node-11"}},
		{"nodes/pool-1", []string{"4 nodes", "node-10"}},
		{"node/node-3", []string{"web-3-0", "spot", "3 really used", "Grafana ↗", "Logs ↗", "disruption: 1 node to give up", "Launched after 2 s, registered after 31 s, initialized after 40 s.", "Pod shop/web-3-0 must not be evicted", "karpenter.sh/do-not-disrupt", "karpenter.sh/capacity-type", "i-0123456789abcdef0 ↗"}},
		{"node/pool-2-xyz", []string{"Launched is Unknown: LaunchFailed", "InsufficientInstanceCapacity"}},
		{"pool/pool-1", []string{"LimitReached is True", "0.800 USD/h", "80 %", "At the same time may go: 2 empty, 0 drifted", "not active", "This changes at", "Budgets in the next week", "fewer may", "<i>shop</i>", "4 nodes"}},
		{"group/base", []string{"BackedOff is True", "3 wanted, 1 to 5", "2 times in a row", "It has no node."}},
		{"class/EC2NodeClass/default", []string{"SubnetsReady is False", "Pools that use it: pool-1", "usw2-az1", "ami-0123456789"}},
		{"class/EC2NodeClass/gone", []string{"There is no such class now"}},
		{"zone/us-west-2b", []string{"Zone us-west-2b", "6 nodes", "1.200 USD/h", "node-1"}},
		{"cost", []string{"Month", "By namespace", "shop", "Decisions that change the price", "−0.200 USD/h"}},
		{"decisions", []string{"disruption: 1 node to give up", "provisioner: 1 new node"}},
		{"decisions/2", []string{"1 × m5.large spot in us-west-2a, pool default", "0.1900 USD/h: no plan costs less", "shop/big: no instance type has 900 CPU", "launch made default-x7k2p", "decision-2.json", "Decide again"}},
		{"decisions/4", []string{"node-3 (delete, Underutilized)", "5 × NotWorthIt"}},
		{"market", []string{"No interruption has been seen.", "by what the journal's decisions paid", "0.2000", "Out of stock now", "m5.large", "spot", "5 min", "1 of 2", "0.1000"}},
		{"whatif", []string{"What if …", "a workload had so many replicas"}},
		{"events", []string{"NodePool pool-1", "LimitReached", "Unconsolidatable"}},
	}
	for _, v := range views {
		b.look(t, v.width, v.height, v.colours)
		for _, p := range pages {
			read[string](t, b, fmt.Sprintf("location.hash = '#/%s'", p.hash))
			for _, want := range p.want {
				b.shows(t, want)
			}
			if wide := read[int64](t, b, "document.documentElement.scrollWidth"); wide > v.width {
				t.Errorf("%s at %d px is %d px wide", p.hash, v.width, wide)
			}
			if hidden := read[int64](t, b, "Math.max(0, ...[...document.querySelectorAll('.scroll')].map(s => s.scrollWidth - s.clientWidth))"); v.name == "narrow" && hidden > 0 {
				t.Errorf("%s at %d px hides %d px of a table", p.hash, v.width, hidden)
			}
			b.accessible(t, v.name+" "+p.hash)
			b.picture(t, v.name+"-"+strings.ReplaceAll(p.hash, "/", "-"))
		}
	}
	for key, want := range map[string]string{"3": "13 nodes", "5": "Decisions", "6": "What if …"} {
		b.do(t, chromedp.KeyEvent(key))
		b.shows(t, want)
	}
	b.colours(t)
	b.keepTheMap(t)
	b.askPrometheus(t)
	b.chooseAPool(t)
	b.askAboutANode(t)
	b.decideAgain(t)
	b.ask(t)
	b.report(t)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.wrong {
		t.Error(text)
	}
}

// colours checks that the map has a key for everything that nodes can be coloured by.
func (b *browser) colours(t testing.TB) {
	t.Helper()
	read[string](t, b, "location.hash = '#/fleet'")
	for by, want := range map[string]string{"price": "0.2000 USD/h", "age": "new", "zone": "us-west-2a", "capacity": "spot", "use": "pale is idle", "state": "must not go"} {
		read[bool](t, b, fmt.Sprintf("colour = %q, draw(), true", by))
		b.shows(t, want)
		b.picture(t, "colour-"+by)
	}
}

// keepTheMap checks that the map of a zone can be drawn as SVG, with its nodes and with names as text.
func (b *browser) keepTheMap(t testing.TB) {
	t.Helper()
	read[string](t, b, "location.hash = '#/zone/us-west-2b'")
	b.shows(t, "Zone us-west-2b")
	drawn := read[string](t, b, `mapSVG(document.querySelector("canvas"), state.pools, "us-west-2b")`)
	if !strings.HasPrefix(drawn, "<svg xmlns=") || strings.Count(drawn, "<rect") < 6*8 || !strings.Contains(drawn, ">node-1  m5.large</text>") || strings.Contains(drawn, "node-2 ") {
		t.Errorf("the map as SVG is %.300s", drawn)
	}
	if *screenshots != "" {
		if err := os.WriteFile(filepath.Join(*screenshots, "map.svg"), []byte(drawn), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if kind := read[string](t, b, `document.querySelector("canvas").toDataURL().slice(0, 14)`); kind != "data:image/png" {
		t.Errorf("the map as a picture begins with %s", kind)
	}
}

// askPrometheus makes the page Cost show the price of a month.
func (b *browser) askPrometheus(t testing.TB) {
	t.Helper()
	read[string](t, b, "location.hash = '#/cost'")
	b.shows(t, "Month")
	read[bool](t, b, `document.getElementById("span-month").click() || true`)
	b.shows(t, "highest 7")
	b.accessible(t, "cost of a month")
	b.picture(t, "cost-month")
}

// chooseAPool makes the page Market say which types a pool may buy. The snapshot has no pool.
func (b *browser) chooseAPool(t testing.TB) {
	t.Helper()
	read[string](t, b, "location.hash = '#/market'")
	b.shows(t, "Instance types")
	choose := func(fit string) {
		read[bool](t, b, `(() => { const s = document.getElementById("market-pool"); s.value = "pool-1"; s.dispatchEvent(new Event("change")); return true; })()`)
		b.shows(t, "has no pool pool-1")
		read[bool](t, b, "Object.assign(sold, {fit: "+fit+"}), draw(), true")
	}
	choose(`{decision: 2, types: {"m5.large": "the pool asks for kubernetes.io/arch In arm64, and it is amd64"}}`)
	b.shows(t, "the pool asks for kubernetes.io/arch In arm64")
	b.shows(t, "0 types may be bought for pool pool-1, by the snapshot of decision 2")
	b.accessible(t, "market of a pool")
	b.picture(t, "market-pool")
	choose(`{decision: 2, types: {"m5.large": ""}}`)
	b.shows(t, "1 type may be bought for pool pool-1")
	read[bool](t, b, `Object.assign(sold.value.spot, {prices: [{type: "m5.large", zone: "us-west-2a", now: 0.04, least: 0.03, most: 0.05, changes: 3, at: 1}], returned: [{type: "m5.large", zone: "us-west-2b", count: 2, advised: 1, last: 1, running: 4}]}), draw(), true`)
	b.shows(t, "0.0500")
	b.shows(t, "Advised to leave")
	b.accessible(t, "market with interruptions")
	b.picture(t, "market-spot")
}

// askAboutANode checks that a node's page leads to the question what would be without the node.
func (b *browser) askAboutANode(t testing.TB) {
	t.Helper()
	read[string](t, b, "location.hash = '#/node/node-3'")
	b.shows(t, "What if it were not there?")
	read[bool](t, b, `[...document.querySelectorAll("#main a")].find(a => a.textContent === "What if it were not there?").click() || true`)
	b.shows(t, "What if …")
	if got := read[string](t, b, "document.getElementById('without').value + ' ' + location.hash"); got != "node/node-3 #/whatif" {
		t.Errorf("the question is %q", got)
	}
	read[string](t, b, "document.getElementById('without').value = ''")
}

// decideAgain makes the page Decisions repeat a decision whose snapshot is not the one that it was made from.
func (b *browser) decideAgain(t testing.TB) {
	t.Helper()
	read[string](t, b, "location.hash = '#/decisions/2'")
	b.shows(t, "Decide again")
	read[bool](t, b, "document.getElementById('again').click() || true")
	b.shows(t, "Another plan: this version decides otherwise")
}

// ask makes the page What-if try a pool that does not exist yet. It checks the answer, that the input
// stays while the fleet changes, and the message about a question that cannot be read.
func (b *browser) ask(t testing.TB) {
	t.Helper()
	put := func(manifests string) {
		read[string](t, b, fmt.Sprintf("document.getElementById('manifests').value = %q", manifests))
		read[bool](t, b, "document.querySelector('#main form button').click() || true")
	}
	read[string](t, b, "location.hash = '#/whatif'")
	b.shows(t, "What if …")
	put(pool)
	for _, want := range []string{"Difference", "Fleet an hour", "What if: with these objects", "By the snapshot of decision 2"} {
		b.shows(t, want)
	}
	b.picture(t, "narrow-whatif-answer")
	read[bool](t, b, "draw() || true")
	if text := read[string](t, b, "document.getElementById('manifests').value"); text != pool {
		t.Errorf("what was typed is now %q", text)
	}
	b.look(t, 1280, 900, "dark")
	b.picture(t, "dark-whatif-answer")
	put("kind: NodePool\nspec: {")
	b.shows(t, "document 1")
	b.mu.Lock()
	defer b.mu.Unlock()
	refused := func(text string) bool { return strings.Contains(text, "422") } // which browsers tell their console
	b.wrong = slices.DeleteFunc(b.wrong, refused)
}

const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: cheap}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}
`

// TestLongTableInChromium checks that a table of 2,000 nodes has elements for the rows near the screen alone, wherever it is
// scrolled to, and that drawing the page again makes only those rows anew whose nodes have changed.
func TestLongTableInChromium(t *testing.T) {
	b := opened(t, cluster(2000, 3))
	read[string](t, b, "location.hash = '#/nodes'")
	b.shows(t, "2,001 nodes")
	bounded := func(when string) {
		t.Helper()
		if n := read[int](t, b, "main.querySelectorAll('*').length"); n > 3600 {
			t.Errorf("%s, the page has %d elements", when, n)
		}
		b.accessible(t, "2,001 nodes, "+when)
	}
	bounded("at the top")
	// changed counts the rows that an action adds.
	changed := func(action string) int {
		t.Helper()
		return read[int](t, b, `(() => {
			const seen = new MutationObserver(() => {});
			seen.observe(main, {childList: true, subtree: true});
			`+action+`;
			return seen.takeRecords().flatMap(r => [...r.addedNodes]).filter(n => n.nodeName === "TR" || n.querySelector && n.querySelector("tr")).length;
		})()`)
	}
	if n := changed("draw()"); n != 0 {
		t.Errorf("drawing the same nodes again adds %d rows", n)
	}
	if n := changed(`state.nodes.set("node-3", {...state.nodes.get("node-3"), cordoned: true}); draw()`); n != 1 {
		t.Errorf("drawing a node that changed adds %d rows", n)
	}
	b.shows(t, "Cordoned")
	for range 3 { // rows become known by their height when they are near
		read[bool](t, b, "(scrollTo(0, document.documentElement.scrollHeight), true)")
		b.shows(t, "node-1999")
	}
	bounded("at the end")
	read[bool](t, b, `(() => { document.getElementById("by-name").click(); scrollTo(0, 0); return true; })()`)
	b.shows(t, "pool-2-xyz")
	bounded("turned around")
	read[bool](t, b, `(() => { const f = document.getElementById("filter"); f.value = "node-1234"; f.dispatchEvent(new Event("input")); return true; })()`)
	b.shows(t, "1 node\n")
	if rows := read[int](t, b, "main.querySelectorAll('tbody tr').length"); rows != 1 {
		t.Errorf("the filter leaves %d rows", rows)
	}
	read[bool](t, b, `(filter = "", sorting.down = false, true)`)
	b.report(t)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.wrong {
		t.Error(text)
	}
}

// BenchmarkLargeFleet measures 2,000 nodes with 60,000 pods: how long Chromium is busy with drawing a page once, and how
// much memory its scripts and elements hold.
func BenchmarkLargeFleet(b *testing.B) {
	tab := opened(b, cluster(2000, 30))
	tab.shows(b, "Price now")
	for _, page := range []string{"fleet", "nodes", "cost"} {
		b.Run(page, func(b *testing.B) {
			read[string](b, tab, fmt.Sprintf("location.hash = '#/%s'", page))
			tab.shows(b, map[string]string{"fleet": "Price now", "nodes": "2,001 nodes", "cost": "By namespace"}[page])
			took, times := 0.0, 0.0
			for b.Loop() {
				times++
				took += read[float64](b, tab, `(() => {
					const began = performance.now();
					draw();
					const canvas = document.querySelector("canvas");
					if (canvas) map(canvas);
					document.body.offsetHeight;
					return performance.now() - began;
				})()`)
			}
			b.ReportMetric(took/times, "ms/frame")
			held, err := chromedp.Call(tab, runtime.GetHeapUsage, cdp.Empty{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric((held.UsedSize+held.EmbedderHeapUsedSize+held.BackingStorageSize)/(1<<20), "MiB")
		})
	}
}
