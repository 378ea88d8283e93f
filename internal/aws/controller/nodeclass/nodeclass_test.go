package nodeclass_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/inventory"
	"tenon/cloud/memory"
	"tenon/internal/aws/controller/nodeclass"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// fakeInventory is an AWS in which everything is found until a test changes it.
type fakeInventory struct {
	images       []awsv1.AMI
	unsupported  string
	subnets      []awsv1.Subnet
	groups       []awsv1.SecurityGroup
	placement    bool
	verdict      inventory.DryRunResult
	errs         map[string]error // by step
	trials       int
	tried        *awsv1.EC2NodeClass
	retired      []string
	reservations []awsv1.CapacityReservation
}

func newInventory() *fakeInventory {
	return &fakeInventory{
		images:  []awsv1.AMI{{ID: "ami-1", Name: "one"}},
		subnets: []awsv1.Subnet{{ID: "subnet-1", Zone: "a"}},
		groups:  []awsv1.SecurityGroup{{ID: "sg-1"}},
		verdict: inventory.DryRunResult{Passed: true},
		errs:    map[string]error{},
	}
}

func (s *fakeInventory) FindImages(context.Context, *awsv1.EC2NodeClass) ([]awsv1.AMI, string, error) {
	return s.images, s.unsupported, s.errs["images"]
}

func (s *fakeInventory) FindReservations(context.Context, *awsv1.EC2NodeClass) ([]awsv1.CapacityReservation, time.Duration, error) {
	return s.reservations, time.Minute, s.errs["reservations"]
}

func (s *fakeInventory) FindPlacement(context.Context, *awsv1.EC2NodeClass) (bool, error) {
	return s.placement, s.errs["placement"]
}

func (s *fakeInventory) FindSubnets(context.Context, *awsv1.EC2NodeClass) ([]awsv1.Subnet, error) {
	return s.subnets, s.errs["subnets"]
}

func (s *fakeInventory) FindSecurityGroups(context.Context, *awsv1.EC2NodeClass) ([]awsv1.SecurityGroup, error) {
	return s.groups, s.errs["groups"]
}

func (s *fakeInventory) EnsureProfile(context.Context, *awsv1.EC2NodeClass) (string, error) {
	return "profile-1", s.errs["profile"]
}

func (s *fakeInventory) ServiceRange(context.Context) (string, error) {
	return "10.96.0.0/12", s.errs["range"]
}

func (s *fakeInventory) Try(_ context.Context, class *awsv1.EC2NodeClass, _ []*karpenterv1.NodePool) (inventory.DryRunResult, error) {
	s.trials++
	s.tried = class
	return s.verdict, s.errs["try"]
}

func (s *fakeInventory) Retire(_ context.Context, class *awsv1.EC2NodeClass) error {
	s.retired = append(s.retired, class.Name)
	return s.errs["retire"]
}

func (s *fakeInventory) Forget(*awsv1.EC2NodeClass) {}

func class() *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "uid-1", Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}, Role: "node",
		},
	}
	return c
}

type fixture struct {
	*harness.Harness
	inventory *fakeInventory
	status    reconcile.Controller
	hash      reconcile.Controller
}

func newFixture(t *testing.T, c *awsv1.EC2NodeClass) fixture {
	t.Helper()
	r := harness.New(t, memory.Options{}, c)
	r.Kit.Settings.FeatureGates.ReservedCapacity = true
	s := newInventory()
	both := nodeclass.New(r.Kit, s, "Y2E=")
	return fixture{r, s, both[0], both[1]}
}

func (l fixture) class(t *testing.T) *awsv1.EC2NodeClass {
	t.Helper()
	var c awsv1.EC2NodeClass
	if !l.Get("default", &c) {
		t.Fatal("the class is gone")
	}
	return &c
}

