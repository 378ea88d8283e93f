package view

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/internal/ingest"
	"tenon/internal/intervention"
)

// State follows the objects of a cluster and returns pictures of them. Its methods may be called
// concurrently.
type State struct {
	mu   sync.Mutex
	book *book
	// published is when the controller published the prices in the book.
	published time.Time
	catalogs  []*catalog.Catalog
	// currency returns the currency of the prices in a region; nil if it is not known.
	currency  func(region string) string
	discounts Discounts
	// plans are savings plans, and covered is what they cover now.
	plans    []SavingsPlan
	covered  coverage
	revision uint64
	made     *Fleet // the last picture

	managed bool
	nodes   map[string]*Node // by name, without pods and prices
	claims  map[string]*Node
	pools   map[string]*Pool
	groups  map[string]*Pool // of NodeGroups, by the name of the object
	pods    map[string]*Pod  // by key
	waiting map[string]*Pod  // those without a node, by key
	// at holds the pods of each node; built holds nodes as they were last shown, by key of pair. A change
	// of the node, its claim or a pod removes the entry.
	at    map[string]map[string]*Pod
	built map[string]*Node
	// told holds the events about pods, by pod, and log holds the events about nodes.
	told map[string]told
	log  map[string]Notice
	// used is what nodes really use, by name; nil if that is not measured.
	used map[string]model.Resources
	// overlays are the NodeOverlays, by name.
	overlays map[string]*karpenterv1alpha1.NodeOverlay
	// details are the contents of the pages of single objects, by kind and name.
	details map[string]*Details
}

// told holds the newest event about a pod from the node autoscaler, and the newest one from the
// scheduler.
type told struct{ ours, theirs Notice }

// NewState makes an empty State.
func NewState(prices Prices) *State {
	return &State{
		book: newBook(prices), nodes: map[string]*Node{}, claims: map[string]*Node{}, pools: map[string]*Pool{}, groups: map[string]*Pool{}, pods: map[string]*Pod{}, waiting: map[string]*Pod{},
		at: map[string]map[string]*Pod{}, built: map[string]*Node{}, told: map[string]told{}, log: map[string]Notice{}, details: map[string]*Details{},
		overlays: map[string]*karpenterv1alpha1.NodeOverlay{},
	}
}

// PricedIn sets the function that returns the currency of the prices in a region, or, without a region, that of most
// regions. All prices in one cluster have one currency.
func (s *State) PricedIn(currency func(region string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.currency, s.made = currency, nil
}

// Publish takes the market that the controller published at a time: the offerings of its node classes. The time
// is zero if nothing was published.
func (s *State) Publish(at time.Time, catalogs ...*catalog.Catalog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.published.Equal(at) {
		return
	}
	s.published, s.catalogs = at, catalogs
	s.book.market = map[offer]model.Money{}
	for _, sells := range catalogs {
		enter(s.book.market, sells)
	}
	s.built, s.made = map[string]*Node{}, nil
	s.revision++
}

// Measure takes what nodes really use, by name; nil if that is not measured. State keeps the map.
func (s *State) Measure(used map[string]model.Resources) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(used) == 0 && len(s.used) == 0 {
		return
	}
	for name := range s.nodes {
		if !s.used[name].Equal(used[name]) {
			s.drop(name)
		}
	}
	s.used = used
	s.revision++
}

// Put takes a new or changed object. State does not keep the object.
func (s *State) Put(object any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	switch o := object.(type) {
	case *corev1.Node:
		s.nodes[o.Name] = nodeOf(o)
		s.know(detailsOfNode(o))
		s.drop(o.Name)
	case *karpenterv1.NodeClaim:
		s.managed = true
		s.drop(s.shownAs(o.Name))
		s.claims[o.Name] = claimOf(o)
		s.know(detailsOfClaim(o))
		s.drop(s.shownAs(o.Name))
	case *karpenterv1.NodePool:
		s.managed = true
		s.pools[o.Name] = poolOf(o)
		s.know(detailsOfPool(o))
	case *tenonv1alpha1.NodeGroup:
		s.groups[o.Name] = poolOfGroup(o)
		s.know(detailsOfGroup(o))
	case *awsv1.EC2NodeClass:
		s.know(detailsOfClass(o))
	case *karpenterv1alpha1.NodeOverlay:
		s.overlays[o.Name] = o.DeepCopy()
		s.overlay()
	case *corev1.Pod:
		s.take(podOf(o))
	case *corev1.Event:
		s.hear(o)
	}
}

