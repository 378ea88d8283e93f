package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/core/order"
)

// ErrGone means that EC2 does not have the instance, or has it as terminated.
var ErrGone = errors.New("the instance is gone")

// ErrEnded means that EC2 knows the instance and has terminated it. An instance that EC2 does not know may
// appear later; this one will not. It is an ErrGone.
var ErrEnded = fmt.Errorf("%w: it has ended", ErrGone)

// ErrForeign means that the instance carries the tag of another cluster. It still exists, and this cluster
// must not terminate it.
var ErrForeign = errors.New("the instance belongs to another cluster")

// Client reads, tags and terminates the instances of a cluster.
type Client struct {
	ec2      api.EC2Instances
	cluster  string
	reserved bool

	look *Batcher[string, Instance]
	end  *Batcher[string, struct{}]
	tag  *Batcher[wish, struct{}]
}

// Options of a client.
type Options struct {
	Cluster string
	// ReservedCapacity is the feature gate of that name.
	ReservedCapacity bool
	// Idle and Longest say how long the client collects calls; zero means the default.
	Idle, Longest time.Duration
	// Observe receives the batches, with the name of the batcher. It may be nil.
	Observe func(batcher string, size int, waited time.Duration)
}

// How the client collects calls. (As in Karpenter.) EC2 limits the values of a filter to 200, and the IDs of
// a call to 500.
const (
	usualIdle    = 100 * time.Millisecond
	usualLongest = time.Second
	mostLooked   = 200
	mostEnded    = 500
	pageSize     = 1000
)

// NewClient makes a client for the instances of a cluster.
func NewClient(client api.EC2Instances, o Options) *Client {
	y := &Client{ec2: client, cluster: o.Cluster, reserved: o.ReservedCapacity}
	y.look = NewBatcher(o.batches("describe_instances", mostLooked), y.lookAll)
	y.end = NewBatcher(o.batches("terminate_instances", mostEnded), y.endAll)
	y.tag = NewBatcher(o.batches("create_tags", mostTagged), y.tagAll)
	return y
}

func (o Options) batches(name string, most int) BatchOptions {
	b := BatchOptions{Idle: o.Idle, Longest: o.Longest, Most: most}
	if b.Idle == 0 {
		b.Idle = usualIdle
	}
	if b.Longest == 0 {
		b.Longest = usualLongest
	}
	if o.Observe != nil {
		b.Observe = func(size int, waited time.Duration) { o.Observe(name, size, waited) }
	}
	return b
}

// alive lists the states of instances that exist.
var alive = []string{"pending", "running", "stopping", "stopped", "shutting-down"}

// Look returns an existing instance, or ErrGone. Tags do not decide whether an instance exists: an instance
// that lost a tag still runs and costs money. For an instance of another cluster it returns ErrForeign.
func (y *Client) Look(ctx context.Context, id string) (Instance, error) {
	m, err := y.look.Ask(ctx, id)
	switch {
	case err != nil:
		return Instance{}, fmt.Errorf("describe instance %s: %w", id, err)
	case m.ID == "":
		return Instance{}, ErrGone
	case m.Foreign(y.cluster):
		return Instance{}, fmt.Errorf("%w: %s has %s=%s", ErrForeign, id, awsv1.TagClusterName, m.Tags[awsv1.TagClusterName])
	}
	return m, nil
}

// lookAll uses a filter instead of a list of IDs: with IDs, one missing instance would make the whole call
// fail.
func (y *Client) lookAll(ctx context.Context, ids []string) map[string]Answer[Instance] {
	answers := make(map[string]Answer[Instance], len(ids))
	found, err := y.describe(ctx, filter("instance-id", ids...), filter("instance-state-name", alive...))
	for _, id := range ids {
		answers[id] = Answer[Instance]{Err: err}
	}
	for _, m := range found {
		answers[m.ID] = Answer[Instance]{Value: m}
	}
	return answers
}

// List returns all existing instances of the cluster, sorted by provider ID.
func (y *Client) List(ctx context.Context) ([]Instance, error) {
	return y.list(ctx, filter("instance-state-name", alive...))
}