// said is a condition as text.
func said(c *awsv1.EC2NodeClass, name string) string {
	for _, have := range c.Status.Conditions {
		if have.Type == name {
			return string(have.Status) + " " + have.Reason + " " + have.Message
		}
	}
	return "missing"
}

// A class says that launches of its pools are refused, for as long as a pool does, and is Ready all the same.
func TestRefusedLaunches(t *testing.T) {
	t.Parallel()
	l := newFixture(t, class())
	pool := harness.Pool("web")
	pool.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}
	l.Must(l.API.Create(t.Context(), pool))
	l.Run(l.status, "default")
	if got := said(l.class(t), karpenterv1.ConditionLaunchesRefused); got != "missing" {
		t.Errorf("nothing is refused: %s", got)
	}
	refused := pool.DeepCopy()
	refused.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionLaunchesRefused, Status: metav1.ConditionTrue, Reason: "Unauthorized",
		Message: "web-1 is not authorized", LastTransitionTime: metav1.NewTime(l.Clock.Now())}}
	l.Put(refused)
	for range 2 {
		l.Run(l.status, "default")
		if got := said(l.class(t), karpenterv1.ConditionLaunchesRefused); got != "True Unauthorized NodePool web: web-1 is not authorized" {
			t.Errorf("the class says %q", got)
		}
	}
	if got := said(l.class(t), condition.Ready); got != "True Ready " {
		t.Errorf("the class is ready: %q", got)
	}
	wakes := l.status.Watches[2]
	if !wakes.Wakes(pool, refused) || wakes.Wakes(refused, refused) || wakes.KeysOf(t.Context(), refused)[0].Name != "default" {
		t.Error("the class is not looked at when its pool begins to be refused")
	}
	refused.Status.Conditions = nil
	l.Put(refused)
	l.Run(l.status, "default")
	if got := said(l.class(t), karpenterv1.ConditionLaunchesRefused); got != "missing" {
		t.Errorf("it is over: %s", got)
	}
}