// Delete forgets an object.
func (s *State) Delete(object any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	switch o := object.(type) {
	case *corev1.Node:
		delete(s.nodes, o.Name)
		delete(s.details, "Node/"+o.Name)
		s.drop(o.Name)
	case *karpenterv1.NodeClaim:
		s.drop(s.shownAs(o.Name))
		delete(s.claims, o.Name)
		delete(s.details, "NodeClaim/"+o.Name)
	case *karpenterv1.NodePool:
		delete(s.pools, o.Name)
		delete(s.details, "NodePool/"+o.Name)
	case *tenonv1alpha1.NodeGroup:
		delete(s.groups, o.Name)
		delete(s.details, "NodeGroup/"+o.Name)
	case *awsv1.EC2NodeClass:
		delete(s.details, "EC2NodeClass/"+o.Name)
	case *karpenterv1alpha1.NodeOverlay:
		delete(s.overlays, o.Name)
		s.overlay()
	case *corev1.Pod:
		s.forget(o.Namespace + "/" + o.Name)
	case *corev1.Event:
		delete(s.log, o.Namespace+"/"+o.Name)
	}
}

// overlay prices all nodes anew by the present NodeOverlays.
func (s *State) overlay() {
	s.book.overlay = ingest.NewNodePrices(slices.Collect(maps.Values(s.overlays)))
	s.built, s.made = map[string]*Node{}, nil
}

func (s *State) know(d *Details) {
	for i := range d.Sections {
		for j := range d.Sections[i].Facts {
			f := &d.Sections[i].Facts[j]
			f.Name, f.Value = visible(f.Name), visible(f.Value)
		}
	}
	for i := range d.Conditions {
		c := &d.Conditions[i]
		c.Type, c.Status, c.Reason, c.Message = visible(c.Type), visible(c.Status), visible(c.Reason), visible(c.Message)
	}
	s.details[d.Kind+"/"+d.Name] = d
}

// Revision increases with every change, and so shows whether a picture is out of date.
func (s *State) Revision() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// shownAs returns the key under which the node of a claim is built: the node's name once it has one.
func (s *State) shownAs(claim string) string {
	if c := s.claims[claim]; c != nil && c.Name != "" {
		return c.Name
	}
	return claimKey(claim)
}

// claimKey returns a key that cannot be the name of a node.
func claimKey(claim string) string { return "/" + claim }

func (s *State) drop(node string) {
	delete(s.built, node)
	s.made = nil
}

func (s *State) take(p *Pod) {
	s.forget(p.Key())
	if p.Phase == string(corev1.PodSucceeded) || p.Phase == string(corev1.PodFailed) {
		delete(s.told, p.Key())
		return
	}
	s.pods[p.Key()] = p
	if p.Node == "" {
		s.waiting[p.Key()] = p
		return
	}
	delete(s.told, p.Key())
	if s.at[p.Node] == nil {
		s.at[p.Node] = map[string]*Pod{}
	}
	s.at[p.Node][p.Key()] = p
	s.drop(p.Node)
}

func (s *State) forget(key string) {
	s.made = nil
	old := s.pods[key]
	if old == nil {
		return
	}
	delete(s.pods, key)
	delete(s.waiting, key)
	if old.Node != "" {
		delete(s.at[old.Node], key)
		s.drop(old.Node)
	}
}

// component is the source of events of Karpenter and of Tenon.
const component = "karpenter"

// kinds lists the kinds of objects whose events are shown beside the fleet.
var kinds = []string{"Node", "NodeClaim", "NodePool", "NodeGroup"}

// hear keeps the newest event about each pending pod, and the events about nodes.
func (s *State) hear(e *corev1.Event) {
	about := e.InvolvedObject
	ours := e.Source.Component == component || e.ReportingController == component || e.Source.Component == intervention.EventSource
	at := e.LastTimestamp.Time
	if at.IsZero() {
		at = e.EventTime.Time
	}
	if at.IsZero() {
		at = e.CreationTimestamp.Time
	}
	notice := Notice{Kind: about.Kind, Name: visible(about.Name), Reason: visible(e.Reason), Message: visible(e.Message), At: at, Warning: e.Type == corev1.EventTypeWarning}
	switch {
	case about.Kind == "Pod" && (e.Reason == "FailedScheduling" || e.Reason == "Nominated"):
		key := about.Namespace + "/" + about.Name
		if p := s.pods[key]; p != nil && p.Node != "" {
			return
		}
		t := s.told[key]
		if ours {
			t.ours = newer(t.ours, notice)
		} else {
			t.theirs = newer(t.theirs, notice)
		}
		s.told[key], s.made = t, nil
	case ours && slices.Contains(kinds, about.Kind):
		s.log[e.Namespace+"/"+e.Name], s.made = notice, nil
	}
}

func newer(a, b Notice) Notice {
	if b.At.Before(a.At) {
		return a
	}
	return b
}

// mostNotices is how many of the newest events are shown.
const mostNotices = 200

func (s *State) notices() []Notice {
	out := make([]Notice, 0, len(s.log))
	for _, n := range s.log {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b Notice) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Message, b.Message))
	})
	return out[:min(len(out), mostNotices)]
}
