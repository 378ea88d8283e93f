package interruption_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instance"
	"tenon/cloud/aws/instanceevents"
	"tenon/cloud/memory"
	"tenon/internal/aws/controller/interruption"
	"tenon/internal/aws/metrics"
	"tenon/internal/departure"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// queue gives messages once, and keeps those that are not deleted.
type queue struct {
	mu       sync.Mutex // messages are handled side by side
	messages []instanceevents.Message
	deleted  int
	err      error
}

func (q *queue) Receive(context.Context) ([]instanceevents.Message, error) { return q.messages, q.err }

func (q *queue) Delete(_ context.Context, m instanceevents.Message) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.messages = slices.DeleteFunc(slices.Clone(q.messages), func(o instanceevents.Message) bool { return o.Body == m.Body })
	q.deleted++
	return nil
}

// shortages notes what it is told.
type shortages struct{ told []string }

func (m *shortages) SpotShort(instanceType, zone string) {
	m.told = append(m.told, "spot "+instanceType+" "+zone)
}
func (m *shortages) ReservationShort(id string) { m.told = append(m.told, "reservation "+id) }

// fixture is a rig with one settled claim.
type fixture struct {
	*harness.Harness
	t        *testing.T
	queue    *queue
	market   *shortages
	metrics  *metrics.Metrics
	c        reconcile.Controller
	instance string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	p := &fixture{Harness: harness.New(t, memory.Options{}, harness.Pool("default")), t: t, queue: &queue{}, market: &shortages{}}
	claim, _ := p.Settled("a", "default", func(c *karpenterv1.NodeClaim) {
		c.Labels[karpenterv1.LabelCapacityType], c.Labels["node.kubernetes.io/instance-type"], c.Labels["topology.kubernetes.io/zone"] = "spot", "m5.large", "z"
		c.Labels[awsv1.LabelCapacityReservationID] = "cr-1"
	})
	var err error
	if p.metrics, _, err = metrics.New(prometheus.NewRegistry()); err != nil {
		t.Fatal(err)
	}
	_, p.instance, _ = instance.Parse(claim.Status.ProviderID)
	p.restart()
	return p
}

// restart makes the controller anew, with the kit as it is.
func (p *fixture) restart() { p.c = interruption.New(p.Kit, p.queue, p.market, p.metrics) }

func (p *fixture) send(kind, source, detail string) {
	p.queue.messages = append(p.queue.messages, instanceevents.Message{Body: fmt.Sprintf(
		`{"version":"0","detail-type":%q,"source":%q,"time":%q,"detail":%s}`, kind, source, p.Clock.Now().UTC().Format(time.RFC3339), detail)})
}

func (p *fixture) deleted() bool { return p.Claim("a").DeletionTimestamp != nil }

// Instances of the memory cloud are called m-…; EC2's are i-….
func (p *fixture) adopt() {
	p.t.Helper()
	claim := p.Claim("a")
	claim.Status.ProviderID = instance.ProviderID("z", "i-1")
	p.Must(p.API.Status().Update(context.Background(), claim))
	p.instance = "i-1"
}

// Every kind of message has its events, what it teaches, and whether the claim goes.
func TestKinds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		kind, source, detail string
		events               []string
		told                 string
		goes                 bool
		metric               string
	}{
		"spot": {"EC2 Spot Instance Interruption Warning", "aws.ec2", `{"instance-id":"i-1"}`,
			[]string{"SpotInterrupted", "TerminatingOnInterruption"}, "spot m5.large z", true, "spot_interrupted"},
		"rebalance": {"EC2 Instance Rebalance Recommendation", "aws.ec2", `{"instance-id":"i-1"}`,
			[]string{"SpotRebalanceRecommendation"}, "", false, "rebalance_recommendation"},
		"stopped": {"EC2 Instance State-change Notification", "aws.ec2", `{"instance-id":"i-1","state":"stopped"}`,
			[]string{"InstanceStopping", "TerminatingOnInterruption"}, "", true, "instance_stopped"},
		"terminated": {"EC2 Instance State-change Notification", "aws.ec2", `{"instance-id":"i-1","state":"terminated"}`,
			[]string{"InstanceTerminating", "TerminatingOnInterruption"}, "", true, "instance_terminated"},
		"health": {"AWS Health Event", "aws.health", `{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"i-1"}]}`,
			[]string{"InstanceUnhealthy", "TerminatingOnInterruption"}, "", true, "scheduled_change"},
		"reservation": {"EC2 Capacity Reservation Instance Interruption Warning", "aws.ec2", `{"instance-id":"i-1"}`,
			[]string{"CapacityReservationInstanceInterrupted", "TerminatingOnInterruption"}, "reservation cr-1", true, "capacity_reservation_interrupted"},
		"running":       {"EC2 Instance State-change Notification", "aws.ec2", `{"instance-id":"i-1","state":"running"}`, nil, "", false, "no_op"},
		"unknown":       {"Something New", "aws.ec2", `{}`, nil, "", false, "no_op"},
		"of a stranger": {"EC2 Spot Instance Interruption Warning", "aws.ec2", `{"instance-id":"i-2"}`, nil, "", false, "spot_interrupted"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newFixture(t)
			p.adopt()
			p.send(tc.kind, tc.source, tc.detail)
			p.Run(p.c, "")
			if p.deleted() != tc.goes || p.queue.deleted != 1 || strings.Join(p.market.told, ";") != tc.told {
				t.Errorf("the claim goes: %t; messages deleted: %d; the market was told %q", p.deleted(), p.queue.deleted, p.market.told)
			}
			events := strings.Join(p.Events(), "\n")
			for _, want := range tc.events {
				if !strings.Contains(events, want) {
					t.Errorf("events are\n%s\nwant %s", events, want)
				}
			}
			if len(tc.events) == 0 && events != "" {
				t.Errorf("events are\n%s", events)
			}
			if n := p.Count(p.metrics.InterruptionReceivedMessagesTotal.WithLabelValues(tc.metric)); n != 1 {
				t.Errorf("%s was counted %v times", tc.metric, n)
			}
		})
	}
}

