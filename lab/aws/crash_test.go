package aws_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/launchtemplate"
	"tenon/core/model"
	"tenon/core/requirement"
)

// cable is the connection of a process. A test can cut it at any call, before the call has reached AWS or
// before its answer is back. After that nothing passes any more, and the process is told that it has
// died.
type cable struct {
	url string

	mu     sync.Mutex
	armed  bool
	calls  []string
	cutAt  int // counted from 1; 0 means never
	before bool
	died   context.CancelFunc
}

func newCable(t *testing.T, far string) *cable {
	t.Helper()
	target := got(url.Parse(far))(t)
	c := &cable{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dead, cutBefore, cutAfter := c.pass(r)
		if dead || cutBefore {
			c.cut()
			panic(http.ErrAbortHandler)
		}
		if cutAfter {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			c.cut()
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *cable) pass(r *http.Request) (dead, before, after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.armed {
		return false, false, false
	}
	c.calls = append(c.calls, r.Header.Get("User-Agent"))
	n := len(c.calls)
	return c.cutAt > 0 && n > c.cutAt, n == c.cutAt && c.before, n == c.cutAt && !c.before
}

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.died()
}

// arm starts the count of calls.
func (c *cable) arm(cutAt int, before bool, died context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed, c.cutAt, c.before, c.died = true, cutAt, before, died
}

func (c *cable) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

// request returns a claim for one of two types, each of which needs its own launch template.
func request(uid string) cloud.Claim {
	return cloud.Claim{
		UID: uid, Name: "claim-" + uid, Pool: "default", Class: ref("ready"),
		Requirements: requirement.NewSet(
			requirement.New(requirement.KeyInstanceType, requirement.In, "m5.large", "m5.xlarge"),
			requirement.New(requirement.KeyCapacityType, requirement.In, "on-demand"),
		),
		Requests: model.Resources{CPU: 100, Pods: 1},
		Labels:   map[string]string{requirement.KeyNodePool: "default"},
	}
}

// launchAndDie lets a process launch a claim and die at a call, and returns how many calls there were.
// The answer is lost with the process.
func (n *near) launchAndDie(uid string, cutAt int, before bool) int {
	n.t.Helper()
	direct := n.url
	line := newCable(n.t, direct)
	n.url = line.url
	p := n.connect()
	n.url = direct
	n.ready(p, "ready")
	ctx, die := context.WithCancel(n.t.Context())
	defer die()
	line.arm(cutAt, before, die)
	_, err := p.Create(ctx, request(uid))
	if cutAt == 0 && err != nil {
		n.t.Fatal(err)
	}
	return line.count()
}

// A process that dies at any call of a launch leaks nothing, and the next one buys nothing
// twice.
func TestDeathAtEveryCall(t *testing.T) {
	t.Parallel()
	calls := newNear(t, classOf("ready", "al2023@latest")).launchAndDie("1", 0, false)
	if calls < 7 {
		t.Fatalf("a launch makes %d calls; want those for the past, the cluster, two templates and the fleet", calls)
	}
	for at := 1; at <= calls; at++ {
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprintf("call %d, before it: %t", at, before), func(t *testing.T) {
				t.Parallel()
				n := newNear(t, classOf("ready", "al2023@latest"))
				n.launchAndDie("1", at, before)
				n.checkNextProcess("1")
			})
		}
	}
}

// checkNextProcess launches the same claim again in a process that remembers nothing.
func (n *near) checkNextProcess(uid string) {
	t, ctx := n.t, n.t.Context()
	t.Helper()
	next := n.connect()
	n.ready(next, "ready")
	bought, err := next.Create(ctx, request(uid))
	if err != nil {
		t.Fatalf("create after the death of a process: %v", err)
	}
	if sold := n.sold(); sold != 1 {
		t.Errorf("%d instances were sold to one claim", sold)
	}
	listed := got(next.List(ctx))(t)
	if len(listed) != 1 || listed[0].ClaimUID != uid || listed[0].ProviderID != bought.ProviderID {
		t.Errorf("the claim has %s, listed are %+v", bought.ProviderID, listed)
	}
	if err := next.Templates.Hydrate(ctx); err != nil {
		t.Fatal(err)
	}
	n.pass(launchtemplate.Idle)
	if err := next.Templates.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if left := got(n.ec2().DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{}))(t).LaunchTemplates; len(left) != 0 {
		t.Errorf("%d launch templates are left", len(left))
	}
}

