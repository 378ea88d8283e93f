package aws_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/assembly"
	"tenon/lab/aws/accounts"
)

// upgradedCluster is the cluster of the record in api/crds/testdata/earlier.
const upgradedCluster = "demo"

// record are the objects that an earlier version left, and the certificate authority of their cluster.
type record struct {
	objects   []client.Object
	authority string
}

func readRecord(t *testing.T) record {
	t.Helper()
	folder := filepath.Join("..", "..", "api", "crds", "testdata", "earlier")
	text := got(os.ReadFile(filepath.Join(folder, "objects.yaml")))(t)
	r := record{authority: string(got(os.ReadFile(filepath.Join(folder, "authority.txt")))(t))}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, karpenterv1.AddToScheme, awsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	var list struct{ Items []runtime.RawExtension }
	if err := yaml.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, item := range list.Items {
		object, _, err := decoder.Decode(item.Raw, &schema.GroupVersionKind{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.objects = append(r.objects, object.(client.Object))
	}
	return r
}

func of[T client.Object](objects []client.Object) (found []T) {
	for _, o := range objects {
		if is, ok := o.(T); ok {
			found = append(found, is)
		}
	}
	return found
}

// restore launches a machine for each claim of the record, as the earlier version did, and writes the identifiers that AWS
// gives this time into the objects.
func (e *emulator) restore(r record) {
	e.t.Helper()
	classes := map[string]*awsv1.EC2NodeClass{}
	for _, class := range of[*awsv1.EC2NodeClass](r.objects) {
		e.translate(class)
		classes[class.Name] = class
	}
	for _, claim := range of[*karpenterv1.NodeClaim](r.objects) {
		class := classes[claim.Spec.NodeClassRef.Name]
		zone := claim.Labels[corev1.LabelTopologyZone]
		subnet := class.Status.Subnets[slices.IndexFunc(class.Status.Subnets, func(s awsv1.Subnet) bool { return s.Zone == zone })]
		at := slices.IndexFunc(class.Status.AMIs, func(a awsv1.AMI) bool { return strings.Contains(a.Name, "x86_64-standard") })
		claim.Status.ImageID = class.Status.AMIs[at].ID
		order := &ec2.RunInstancesInput{
			ImageId: &claim.Status.ImageID, InstanceType: types.InstanceType(claim.Labels[corev1.LabelInstanceTypeStable]), SubnetId: &subnet.ID,
			MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1), TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeInstance, Tags: tagsOfClaim(claim)}},
		}
		for _, g := range class.Status.SecurityGroups {
			order.SecurityGroupIds = append(order.SecurityGroupIds, g.ID)
		}
		if claim.Labels[karpenterv1.LabelCapacityType] == "spot" {
			order.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{MarketType: types.MarketTypeSpot}
		}
		machine := got(e.ec2().RunInstances(e.t.Context(), order))(e.t).Instances[0]
		was := claim.Status.ProviderID
		claim.Status.ProviderID = fmt.Sprintf("aws:///%s/%s", zone, *machine.InstanceId)
		for _, node := range of[*corev1.Node](r.objects) {
			if node.Spec.ProviderID == was {
				node.Spec.ProviderID = claim.Status.ProviderID
			}
		}
	}
}

func tagsOfClaim(claim *karpenterv1.NodeClaim) []types.Tag {
	var tags []types.Tag
	for key, value := range map[string]string{
		"kubernetes.io/cluster/" + upgradedCluster: "owned", "eks:eks-cluster-name": upgradedCluster,
		"karpenter.sh/nodepool": claim.Labels[karpenterv1.LabelNodePool], "karpenter.sh/nodeclaim": claim.Name,
		"karpenter.k8s.aws/ec2nodeclass": claim.Spec.NodeClassRef.Name, "Name": claim.Status.NodeName,
	} {
		tags = append(tags, types.Tag{Key: &key, Value: &value})
	}
	return tags
}

// translate gives what a class has found the identifiers of this emulator: names, zones and tags are the same.
func (e *emulator) translate(class *awsv1.EC2NodeClass) {
	e.t.Helper()
	ctx := e.t.Context()
	images := got(e.ec2().DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"amazon"}}))(e.t).Images
	for i := range class.Status.AMIs {
		at := slices.IndexFunc(images, func(a types.Image) bool { return *a.Name == class.Status.AMIs[i].Name })
		if at < 0 {
			e.t.Fatalf("the emulator has no image %s any more: record the objects anew", class.Status.AMIs[i].Name)
		}
		class.Status.AMIs[i].ID = *images[at].ImageId
	}
	ours := []types.Filter{filter("tag:karpenter.sh/discovery", upgradedCluster)}
	for i := range class.Status.Subnets {
		for _, s := range got(e.ec2().DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: ours}))(e.t).Subnets {
			if *s.AvailabilityZone == class.Status.Subnets[i].Zone {
				class.Status.Subnets[i].ID = *s.SubnetId
			}
		}
	}
	class.Status.SecurityGroups = nil // those of the emulator's EKS have other names than they had
	for _, g := range got(e.ec2().DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: ours}))(e.t).SecurityGroups {
		class.Status.SecurityGroups = append(class.Status.SecurityGroups, awsv1.SecurityGroup{ID: *g.GroupId, Name: *g.GroupName})
	}
}

