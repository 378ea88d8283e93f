package aws

import (
	"context"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/aws"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/inventory"
	"tenon/cloud/aws/launchtemplate"
	"tenon/internal/telemetry"
)

// observer turns what the provider tells into metrics and events.
func (b *backend) observer() aws.Observer {
	return aws.Observer{
		LaunchFailed: func(zone, zoneID, capacityType, reason string) {
			b.metrics.CloudproviderInstanceLaunchFailuresTotal.WithLabelValues(zone, zoneID, capacityType, reason).Inc()
		},
		TerminationFailed: func(zone, zoneID string) {
			b.metrics.CloudproviderInstanceTerminationFailuresTotal.WithLabelValues(zone, zoneID).Inc()
		},
		Batched: func(batcher string, size int, waited time.Duration) {
			b.metrics.CloudproviderBatcherBatchSize.WithLabelValues(batcher).Observe(float64(size))
			b.metrics.CloudproviderBatcherBatchTimeSeconds.WithLabelValues(batcher).Observe(waited.Seconds())
		},
		NoSpotRole: b.noSpotRole,
		Narrow:     b.narrow,
	}
}

// called counts the calls of AWS.
func (b *backend) called(c api.Call) {
	labels := []string{c.Service, c.Operation, strconv.Itoa(c.Status)}
	if c.Attempt {
		b.metrics.AwsSdkGoRequestAttemptTotal.WithLabelValues(labels...).Inc()
		b.metrics.AwsSdkGoRequestAttemptDurationSeconds.WithLabelValues(labels...).Observe(c.Took.Seconds())
		return
	}
	b.metrics.AwsSdkGoRequestTotal.WithLabelValues(labels...).Inc()
	b.metrics.AwsSdkGoRequestDurationSeconds.WithLabelValues(labels...).Observe(c.Took.Seconds())
	b.metrics.AwsSdkGoRequestRetryCount.WithLabelValues(labels...).Observe(float64(c.Retries))
}

func (b *backend) templateMade(t launchtemplate.Template) {
	b.metrics.Ec2nodeclassesUserdataBytes.WithLabelValues(t.Class).Set(float64(t.Bytes))
	if t.Close() {
		b.ground.Log.Info("user data is near the limit of EC2", "nodeclass", t.Class, "bytes", t.Bytes)
	}
	for _, setting := range t.Ignored {
		b.ground.Log.Info("Unknown parameter in userData K8s settings", "nodeclass", t.Class, "parameter", setting)
	}
}

// noSpotRole says on the claim what the account lacks.
func (b *backend) noSpotRole(claim cloud.Claim) {
	kit := b.kit.Load()
	if kit == nil {
		return
	}
	object := &karpenterv1.NodeClaim{}
	if err := kit.Client.Get(context.Background(), client.ObjectKey{Name: claim.Name}, object); err != nil {
		return // an event is not worth more
	}
	kit.Events.Publish(telemetry.Warning(object, "SpotSLRCreationFailed",
		`Attempted to launch a spot instance but failed due to "AuthFailure.ServiceLinkedRoleCreationNotPermitted"`))
}

// narrow warns of a launch for which capacity may be hard to find. It warns of a pool only once in a while,
// because hundreds of claims may be bought at the same time.
func (b *backend) narrow(claim cloud.Claim, types int) {
	if _, warned := b.warned.Peek(claim.Pool); warned {
		return
	}
	b.warned.Put(claim.Pool, true)
	b.ground.Log.Info("few instance types are left for an on-demand launch although spot is allowed; 5 or more are advised",
		"NodeClaim", claim.Name, "NodePool", claim.Pool, "instance-types", types)
}

// surveyor is the inventory for the controller of classes: forgetting a class also removes its metrics.
type surveyor struct {
	*inventory.Inventory
	b *backend
}

// Forget drops what is remembered of a class that is gone.
func (s surveyor) Forget(class *awsv1.EC2NodeClass) {
	s.Inventory.Forget(class)
	s.b.metrics.Ec2nodeclassesUserdataBytes.DeleteLabelValues(class.Name)
}