// What is found, and what is not, shows on the class in the words that people know.
func TestConditions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*fakeInventory, *awsv1.EC2NodeClass)
		want   map[string]string // condition: what it says
		again  time.Duration
		failed bool
		trials int
	}{
		"all is well": {
			change: func(*fakeInventory, *awsv1.EC2NodeClass) {},
			want:   map[string]string{condition.Ready: "True Ready ", awsv1.ConditionValidationSucceeded: "True ValidationSucceeded "},
			again:  time.Minute, trials: 1,
		},
		"no images": {
			change: func(s *fakeInventory, _ *awsv1.EC2NodeClass) { s.images = nil },
			want: map[string]string{
				awsv1.ConditionAMIsReady:           "False AMINotFound AMISelector did not match any AMIs",
				awsv1.ConditionValidationSucceeded: "False DependenciesNotReady Awaiting AMI, Instance Profile, Security Group, and Subnet resolution",
			},
			again: time.Minute,
		},
		"an alias that the cluster's version does not have": {
			change: func(s *fakeInventory, _ *awsv1.EC2NodeClass) { s.images, s.unsupported = nil, "too new" },
			want:   map[string]string{awsv1.ConditionAMIsReady: "False UnsupportedAlias too new"},
			again:  time.Minute,
		},
		"no subnets and no groups": {
			change: func(s *fakeInventory, _ *awsv1.EC2NodeClass) { s.subnets, s.groups = nil, nil },
			want: map[string]string{
				awsv1.ConditionSubnetsReady:        "False SubnetsNotFound SubnetSelector did not match any Subnets",
				awsv1.ConditionSecurityGroupsReady: "False SecurityGroupsNotFound SecurityGroupSelector did not match any SecurityGroups",
			},
			again: time.Minute,
		},
		"a placement group that is not there": {
			change: func(_ *fakeInventory, c *awsv1.EC2NodeClass) {
				c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: "team"}
			},
			want:  map[string]string{awsv1.ConditionPlacementGroupReady: `False PlacementGroupNotFound Placement group "team" not found`},
			again: time.Minute, trials: 1,
		},
		"a placement group that cannot be looked up": {
			change: func(s *fakeInventory, _ *awsv1.EC2NodeClass) { s.errs["placement"] = errors.New("boom") },
			want:   map[string]string{awsv1.ConditionPlacementGroupReady: "False PlacementGroupResolutionFailed Failed to resolve placement group"},
			failed: true, trials: 1,
		},
		"the service range is not known": {
			change: func(s *fakeInventory, _ *awsv1.EC2NodeClass) { s.errs["range"] = errors.New("boom") },
			want:   map[string]string{awsv1.ConditionValidationSucceeded: "False ClusterCIDRResolutionFailed Failed to detect the cluster CIDR"},
			failed: true,
		},
		"EKS has trouble of its own": {
			change: func(s *fakeInventory, _ *awsv1.EC2NodeClass) {
				s.errs["range"] = &smithy.GenericAPIError{Code: "ServerException", Fault: smithy.FaultServer}
			},
			want:  map[string]string{awsv1.ConditionValidationSucceeded: "Unknown AwaitingReconciliation object is awaiting reconciliation"},
			again: 10 * time.Second,
		},
		"tags that are ours": {
			change: func(_ *fakeInventory, c *awsv1.EC2NodeClass) {
				c.Spec.Tags = map[string]string{"eks:eks-cluster-name": "x"}
			},
			want:  map[string]string{awsv1.ConditionValidationSucceeded: `False TagValidationFailed tags failed validation requirements (tags=["eks:eks-cluster-name"])`},
			again: time.Minute,
		},
		"a permission is missing": {
			change: func(s *fakeInventory, _ *awsv1.EC2NodeClass) {
				s.verdict = inventory.DryRunResult{Reason: "CreateFleetAuthCheckFailed", Message: "no"}
			},
			want:  map[string]string{awsv1.ConditionValidationSucceeded: "False CreateFleetAuthCheckFailed no"},
			again: time.Minute, trials: 1,
		},
		"a trial that found out nothing": {
			change: func(s *fakeInventory, _ *awsv1.EC2NodeClass) { s.errs["try"] = inventory.ErrAgain },
			want:   map[string]string{awsv1.ConditionValidationSucceeded: "Unknown AwaitingReconciliation object is awaiting reconciliation"},
			again:  10 * time.Second, trials: 1,
		},
		"the named profile does not exist": {
			change: func(s *fakeInventory, c *awsv1.EC2NodeClass) {
				mine := "mine"
				c.Spec.Role, c.Spec.InstanceProfile = "", &mine
				s.errs["try"] = inventory.ErrNoProfile
			},
			want:  map[string]string{awsv1.ConditionValidationSucceeded: `False InstanceProfileNotFound Instance profile "mine" not found`},
			again: time.Second, trials: 1,
		},
		"credentials have expired": {
			change: func(s *fakeInventory, _ *awsv1.EC2NodeClass) {
				s.errs["subnets"] = &smithy.GenericAPIError{Code: "RequestExpired", Message: "Request has expired."}
			},
			want:   map[string]string{awsv1.ConditionSubnetsReady: "Unknown LookupFailed RequestExpired: Request has expired."},
			failed: true,
		},
		"IAM fails: the rest is looked at all the same": {
			change: func(s *fakeInventory, _ *awsv1.EC2NodeClass) { s.errs["profile"] = errors.New("boom") },
			want: map[string]string{
				awsv1.ConditionSubnetsReady:         "True SubnetsReady ",
				awsv1.ConditionInstanceProfileReady: "Unknown LookupFailed AWS does not answer",
				awsv1.ConditionValidationSucceeded:  "Unknown DependenciesNotReady Awaiting AMI, Instance Profile, Security Group, and Subnet resolution",
			},
			failed: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := class()
			l := newFixture(t, c)
			tc.change(l.inventory, c)
			l.Must(l.API.Update(t.Context(), func() *awsv1.EC2NodeClass { now := l.class(t); now.Spec = c.Spec; return now }()))
			result, err := l.status.Reconcile(t.Context(), reconcile.Key{Name: "default"})
			if (err != nil) != tc.failed || !tc.failed && result.After != tc.again {
				t.Errorf("again after %s, %v; want %s", result.After, err, tc.again)
			}
			got := map[string]string{}
			for name := range tc.want {
				got[name] = said(l.class(t), name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if l.inventory.trials != tc.trials {
				t.Errorf("%d trials, want %d", l.inventory.trials, tc.trials)
			}
		})
	}
}

