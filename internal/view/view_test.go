package view

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/internal/cost"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// shop is a catalogue with two types in one zone of one region.
func shop(region string) *catalog.Catalog {
	if region != "us-west-2" {
		return nil
	}
	offering := func(kind string, price float64) catalog.Offering {
		return catalog.Offering{Zone: "us-west-2a", CapacityType: kind, Price: model.MoneyFromFloat(price), Available: true}
	}
	return &catalog.Catalog{Types: []catalog.Type{
		{Name: "m5.large", Offerings: []catalog.Offering{offering("on-demand", 0.10), offering("spot", 0.04)}},
		{Name: "m5.xlarge", Offerings: []catalog.Offering{offering("on-demand", 0.20)}},
		{Name: "odd", Offerings: []catalog.Offering{{Zone: "us-west-2a", CapacityType: "on-demand", Unpriced: true}}},
	}}
}

func quantities(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourcePods: resource.MustParse("29")}
}

func node(name string, labels ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(noon), Labels: map[string]string{
		corev1.LabelInstanceTypeStable: "m5.large", corev1.LabelTopologyZone: "us-west-2a", karpenterv1.LabelCapacityType: "on-demand",
	}}}
	for i := 0; i < len(labels); i += 2 {
		n.Labels[labels[i]] = labels[i+1]
	}
	n.Status.Allocatable = quantities("2", "8Gi")
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

func pod(name, on, cpu, memory string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(noon)}, Spec: corev1.PodSpec{NodeName: on}}
	p.Spec.Containers = []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}}}}
	p.Status.Phase = corev1.PodRunning
	if on == "" {
		p.Status.Phase = corev1.PodPending
	}
	return p
}

func daemon(name, on string) *corev1.Pod {
	p := pod(name, on, "200m", "1Gi")
	yes := true
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "1", Controller: &yes}}
	return p
}

// TestNodesArePriced checks where the price of a node comes from.
func TestNodesArePriced(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		labels []string
		want   string
	}{
		"on-demand":                         {nil, "0.1 catalogue"},
		"spot":                              {[]string{karpenterv1.LabelCapacityType, "spot"}, "0.04 catalogue"},
		"another zone":                      {[]string{corev1.LabelTopologyZone, "us-west-2c"}, "0.1 estimate"},
		"a reservation costs what it costs": {[]string{karpenterv1.LabelCapacityType, "reserved"}, "0.1 catalogue"},
		"nothing says how it is paid for":   {[]string{karpenterv1.LabelCapacityType, ""}, "0.1 estimate"},
		"a managed node group's spot":       {[]string{karpenterv1.LabelCapacityType, "", "eks.amazonaws.com/capacityType", "SPOT"}, "0.04 catalogue"},
		"the label of a simulator":          {[]string{PriceLabel, "1.25"}, "1.25 label"},
		"a label that is no price":          {[]string{PriceLabel, "much"}, "0.1 catalogue"},
		"Fargate":                           {[]string{"eks.amazonaws.com/compute-type", "fargate"}, "0 "},
		"a type without a price":            {[]string{corev1.LabelInstanceTypeStable, "odd"}, "0 "},
		"a type that is not known":          {[]string{corev1.LabelInstanceTypeStable, "z9.huge"}, "0 "},
		"a region that is not known":        {[]string{corev1.LabelTopologyRegion, "moon-1"}, "0 "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewState(shop)
			s.Put(node("a", tc.labels...))
			f := s.Fleet()
			if got := fmt.Sprint(f.Nodes[0].Price, " ", f.Nodes[0].Source); got != tc.want {
				t.Errorf("price %s, want %s", got, tc.want)
			}
			if unpriced := strings.HasSuffix(tc.want, " "); (f.Total.Unpriced == 1) != unpriced {
				t.Errorf("%d nodes count as unpriced", f.Total.Unpriced)
			}
		})
	}
}