// A claim that is deleted while its launch has no answer leaves an instance. Garbage collection finds it
// by the claim's UID.
func TestDeathOfTheClaim(t *testing.T) {
	t.Parallel()
	n := newNear(t, classOf("ready", "al2023@latest"))
	last := newNear(t, classOf("ready", "al2023@latest")).launchAndDie("1", 0, false)
	n.launchAndDie("1", last, false)
	next := n.connect()
	listed := got(next.List(t.Context()))(t)
	if len(listed) != 1 || listed[0].ClaimUID != "1" || listed[0].ClaimName != "claim-1" {
		t.Fatalf("listed are %+v", listed)
	}
	if err := next.Delete(t.Context(), listed[0].ProviderID); err != nil {
		t.Fatal(err)
	}
}

// An instance that cannot be seen yet is not bought twice and does not count as gone.
func TestInvisibleInstance(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	n.pass(time.Minute) // the process is no longer young
	n.cause(`{"kind":"eventual-consistency","resources":["instance"],"delay":"20s"}`)
	bought := got(p.Create(ctx, request("1")))(t)
	again := got(p.Create(ctx, request("1")))(t)
	if again.ProviderID != bought.ProviderID || n.sold() != 1 {
		t.Errorf("bought %s, then %s; %d were sold", bought.ProviderID, again.ProviderID, n.sold())
	}
	if err := p.Delete(ctx, bought.ProviderID); err != nil {
		t.Errorf("delete before it can be seen: %v", err)
	}
	// Another process knows the instance only by the token.
	next := n.connect()
	n.ready(next, "ready")
	if err := next.Delete(ctx, bought.ProviderID); err == nil || cloud.IsNotFound(err) {
		t.Errorf("delete by a young process: error %v, want one that does not say that it is gone", err)
	}
	same := got(next.Create(ctx, request("1")))(t)
	if same.ProviderID != bought.ProviderID || n.sold() != 1 {
		t.Errorf("after a restart: %s instead of %s; %d were sold", same.ProviderID, bought.ProviderID, n.sold())
	}
	n.pass(20 * time.Second)
	if err := p.Delete(ctx, bought.ProviderID); err != nil {
		t.Errorf("delete when it can be seen: %v", err)
	}
	n.pass(time.Minute)
	if err := p.Delete(ctx, bought.ProviderID); !cloud.IsNotFound(err) {
		t.Errorf("delete after its end: error %v, want NotFound", err)
	}
}

// After a restart the same claim may look different to EC2, because prices or addresses have changed:
// then the tag leads to the earlier purchase.
func TestTokenWithOtherParameters(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	n.cause(`{"kind":"eventual-consistency","resources":["instance"],"delay":"20s"}`)
	p := n.connect()
	n.ready(p, "ready")
	bought := got(p.Create(ctx, request("1")))(t)

	next := n.connect()
	n.ready(next, "ready")
	n.classes.change("ready", func(c *awsv1.EC2NodeClass) { c.Spec.Tags = map[string]string{"changed": "since"} })
	if _, err := next.Create(ctx, request("1")); err == nil || cloud.NothingBought(err) || cloud.IsNotFound(err) {
		t.Errorf("create with other parameters: error %v, want one that leaves it open", err)
	}
	n.pass(20 * time.Second)
	if same := got(next.Create(ctx, request("1")))(t); same.ProviderID != bought.ProviderID || n.sold() != 1 {
		t.Errorf("%s instead of %s; %d were sold", same.ProviderID, bought.ProviderID, n.sold())
	}
}

// A token whose fleet was empty is used up: the claim gets another one once that is certain.
func TestSpentToken(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	n.cause(`{"kind":"no-capacity","times":0,"for":"1m"}`)
	if _, err := p.Create(ctx, request("1")); !is[*cloud.NoCapacity](err) {
		t.Fatalf("error %v, want NoCapacity", err)
	}
	n.pass(5 * time.Minute)
	if i, err := p.Create(ctx, request("1")); err != nil || i.ProviderID == "" {
		t.Errorf("the same process, later: %v", err)
	}
	if n.sold() != 1 {
		t.Errorf("%d were sold", n.sold())
	}
}

func is[E error](err error) bool {
	_, found := errors.AsType[E](err)
	return found
}