// A dry run takes five calls of AWS: one without a verdict is repeated within seconds at first, and rarely
// when the reason lasts.
func TestDryRunsWithoutAVerdict(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err            error
		within30s, max int // trials
	}{
		"a throttled call":  {inventory.ErrAgain, 6, 66},
		"a missing profile": {inventory.ErrNoProfile, 6, 22},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := class()
			l := newFixture(t, c)
			c.CreationTimestamp = metav1.NewTime(l.Clock.Now())
			l.Must(l.API.Update(t.Context(), func() *awsv1.EC2NodeClass { now := l.class(t); now.CreationTimestamp = c.CreationTimestamp; return now }()))
			l.inventory.errs["try"] = tc.err
			if name == "a missing profile" {
				c.Spec.Role, c.Spec.InstanceProfile = "", &name
				l.Must(l.API.Update(t.Context(), func() *awsv1.EC2NodeClass { now := l.class(t); now.Spec = c.Spec; return now }()))
			}
			early := 0
			for begin := l.Clock.Now(); l.Clock.Since(begin) < 10*time.Minute; {
				result, err := l.status.Reconcile(t.Context(), reconcile.Key{Name: "default"})
				if err != nil || result.After == 0 {
					t.Fatalf("again after %s, %v", result.After, err)
				}
				if l.Clock.Since(begin) < 30*time.Second {
					early = l.inventory.trials
				}
				l.Clock.Step(result.After)
			}
			if early < tc.within30s || l.inventory.trials > tc.max {
				t.Errorf("%d trials in 30 s and %d in ten minutes; want %d at least and %d at most", early, l.inventory.trials, tc.within30s, tc.max)
			}
		})
	}
}

// The dry run sees what has just been found, and the status is written in one go.
func TestTheTrialSeesTheNewStatus(t *testing.T) {
	t.Parallel()
	l := newFixture(t, class())
	l.Run(l.status, "default")
	if l.inventory.tried.Status.InstanceProfile != "profile-1" || len(l.inventory.tried.Status.Subnets) != 1 {
		t.Errorf("the trial saw %+v", l.inventory.tried.Status)
	}
	status := l.class(t).Status
	if status.InstanceProfile != "profile-1" || len(status.AMIs) != 1 || len(status.SecurityGroups) != 1 {
		t.Errorf("status %+v", status)
	}
	l.Calls()
	l.Run(l.status, "default")
	for _, call := range l.Calls() {
		if call.IsWrite() {
			t.Errorf("a second run writes: %s", call)
		}
	}
}

// What cannot be looked up stays as it was.
func TestErrorsLeaveTheStatus(t *testing.T) {
	t.Parallel()
	l := newFixture(t, class())
	l.Run(l.status, "default")
	before := l.class(t).Status
	for _, step := range []string{"images", "subnets", "groups", "profile", "reservations"} {
		l.inventory.errs[step] = errors.New("boom")
	}
	if _, err := l.status.Reconcile(t.Context(), reconcile.Key{Name: "default"}); err == nil {
		t.Error("no error")
	}
	if diff := cmp.Diff(before, l.class(t).Status); diff != "" {
		t.Errorf("status (-before +after):\n%s", diff)
	}
}