// TestRecordedPrices checks that a claim's price counts, unless the node's own label has one.
func TestRecordedPrices(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ said, label, want string }{
		"what it was bought for": {"0.0321", "", "0.0321 controller"},
		"what is no price":       {"dear", "", "0.1 catalogue"},
		"the node's own label":   {"0.0321", "1.25", "1.25 label"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n := NewState(shop), node("a")
			if tc.label != "" {
				n.Labels[PriceLabel] = tc.label
			}
			s.Put(n)
			claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Annotations: map[string]string{karpenterv1.AnnotationPrice: tc.said}}}
			claim.Status.NodeName = n.Name
			s.Put(claim)
			if got := fmt.Sprint(s.Fleet().Nodes[0].Price, " ", s.Fleet().Nodes[0].Source); got != tc.want {
				t.Errorf("price %s, want %s", got, tc.want)
			}
		})
	}
}

// TestPublishedPrices checks which nodes have the price that the controller published, and that prices change when it
// publishes others.
func TestPublishedPrices(t *testing.T) {
	t.Parallel()
	market := func(price float64) *catalog.Catalog {
		out := shop("us-west-2")
		for i := range out.Types[0].Offerings {
			out.Types[0].Offerings[i].Price = model.MoneyFromFloat(price)
		}
		return out
	}
	for name, tc := range map[string]struct{ capacityType, recorded, label, want, then string }{
		"a spot node that the controller bought": {"spot", "0.03", "", "0.05 market", "0.06 market"},
		"a node that the controller bought":      {"on-demand", "0.03", "", "0.03 controller", "0.03 controller"},
		"a node of a group":                      {"on-demand", "", "", "0.05 market", "0.06 market"},
		"a reservation":                          {"reserved", "", "", "0.1 catalogue", "0.1 catalogue"},
		"the node's own label":                   {"spot", "0.03", "1.25", "1.25 label", "1.25 label"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n := NewState(shop), node("a", karpenterv1.LabelCapacityType, tc.capacityType, PriceLabel, tc.label)
			s.Put(n)
			claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Annotations: map[string]string{karpenterv1.AnnotationPrice: tc.recorded}}}
			claim.Status.NodeName = n.Name
			s.Put(claim)
			priced := func() string { return fmt.Sprint(s.Fleet().Nodes[0].Price, " ", s.Fleet().Nodes[0].Source) }
			s.Publish(noon, market(0.05))
			if got := priced(); got != tc.want || !s.Fleet().Published.Equal(noon) {
				t.Errorf("price %s, want %s", got, tc.want)
			}
			s.Publish(noon.Add(time.Minute), market(0.06))
			if got := priced(); got != tc.then {
				t.Errorf("a minute later price %s, want %s", got, tc.then)
			}
		})
	}
}

// TestFleetsAddUp checks that every dimension of cost adds up to the price of the fleet.
func TestFleetsAddUp(t *testing.T) {
	t.Parallel()
	s := NewState(shop)
	s.Put(node("a", karpenterv1.LabelNodePool, "default"))
	s.Put(node("b", corev1.LabelInstanceTypeStable, "m5.xlarge", "eks.amazonaws.com/nodegroup", "base"))
	s.Put(node("c", karpenterv1.LabelNodePool, "default", karpenterv1.LabelCapacityType, "spot"))
	s.Put(pod("web-1", "a", "1", "2Gi"))
	s.Put(pod("web-2", "b", "3", "16Gi")) // more than the node has
	s.Put(daemon("agent-a", "a"))
	f := s.Fleet()
	if want := model.MoneyFromFloat(0.34); f.Total.Price != want {
		t.Fatalf("price %s, want %s", f.Total.Price, want)
	}
	for _, by := range cost.Dimensions {
		sum := model.Money(0)
		for _, line := range f.Cost(by) {
			sum += line.Price
		}
		if sum != f.Total.Price {
			t.Errorf("by %s it comes to %s, not %s", by, sum, f.Total.Price)
		}
	}
	var got []string
	for _, p := range f.Pools {
		got = append(got, fmt.Sprintf("%s (%s): %d nodes %s", p.Name, p.Kind, p.Total.Nodes, p.Total.Price))
	}
	if diff := cmp.Diff([]string{"base (managed node group): 1 nodes 0.2", "default (NodePool): 2 nodes 0.14"}, got); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
	a := f.Find("a")
	if a.Requested.CPU != 1200 || a.Daemons.CPU != 200 || a.Overhead == 0 || a.Idle <= 0 {
		t.Errorf("node a: requested %+v, daemons %+v, overhead %s, idle %s", a.Requested, a.Daemons, a.Overhead, a.Idle)
	}
	if b := f.Find("b"); b.Idle != 0 || b.Pods[0].Cost != b.Price {
		t.Errorf("node b: idle %s, its pod costs %s", b.Idle, b.Pods[0].Cost)
	}
}