// A message that cannot be read is deleted, not read for ever.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	p.queue.messages = []instanceevents.Message{{Body: "hello"}, {Body: ""}}
	p.Run(p.c, "")
	if p.queue.deleted != 2 || p.deleted() {
		t.Errorf("%d messages were deleted", p.queue.deleted)
	}
}

// A message whose claim could not be deleted stays; a claim that has changed meanwhile is
// deleted all the same.
func TestTroubleWithTheServer(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	p.adopt()
	p.send("EC2 Spot Instance Interruption Warning", "aws.ec2", `{"instance-id":"i-1"}`)
	p.Fail(func(c harness.Call) error {
		if c.Verb == "delete" {
			return harness.ErrBroken
		}
		return nil
	})
	if _, err := p.c.Reconcile(t.Context(), reconcile.Key{}); !errors.Is(err, harness.ErrBroken) || p.queue.deleted != 0 {
		t.Errorf("error %v, %d messages deleted; want the message to stay", err, p.queue.deleted)
	}
	conflicts := 0
	p.Fail(func(c harness.Call) error {
		if c.Verb == "delete" && conflicts == 0 {
			conflicts++
			return harness.Conflict(c)
		}
		return nil
	})
	p.Run(p.c, "")
	if !p.deleted() || p.queue.deleted != 1 {
		t.Errorf("the claim goes: %t; messages deleted: %d", p.deleted(), p.queue.deleted)
	}
	p.queue.err = errors.New("down")
	if _, err := p.c.Reconcile(t.Context(), reconcile.Key{}); !errors.Is(err, p.queue.err) {
		t.Errorf("error %v, want %v", err, p.queue.err)
	}
}

// The claim of a spot instance says when its machine ends, two minutes after the notice,
// once in spite of errors.
func TestEndIsWritten(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	p.adopt()
	p.send("EC2 Spot Instance Interruption Warning", "aws.ec2", `{"instance-id":"i-1"}`)
	want := p.Clock.Now().Add(2 * time.Minute).UTC().Format(time.RFC3339)
	p.Clock.Step(3 * time.Second)
	p.Fail(func(c harness.Call) error {
		if c.Verb == "patch" {
			return harness.ErrBroken
		}
		return nil
	})
	if _, err := p.c.Reconcile(t.Context(), reconcile.Key{}); !errors.Is(err, harness.ErrBroken) || p.queue.deleted != 0 || !p.deleted() {
		t.Errorf("error %v, %d messages deleted, the claim goes: %t", err, p.queue.deleted, p.deleted())
	}
	p.Fail(nil)
	p.Run(p.c, "")
	if got := p.Claim("a").Annotations[departure.AnnotationEnds]; got != want {
		t.Errorf("ends at %q, want %s", got, want)
	}
	p.Clock.Step(time.Minute)
	p.send("EC2 Spot Instance Interruption Warning", "aws.ec2", `{"instance-id":"i-1"}`)
	p.Run(p.c, "")
	if got := p.Claim("a").Annotations[departure.AnnotationEnds]; got != want {
		t.Errorf("a second notice moves it to %q, was %s", got, want)
	}
}

// Notices that say nothing of an end write none.
func TestNoEndIsMadeUp(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	p.adopt()
	p.send("EC2 Instance State-change Notification", "aws.ec2", `{"instance-id":"i-1","state":"stopped"}`)
	p.Run(p.c, "")
	if got := p.Claim("a").Annotations[departure.AnnotationEnds]; got != "" || !p.deleted() {
		t.Errorf("ends at %q, the claim goes: %t", got, p.deleted())
	}
}

// statuses tell what a test tells it.
type statuses struct {
	ill []instanceevents.Illness
	err error
}

func (w *statuses) Ill(context.Context) ([]instanceevents.Illness, error) { return w.ill, w.err }

// Ill instances go, at once where their pods cannot be asked to leave; others' are let be.
func TestStatus(t *testing.T) {
	t.Parallel()
	for category, hurried := range map[instanceevents.Category]bool{instanceevents.InstanceStatus: true, instanceevents.SystemStatus: true, instanceevents.EventStatus: false} {
		p := newFixture(t)
		p.adopt()
		w := &statuses{ill: []instanceevents.Illness{{Instance: "i-1", Category: category}, {Instance: "i-2", Category: category}}}
		c := interruption.NewStatus(p.Kit, w, p.metrics)
		p.Run(c, "")
		p.Run(c, "")
		_, set := p.Claim("a").Annotations[karpenterv1.AnnotationTerminationTimestamp]
		if !p.deleted() || set != hurried {
			t.Errorf("%s: the claim goes: %t, hurried: %t", category, p.deleted(), set)
		}
		if n := p.Count(p.metrics.InterruptionInstanceStatusUnhealthyTotal.WithLabelValues(string(category))); n != 1 {
			t.Errorf("%s was counted %v times", category, n)
		}
	}
}

// Without the permission polling stops until the next start.
func TestStatusForbidden(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	c := interruption.NewStatus(p.Kit, &statuses{err: instanceevents.ErrForbidden}, p.metrics)
	if result := p.Run(c, ""); result != reconcile.Never {
		t.Errorf("the next round is in %v", result)
	}
}