// Strays returns existing instances that lack the tag with the cluster's name. It finds them by the tag that
// Kubernetes uses for the cluster.
func (y *Client) Strays(ctx context.Context) ([]Instance, error) {
	found, err := y.describe(ctx,
		filter("tag-key", TagClaimUID), filter("tag:"+awsv1.TagClusterPrefix+y.cluster, "owned"), filter("instance-state-name", alive...))
	if err != nil {
		return nil, fmt.Errorf("list instances without the tag %s: %w", awsv1.TagClusterName, err)
	}
	return slices.DeleteFunc(found, func(m Instance) bool {
		_, told := m.Tags[awsv1.TagClusterName]
		return told
	}), nil
}

// History is List, but includes terminated instances that EC2 still remembers.
func (y *Client) History(ctx context.Context) ([]Instance, error) { return y.list(ctx) }

func (y *Client) list(ctx context.Context, more ...types.Filter) ([]Instance, error) {
	filters := append([]types.Filter{
		filter("tag-key", awsv1.TagNodeClass, TagClaimUID), filter("tag:"+awsv1.TagClusterName, y.cluster),
	}, more...)
	found, err := y.describe(ctx, filters...)
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	found = slices.DeleteFunc(found, func(m Instance) bool { return !m.Ours(y.cluster) })
	slices.SortFunc(found, func(a, b Instance) int { return cmp.Compare(a.ProviderID(), b.ProviderID()) })
	return found, nil
}

// BoughtFor returns the instances bought for these claims, including terminated ones.
func (y *Client) BoughtFor(ctx context.Context, uids ...string) ([]Instance, error) {
	found, err := y.list(ctx, filter("tag:"+TagClaimUID, uids...))
	if err != nil {
		return nil, fmt.Errorf("find what was bought: %w", err)
	}
	return found, nil
}

func (y *Client) describe(ctx context.Context, filters ...types.Filter) ([]Instance, error) {
	pages := ec2.NewDescribeInstancesPaginator(y.ec2, &ec2.DescribeInstancesInput{Filters: filters, MaxResults: aws.Int32(pageSize)})
	byID := map[string]Instance{} // an instance that changes between two pages may be on both
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Reservations {
			for _, i := range r.Instances {
				byID[aws.ToString(i.InstanceId)] = Of(i, y.reserved)
			}
		}
	}
	found := make([]Instance, 0, len(byID))
	for _, id := range order.Keys(byID) {
		found = append(found, byID[id])
	}
	return found, nil
}

// End begins to terminate an instance. It returns ErrGone if EC2 does not know the instance, or has
// terminated it already.
func (y *Client) End(ctx context.Context, id string) error {
	_, err := y.end.Ask(api.WithPriority(ctx, api.Terminate), id)
	if errors.Is(err, ErrGone) {
		return err
	}
	if err != nil {
		return fmt.Errorf("terminate instance %s: %w", id, err)
	}
	return nil
}

func (y *Client) endAll(ctx context.Context, ids []string) map[string]Answer[struct{}] {
	answers := make(map[string]Answer[struct{}], len(ids))
	y.endSome(ctx, ids, answers)
	return answers
}

// endSome splits a call that EC2 refuses as a whole into halves: one instance that is missing or has
// termination protection must not stop the termination of the others.
func (y *Client) endSome(ctx context.Context, ids []string, answers map[string]Answer[struct{}]) {
	out, err := y.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	if err != nil && len(ids) > 1 && !api.IsThrottled(err) && api.Code(err) != "" {
		y.endSome(ctx, ids[:len(ids)/2], answers)
		y.endSome(ctx, ids[len(ids)/2:], answers)
		return
	}
	for _, id := range ids {
		switch {
		case api.IsNotFound(err):
			answers[id] = Answer[struct{}]{Err: ErrGone}
		case err != nil:
			answers[id] = Answer[struct{}]{Err: err}
		default:
			answers[id] = Answer[struct{}]{Err: ending(out, id)}
		}
	}
}

// ending returns nil if EC2 is terminating the instance.
func ending(out *ec2.TerminateInstancesOutput, id string) error {
	for _, change := range out.TerminatingInstances {
		if aws.ToString(change.InstanceId) != id || change.CurrentState == nil {
			continue
		}
		switch change.CurrentState.Name {
		case types.InstanceStateNameShuttingDown:
			return nil
		case types.InstanceStateNameTerminated:
			return ErrEnded
		}
	}
	return errors.New("EC2 does not begin to terminate it")
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}