// claim returns a claim in the phase that its conditions describe.
func claim(name, on string, conditions ...string) *karpenterv1.NodeClaim {
	c := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{karpenterv1.LabelNodePool: "default"}}}
	c.Status.NodeName = on
	for _, kind := range conditions {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: metav1.NewTime(noon)})
	}
	return c
}

// TestNodesHaveAPhase checks which phase follows from claim and node together.
func TestNodesHaveAPhase(t *testing.T) {
	t.Parallel()
	deleted := metav1.NewTime(noon)
	cases := map[string]struct {
		node  *corev1.Node
		claim func() *karpenterv1.NodeClaim
		want  string
	}{
		"a claim alone":   {nil, func() *karpenterv1.NodeClaim { return claim("c", "") }, "c Launching"},
		"a machine alone": {nil, func() *karpenterv1.NodeClaim { return claim("c", "", karpenterv1.ConditionLaunched) }, "c Registering"},
		"a node that has joined": {node("n"), func() *karpenterv1.NodeClaim {
			return claim("c", "n", karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered)
		}, "n Initializing"},
		"a node that is ready":   {node("n"), func() *karpenterv1.NodeClaim { return claim("c", "n", karpenterv1.ConditionInitialized) }, "n Ready"},
		"a node without a claim": {node("n"), nil, "n Ready"},
		"a node that is going":   {node("n"), func() *karpenterv1.NodeClaim { c := claim("c", "n"); c.DeletionTimestamp = &deleted; return c }, "n Draining"},
		"a machine that is ending": {node("n"), func() *karpenterv1.NodeClaim {
			c := claim("c", "n", karpenterv1.ConditionDrained)
			c.DeletionTimestamp = &deleted
			return c
		}, "n Deleting"},
		"a claim that disruption has chosen": {node("n"), func() *karpenterv1.NodeClaim {
			return claim("c", "n", karpenterv1.ConditionInitialized, karpenterv1.ConditionDisruptionReason)
		}, "n Ready DisruptionReason"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewState(nil)
			if tc.claim != nil {
				s.Put(tc.claim())
			}
			if tc.node != nil {
				s.Put(tc.node)
			}
			f := s.Fleet()
			if len(f.Nodes) != 1 {
				t.Fatalf("%d nodes", len(f.Nodes))
			}
			n := f.Nodes[0]
			if got := strings.TrimSpace(fmt.Sprint(n.Name, " ", n.Phase, " ", n.Going)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func heard(from, reason, message string, minute int) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: from + reason + message, Namespace: "shop"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "p"},
		Reason: reason, Message: message, Source: corev1.EventSource{Component: from}, LastTimestamp: metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute)),
	}
}