// A class waits for its claims, then cleans up, and goes.
func TestTheEndOfAClass(t *testing.T) {
	t.Parallel()
	l := newFixture(t, class())
	l.Run(l.status, "default")
	claim := l.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
		c.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}
	})
	l.Must(l.API.Delete(t.Context(), l.class(t)))
	if r := l.Run(l.status, "default"); r.After != 10*time.Minute {
		t.Errorf("again after %s", r.After)
	}
	want := []string{"Normal WaitingOnNodeClaimTermination default: Waiting on NodeClaim termination for web-1"}
	if diff := cmp.Diff(want, l.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	claim.Finalizers = nil
	l.Must(l.API.Update(t.Context(), claim))
	l.Must(l.API.Delete(t.Context(), claim))
	l.inventory.errs["retire"] = errors.New("boom")
	if _, err := l.status.Reconcile(t.Context(), reconcile.Key{Name: "default"}); err == nil {
		t.Error("the class goes although something is left behind")
	}
	delete(l.inventory.errs, "retire")
	l.Run(l.status, "default")
	if l.Get("default", &awsv1.EC2NodeClass{}) {
		t.Error("the class is still there")
	}
}

// The hash is written; claims of another version are stamped anew unless they have drifted.
func TestHash(t *testing.T) {
	t.Parallel()
	l := newFixture(t, class())
	ref := func(c *karpenterv1.NodeClaim) {
		c.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}
		c.Annotations = map[string]string{awsv1.AnnotationNodeClassHash: "old", awsv1.AnnotationNodeClassHashVersion: "v4"}
	}
	l.Named("plain", "web", ref)
	l.Named("drifted", "web", ref, func(c *karpenterv1.NodeClaim) {
		c.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionDrifted, Status: metav1.ConditionTrue}}
	})
	l.Run(l.hash, "default")
	hash, err := class().Hash("Y2E=")
	l.Must(err)
	for name, want := range map[string]string{"plain": hash, "drifted": "old"} {
		a := l.Claim(name).Annotations
		if a[awsv1.AnnotationNodeClassHash] != want || a[awsv1.AnnotationNodeClassHashVersion] != awsv1.HashVersion {
			t.Errorf("claim %s: %v", name, a)
		}
	}
	if a := l.class(t).Annotations; a[awsv1.AnnotationNodeClassHash] != hash || a[awsv1.AnnotationNodeClassHashVersion] != awsv1.HashVersion {
		t.Errorf("class: %v", a)
	}
}

// slow answers none of four looks before all of them are made.
type slow struct {
	*fakeInventory
	looks *sync.WaitGroup
}

func (s slow) meet() {
	s.looks.Done()
	s.looks.Wait()
}

func (s slow) FindImages(ctx context.Context, c *awsv1.EC2NodeClass) ([]awsv1.AMI, string, error) {
	s.meet()
	return s.fakeInventory.FindImages(ctx, c)
}

func (s slow) FindSubnets(ctx context.Context, c *awsv1.EC2NodeClass) ([]awsv1.Subnet, error) {
	s.meet()
	return s.fakeInventory.FindSubnets(ctx, c)
}

func (s slow) FindSecurityGroups(ctx context.Context, c *awsv1.EC2NodeClass) ([]awsv1.SecurityGroup, error) {
	s.meet()
	return s.fakeInventory.FindSecurityGroups(ctx, c)
}

func (s slow) EnsureProfile(ctx context.Context, c *awsv1.EC2NodeClass) (string, error) {
	s.meet()
	return s.fakeInventory.EnsureProfile(ctx, c)
}

// A look that has to be repeated keeps no other one waiting.
func TestLooksAreMadeAtTheSameTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // where those who wait for each other for ever are found out
		r := harness.New(t, memory.Options{}, class())
		s := slow{newInventory(), &sync.WaitGroup{}}
		s.looks.Add(4)
		r.Run(nodeclass.New(r.Kit, s, "")[0], "default")
	})
}
