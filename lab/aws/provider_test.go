package aws_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/instance"
	"tenon/cloud/aws/inventory"
	"tenon/cloud/conformance"
)

// classes are the node classes of a cluster without an API server.
type classes struct {
	mu     sync.Mutex
	byName map[string]*awsv1.EC2NodeClass
}

func (c *classes) find(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byName[name].DeepCopy(), nil
}

func (c *classes) change(name string, how func(*awsv1.EC2NodeClass)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	class := c.byName[name].DeepCopy()
	how(class)
	c.byName[name] = class
}

// classOf returns a node class of an alias, for which nothing has been found yet.
func classOf(name, alias string) *awsv1.EC2NodeClass {
	discovery := map[string]string{"karpenter.sh/discovery": "lab"}
	class := &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Generation: 1, Annotations: map[string]string{
			awsv1.AnnotationNodeClassHash: "1", awsv1.AnnotationNodeClassHashVersion: awsv1.HashVersion,
		}},
		Spec: awsv1.EC2NodeClassSpec{
			InstanceProfile:            sdk.String("KarpenterNodeInstanceProfile-lab"),
			AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: alias}},
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: discovery}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: discovery}},
		},
	}
	class.SetDefaults()
	return class
}

// near is a provider in front of an emulator, with the classes that it knows.
type near struct {
	*emulator
	classes *classes
	version string // of Kubernetes
}

func newNear(t *testing.T, list ...*awsv1.EC2NodeClass) *near {
	t.Helper()
	n := &near{emulator: newEmulator(t), classes: &classes{byName: map[string]*awsv1.EC2NodeClass{}}, version: "1.36"}
	for _, class := range list {
		n.classes.byName[class.Name] = class
	}
	return n
}

// connect returns the provider of a process that has just started and learned nothing yet.
func (n *near) connect(change ...func(*aws.Options)) *aws.Provider {
	n.t.Helper()
	ctx := context.WithoutCancel(n.t.Context())
	clients := got(api.Connect(ctx, api.Options{
		Region: region, Endpoint: n.url, Credentials: n.config(account, region).Credentials,
	}))(n.t)
	s := inventory.New(inventory.Options{
		Clients: clients, Clock: n.clock,
		Cluster: inventory.NewCluster(inventory.ClusterOptions{
			Name: "lab", CABundle: "bGFi", EKS: clients.EKS, Clock: n.clock,
			APIVersion: func(context.Context) (string, error) { return n.version, nil },
			DNS:        func(context.Context) (string, error) { return "10.96.0.10", nil },
		}),
		AMIRefreshInterval: time.Minute, SubnetRefreshInterval: time.Minute, ReservedCapacity: true, VMMemoryOverhead: 0.075,
	})
	o := aws.Options{Inventory: s, Class: n.classes.find, Queue: "lab", Idle: time.Millisecond, Longest: 10 * time.Millisecond}
	for _, f := range change {
		f(&o)
	}
	p := got(aws.New(o))(n.t)
	got(s.InstanceTypes.Update(ctx))(n.t)
	if err := s.UpdatePrices(ctx); err != nil {
		n.t.Fatal(err)
	}
	return p
}

// ready fills in what a class refers to, as its controller does.
func (n *near) ready(p *aws.Provider, name string) {
	n.t.Helper()
	ctx := context.WithoutCancel(n.t.Context())
	class := got(n.classes.find(ctx, name))(n.t)
	subnets := got(p.FindSubnets(ctx, class))(n.t)
	groups := got(p.FindSecurityGroups(ctx, class))(n.t)
	images, unsupported, err := p.FindImages(ctx, class)
	reservations, _, wrong := p.FindReservations(ctx, class)
	if err != nil || wrong != nil || unsupported != "" {
		n.t.Fatal(err, wrong, unsupported)
	}
	n.classes.change(name, func(c *awsv1.EC2NodeClass) {
		c.Status.Subnets, c.Status.SecurityGroups, c.Status.AMIs, c.Status.CapacityReservations = subnets, groups, images, reservations
		c.Status.InstanceProfile = sdk.ToString(c.Spec.InstanceProfile)
		c.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, ObservedGeneration: c.Generation}}
	})
}

func (n *near) sold() int {
	count := 0
	for range n.World().Survey() {
		count++
	}
	return count
}

func quoted(words ...string) string { return `["` + strings.Join(words, `","`) + `"]` }

func ref(name string) cloud.ClassRef {
	return cloud.ClassRef{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: name}
}

// The provider keeps every law of the contract, in front of an AWS without faults.
func TestProviderConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) conformance.Harness {
		unready := classOf("unready", "al2023@latest")
		unready.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Message: "nothing was found"}}
		n := newNear(t, classOf("ready", "al2023@latest"), unready)
		p := n.connect()
		n.ready(p, "ready")
		return conformance.Harness{
			Provider: p, Class: ref("ready"), UnreadyClass: ref("unready"),
			Undefined:  []string{awsv1.LabelPlacementGroupID, awsv1.LabelPlacementGroupPartition},
			Advance:    n.pass,
			EndsWithin: 35 * time.Second,
			Exhaust: func(o cloud.Offer) {
				n.cause(fmt.Sprintf(`{"kind":"no-capacity","instanceTypes":%s,"zones":%s,"capacityTypes":%s}`, quoted(o.InstanceType), quoted(o.Zone), quoted(o.CapacityType)))
			},
			LoseAnswer: func() { n.cause(`{"kind":"lost-answer","service":"ec2","operations":["CreateFleet"],"times":1}`) },
			Kill: func(id string) {
				_, instance, _ := instance.Parse(id)
				n.cause(fmt.Sprintf(`{"kind":"instance-failure","how":"terminates","instances":%s}`, quoted(instance)))
			},
			Drift: func(string) {
				n.classes.change("ready", func(c *awsv1.EC2NodeClass) {
					for i := range c.Status.AMIs {
						c.Status.AMIs[i].ID = "ami-new"
					}
				})
			},
			Restart: func() cloud.Provider {
				p := n.connect()
				n.ready(p, "ready")
				return p
			},
			Bought: n.sold,
		}
	})
}