// TestPendingPodsHaveAReason checks which of several reasons is shown.
func TestPendingPodsHaveAReason(t *testing.T) {
	t.Parallel()
	unschedulable := pod("p", "", "1", "1Gi")
	unschedulable.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}}
	gated := pod("p", "", "1", "1Gi")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}}
	cases := map[string]struct {
		objects []any
		want    string
	}{
		"nothing is known":              {[]any{pod("p", "", "1", "1Gi")}, "The scheduler has not looked at it yet (the pod)"},
		"a gate":                        {[]any{gated}, "Held by the scheduling gate quota (the pod)"},
		"the scheduler's condition":     {[]any{unschedulable}, "0/3 nodes are available (scheduler)"},
		"the autoscaler knows better":   {[]any{unschedulable, heard("default-scheduler", "FailedScheduling", "no", 2), heard("karpenter", "FailedScheduling", "limit", 1)}, "limit (node autoscaler)"},
		"the newest word counts":        {[]any{heard("karpenter", "Nominated", "on node a", 2), heard("karpenter", "FailedScheduling", "limit", 1), unschedulable}, "on node a (node autoscaler)"},
		"a word about an earlier pod":   {[]any{heard("karpenter", "FailedScheduling", "old", -9), unschedulable}, "0/3 nodes are available (scheduler)"},
		"other events are not a reason": {[]any{heard("karpenter", "Evicted", "gone", 1), unschedulable}, "0/3 nodes are available (scheduler)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewState(nil)
			for _, o := range tc.objects {
				s.Put(o)
			}
			f := s.Fleet()
			if len(f.Pending) != 1 {
				t.Fatalf("%d pods are pending", len(f.Pending))
			}
			if got := f.Pending[0].Why + " (" + f.Pending[0].Teller + ")"; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestPicturesFollowChanges checks that changed nodes are shown anew, and that unchanged ones stay the
// same values.
func TestPicturesFollowChanges(t *testing.T) {
	t.Parallel()
	s := NewState(shop)
	s.Put(node("a"))
	s.Put(node("b"))
	s.Put(pod("p", "", "1", "1Gi"))
	before := s.Fleet()
	if s.Fleet() != before {
		t.Error("nothing has changed, and there is another picture")
	}
	s.Put(pod("p", "a", "1", "1Gi"))
	after := s.Fleet()
	if len(before.Pending) != 1 || len(after.Pending) != 0 || len(after.Find("a").Pods) != 1 || len(before.Find("a").Pods) != 0 {
		t.Error("a pod that was bound is not shown on its node alone")
	}
	if before.Find("b") != after.Find("b") {
		t.Error("node b did not change and was made anew")
	}
	finished := pod("p", "a", "1", "1Gi")
	finished.Status.Phase = corev1.PodSucceeded
	s.Put(finished)
	if n := s.Fleet().Find("a"); len(n.Pods) != 0 || n.Requested.CPU != 0 {
		t.Error("a pod that has finished still counts")
	}
	s.Delete(node("a"))
	if got := s.Fleet(); got.Find("a") != nil || got.Total.Nodes != 1 {
		t.Error("a deleted node is still shown")
	}
}

// TestNodeGroupsAreShown checks that a NodeGroup is shown with its maximum and its problems, and has the nodes whose labels
// name the same group.
func TestNodeGroupsAreShown(t *testing.T) {
	t.Parallel()
	const label = "eks.amazonaws.com/nodegroup"
	s := NewState(nil)
	managed := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "eks-web-1234"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "eks-web-1234"}}
	managed.Status.Size = &tenonv1alpha1.NodeGroupSize{Max: 5}
	managed.Status.Template = &tenonv1alpha1.NodeGroupTemplate{Labels: map[string]string{label: "web"}}
	plain := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "plain-0123"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "Plain"}}
	plain.Status.Conditions = []metav1.Condition{
		{Type: "Supported", Status: metav1.ConditionFalse, Reason: "WeightedCapacity", Message: "it has weights; take them out"}, {Type: "Ready", Status: metav1.ConditionFalse},
	}
	for _, o := range []any{managed, plain, node("a", label, "web"), node("b")} {
		s.Put(o)
	}
	var got []string
	for _, p := range s.Fleet().Pools {
		got = append(got, fmt.Sprintf("%s %q: %d nodes, limits %v", p.Kind, p.Name, len(p.Nodes), p.Limits))
		for _, n := range p.Notices {
			got = append(got, n.Kind+" "+n.Name+" "+n.Reason+": "+n.Message)
		}
	}
	want := []string{
		`node group "Plain": 0 nodes, limits []`, "NodeGroup plain-0123 WeightedCapacity: it has weights; take them out",
		`managed node group "web": 1 nodes, limits [{nodes 5}]`, ` "": 1 nodes, limits []`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
	s.Delete(managed)
	s.Delete(plain)
	if pools := s.Fleet().Pools; len(pools) != 2 || len(pools[0].Limits) > 0 {
		t.Errorf("after the objects are gone: %d pools, the first with limits %v", len(pools), pools[0].Limits)
	}
}

