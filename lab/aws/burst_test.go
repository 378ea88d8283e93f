package aws_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"tenon/cloud"
	"tenon/cloud/aws"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/inventory"
)

// launchMany creates claims in parallel, as many at once as there are workers, and returns those that
// failed.
func launchMany(ctx context.Context, p *aws.Provider, claims, workers int) []error {
	queue := make(chan int)
	failures := make([]error, claims)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range queue {
				claim := request(fmt.Sprint(i))
				_, err := p.Create(ctx, claim)
				for is[*cloud.Throttled](err) && ctx.Err() == nil {
					_, err = p.Create(ctx, claim)
				}
				failures[i] = err
			}
		})
	}
	for i := range claims {
		queue <- i
	}
	close(queue)
	group.Wait()
	return failures
}

// A thousand nodes cost a thousand purchases, and hardly any other calls.
func TestThousandLaunches(t *testing.T) {
	t.Parallel()
	const nodes = 1000
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	n.Calls().Reset()
	if err := errors.Join(launchMany(t.Context(), p, nodes, 100)...); err != nil {
		t.Fatal(err)
	}
	fleets, looks, others := 0, 0, map[string]int{}
	for _, call := range n.Calls().Last() {
		switch {
		case call.Operation == "CreateFleet":
			fleets++
		case strings.HasPrefix(call.Operation, "Describe"):
			looks++
		default:
			others[call.Operation]++
		}
	}
	if n.sold() != nodes || fleets != nodes || looks > 60 || others["CreateLaunchTemplate"] > 10 {
		t.Errorf("%d nodes, %d purchases, %d looks, and %v", n.sold(), fleets, looks, others)
	}
}

// More launches than EC2 answers in time all succeed: callers are told to wait, and the limiter learns
// how fast it may go.
func TestThrottledBurst(t *testing.T) {
	t.Parallel()
	const nodes = 40
	n := newNear(t, classOf("ready", "al2023@latest"))
	direct := newEmulator(t, func(c *configuration) { c.Resources.Clock = clock.RealClock{} })
	n.emulator = direct
	clients := got(api.Connect(t.Context(), api.Options{
		Region: region, Endpoint: n.url, Credentials: n.config(account, region).Credentials, Limiter: api.NewLimiter(clock.RealClock{}),
	}))(t)
	s := inventory.New(inventory.Options{
		Clients: clients, Clock: clock.RealClock{},
		Cluster: inventory.NewCluster(inventory.ClusterOptions{
			Name: "lab", CABundle: "bGFi", EKS: clients.EKS, Clock: clock.RealClock{},
			APIVersion: func(context.Context) (string, error) { return n.version, nil },
		}),
		AMIRefreshInterval: time.Minute, SubnetRefreshInterval: time.Minute, VMMemoryOverhead: 0.075,
	})
	p := got(aws.New(aws.Options{Inventory: s, Class: n.classes.find, Idle: time.Millisecond, Longest: 10 * time.Millisecond}))(t)
	got(s.InstanceTypes.Update(t.Context()))(t)
	if err := s.UpdatePrices(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.ready(p, "ready")
	n.cause(`{"kind":"throttle","service":"ec2","operations":["CreateFleet"],"rate":20,"burst":5}`)
	if err := errors.Join(launchMany(t.Context(), p, nodes, nodes)...); err != nil {
		t.Fatal(err)
	}
	if n.sold() != nodes {
		t.Errorf("%d nodes for %d claims", n.sold(), nodes)
	}
}

// Sold-out types are left out, by later launches too, until the shortage is old.
func TestCheapestAreSoldOut(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	open := func(uid string) cloud.Claim {
		claim := request(uid)
		claim.Requirements = claim.Requirements.Without("node.kubernetes.io/instance-type")
		return claim
	}
	var short []string
	for i := range 10 {
		bought := got(p.Create(ctx, open(fmt.Sprint(i))))(t)
		for _, before := range short {
			if bought.Offer.InstanceType == before {
				t.Fatalf("%s was bought although it is sold out", before)
			}
		}
		short = append(short, bought.Offer.InstanceType)
		n.cause(fmt.Sprintf(`{"kind":"no-capacity","instanceTypes":%s}`, quoted(bought.Offer.InstanceType)))
	}
	n.Calls().Reset()
	got(p.Create(ctx, open("last")))(t)
	if calls := n.Calls().Counts(); len(calls) == 0 {
		t.Error("nothing was asked")
	}
}

// Expired credentials are a reason that people see; with new credentials the same claim is launched.
func TestExpiredCredentials(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	got(p.Create(ctx, request("0")))(t)
	n.cause(`{"kind":"unauthorized","service":"ec2","operations":["CreateFleet"],"times":1}`)
	_, err := p.Create(ctx, request("1"))
	refused, typed := errors.AsType[*cloud.Rejected](err)
	if !typed || refused.Reason != "Unauthorized" || !strings.HasPrefix(refused.Message, "Error creating fleet request: User is not authorized") {
		t.Errorf("error %v, want one that people can act on", err)
	}
	n.cause(`{"kind":"expired-credentials","service":"ec2","operations":["CreateFleet"],"times":1}`)
	if _, err = p.Create(ctx, request("1")); err == nil || !cloud.NothingBought(err) {
		t.Errorf("error %v, want one after which nothing was bought", err)
	}
	n.cause(`{"kind":"api-error","service":"ec2","operations":["CreateFleet"],"times":1,"code":"Unavailable","message":"overloaded","status":503}`)
	if _, err = p.Create(ctx, request("1")); err == nil || cloud.NothingBought(err) {
		t.Errorf("error %v, want one that leaves it open", err)
	}
	n.cause(`{"kind":"unreachable","service":"ec2","operations":["CreateFleet"],"times":1}`)
	if _, err = p.Create(ctx, request("1")); err == nil || cloud.NothingBought(err) {
		t.Errorf("error %v, want one that leaves it open", err)
	}
	got(p.Create(ctx, request("1")))(t)
	if n.sold() != 2 {
		t.Errorf("%d were sold to two claims", n.sold())
	}
}