// The present version starts on the objects of an earlier one, and on the machines that they name. No claim drifts, no
// machine ends, and no annotation, label or finalizer changes: neither at the start nor in the hours after it.
func TestUpgradeDriftsNothing(t *testing.T) {
	t.Parallel()
	r := readRecord(t)
	e := newEmulator(t, func(c *configuration) {
		authority := base64.StdEncoding.EncodeToString([]byte("unused"))
		c.Resources.Cluster = accounts.Cluster{Name: upgradedCluster, Endpoint: "https://lab.test", Authority: authority, Version: "1.36", ServiceRange: "10.96.0.0/12"}
		c.Resources.Roles = []accounts.Role{{Name: "karpenterNodeRole-" + upgradedCluster}}
	})
	claims := of[*karpenterv1.NodeClaim](r.objects)
	e.pass(claims[0].CreationTimestamp.Sub(start))
	e.restore(r)
	e.pass(2 * time.Minute)
	b := e.backendOf(upgradedCluster, r.authority, account, r.objects...)
	parts := assembly.New(b.kit)
	parts.Synced, parts.Suffix, parts.Parallel = func() bool { return true }, func() string { return "bcdfg" }, 1
	for _, c := range assembly.Controllers(parts) {
		b.controllers[c.Name] = c
	}
	for range 3 {
		b.startOn(r.objects)
		for _, o := range r.objects {
			b.unchanged(o)
		}
		e.pass(2 * time.Hour) // types of instances are looked for, and collection has begun
	}
	machines := e.World().Survey()
	if len(machines) != len(claims) {
		t.Errorf("there are %d machines for %d claims", len(machines), len(claims))
	}
	for _, m := range machines {
		if m.State != "running" {
			t.Errorf("machine %s is %s", m.ID, m.State)
		}
	}
}

// startOn runs the controllers that write to pools, classes, claims and nodes, for each object of their kinds.
func (b *backend) startOn(objects []client.Object) {
	b.t.Helper()
	for _, name := range []string{"providers.instancetype", "providers.pricing"} {
		b.run(name, "")
	}
	for _, of := range []struct {
		kind        client.Object
		controllers []string
	}{
		{&awsv1.EC2NodeClass{}, []string{"nodeclass.hash", "nodeclass"}},
		{&karpenterv1.NodePool{}, []string{"nodepool.hash", "nodepool.validation", "nodepool.readiness"}},
		{&karpenterv1.NodeClaim{}, []string{"nodeclaim.hydration", "nodeclaim.lifecycle", "nodeclaim.tagging", "nodeclaim.consistency", "nodeclaim.expiration", "nodeclaim.disruption"}},
		{&corev1.Node{}, []string{"node.hydration", "node.termination"}},
	} {
		for _, o := range objects {
			if fmt.Sprintf("%T", o) != fmt.Sprintf("%T", of.kind) {
				continue
			}
			for _, name := range of.controllers {
				b.run(name, o.GetName())
			}
		}
	}
	b.run("nodeclaim.garbagecollection", "")
}

// unchanged checks that an object is there with the metadata that it had, and that a claim has not drifted.
func (b *backend) unchanged(was client.Object) {
	b.t.Helper()
	is := was.DeepCopyObject().(client.Object)
	if err := b.server.Get(b.t.Context(), client.ObjectKeyFromObject(was), is); err != nil {
		b.t.Errorf("%T %s: %v", was, was.GetName(), err)
		return
	}
	if is.GetDeletionTimestamp() != nil {
		b.t.Errorf("%T %s is being deleted", was, was.GetName())
	}
	if !maps.Equal(is.GetAnnotations(), was.GetAnnotations()) {
		b.t.Errorf("%T %s has annotations %v, and had %v", was, was.GetName(), is.GetAnnotations(), was.GetAnnotations())
	}
	if !maps.Equal(is.GetLabels(), was.GetLabels()) {
		b.t.Errorf("%T %s has labels %v, and had %v", was, was.GetName(), is.GetLabels(), was.GetLabels())
	}
	if !slices.Equal(is.GetFinalizers(), was.GetFinalizers()) {
		b.t.Errorf("%T %s has finalizers %v, and had %v", was, was.GetName(), is.GetFinalizers(), was.GetFinalizers())
	}
	if claim, is := is.(*karpenterv1.NodeClaim); is && meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionDrifted) {
		b.t.Errorf("claim %s has drifted: %v", claim.Name, meta.FindStatusCondition(claim.Status.Conditions, karpenterv1.ConditionDrifted))
	}
}