// TestPricesHaveACurrency checks that the currency is that of the nodes' region, or of most regions while no node has one.
func TestPricesHaveACurrency(t *testing.T) {
	t.Parallel()
	s := NewState(shop)
	if got := s.Fleet().Currency; got != "" {
		t.Errorf("where it is not known: %q", got)
	}
	s.PricedIn(func(region string) string {
		if region == "cn-north-1" {
			return "CNY"
		}
		return "USD"
	})
	if got := s.Fleet().Currency; got != "USD" {
		t.Errorf("without nodes: %q", got)
	}
	s.Put(node("a", corev1.LabelTopologyZone, "cn-north-1a"))
	if got := s.Fleet().Currency; got != "CNY" {
		t.Errorf("in China: %q", got)
	}
	if got := Price(model.Unit/8, 3, "CNY") + ", " + Price(model.Unit/8, 3, ""); got != "0.125 CNY, 0.125" {
		t.Errorf("prices: %s", got)
	}
}

// What others write is shown on terminals, which would obey control characters, such as those that clear the screen, write to the clipboard or turn
// the direction of text: a tenant chooses the
// owners of a pod, a kubelet the facts of its Node and events, and messages quote what AWS and schedulers say.
func TestControlCharactersAreShown(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]52;c;cm0gLXJm\a\x1b[2J\u009b2J\u202eabc\xff line\nnext\ttab"
	s := NewState(shop)
	n := node("a")
	n.Annotations = map[string]string{"tenon.sh/x": evil}
	n.Spec.ProviderID = "aws:///z/" + evil
	n.Status.NodeInfo.KubeletVersion, n.Status.NodeInfo.OSImage = evil, evil
	n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "Odd" + evil, Status: corev1.ConditionTrue, Reason: evil, Message: evil})
	s.Put(n)
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	claim.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionDisruptable, Status: metav1.ConditionFalse, Reason: "Kept", Message: evil}}
	s.Put(claim)
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	pool.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "No", Message: evil}}
	s.Put(pool)
	group := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "g"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: evil}}
	group.Status.Conditions = []metav1.Condition{{Type: "Healthy", Status: metav1.ConditionFalse, Reason: "No", Message: evil}}
	s.Put(group)
	waiting := pod("w", "", "1", "1Gi")
	waiting.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: evil}}
	waiting.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Odd", Name: evil, UID: "1", Controller: new(true)}}
	s.Put(waiting)
	asked := pod("x", "", "1", "1Gi")
	s.Put(asked)
	e := heard("karpenter", "FailedScheduling", evil, 1)
	e.InvolvedObject.Name = "x"
	s.Put(e)
	about := heard("karpenter", evil, evil, 1)
	about.Name, about.InvolvedObject = "about", corev1.ObjectReference{Kind: "Node", Name: evil}
	s.Put(about)
	shown := map[string]any{"fleet": s.Fleet()}
	for kind, name := range map[string]string{"Node": "a", "NodeClaim": "c", "NodePool": "p", "NodeGroup": "g"} {
		d, _ := s.Details(kind, name, noon)
		shown[kind] = d
	}
	for name, what := range shown {
		for _, text := range texts(reflect.ValueOf(what)) {
			if strings.ContainsAny(text, "\x1b\a\u009b\u202e") || !utf8.ValidString(text) {
				t.Errorf("%s shows %q", name, text)
			}
		}
	}
	for _, p := range s.Fleet().Pending {
		if want := `\u001b]52;c;cm0gLXJm\u0007\u001b[2J\u009b2J\u202eabc` + "\ufffd line\nnext\ttab"; p.Why != want {
			t.Errorf("pod %s waits because of %q, want %q", p.Name, p.Why, want)
		}
	}
}

// texts are all strings in a value.
func texts(v reflect.Value) (out []string) {
	switch v.Kind() {
	case reflect.String:
		out = append(out, v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			out = texts(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, texts(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out = append(out, texts(v.Field(i))...)
		}
	}
	return out
}
