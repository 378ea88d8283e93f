package aws_test

import (
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func (s *scaler) state() string {
	s.t.Helper()
	all := s.described().Instances
	if len(all) != 1 {
		s.t.Fatalf("instances = %+v, want one", all)
	}
	return string(all[0].LifecycleState)
}

func (s *scaler) complete(hook, result string) {
	s.t.Helper()
	got(s.CompleteLifecycleAction(s.t.Context(), &autoscaling.CompleteLifecycleActionInput{
		AutoScalingGroupName: sdk.String("g"), LifecycleHookName: &hook, LifecycleActionResult: &result, InstanceId: s.described().Instances[0].InstanceId,
	}))(s.t)
}

// Hooks hold instances in Pending:Wait and Terminating:Wait until the action is completed, or until the
// heartbeat times out and the default result applies.
func TestLifecycleHooks(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(1, func(in *autoscaling.CreateAutoScalingGroupInput) {
		in.LifecycleHookSpecificationList = []asgtypes.LifecycleHookSpecification{
			{LifecycleHookName: sdk.String("up"), LifecycleTransition: sdk.String("autoscaling:EC2_INSTANCE_LAUNCHING"), HeartbeatTimeout: sdk.Int32(1800)},
			{LifecycleHookName: sdk.String("down"), LifecycleTransition: sdk.String("autoscaling:EC2_INSTANCE_TERMINATING"), DefaultResult: sdk.String("CONTINUE"), HeartbeatTimeout: sdk.Int32(600)},
		}
	})
	s.settle()
	s.check("launch", s.state(), "Pending:Wait")
	s.check("activity", string(s.history()[0].StatusCode), "MidLifecycleAction")
	s.complete("up", "CONTINUE")
	s.check("launched", s.state(), "InService")
	if err := s.desire(0); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.check("end", s.state(), "Terminating:Wait")
	id := *s.described().Instances[0].InstanceId
	s.check("instance", string(s.instance(id).State.Name), "running")
	got(s.RecordLifecycleActionHeartbeat(t.Context(), &autoscaling.RecordLifecycleActionHeartbeatInput{AutoScalingGroupName: sdk.String("g"), LifecycleHookName: sdk.String("down"), InstanceId: &id}))(t)
	s.settle()
	s.check("after a heartbeat", s.state(), "Terminating:Wait")
	s.settle()
	s.settle()
	s.check("after the timeout", s.members(), "")
}

// "ABANDON indicates that your custom actions were unsuccessful, and that Amazon EC2 Auto Scaling can terminate the
// instance", and the group launches another.
func TestAbandonedLaunches(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(1)
	got(s.PutLifecycleHook(t.Context(), &autoscaling.PutLifecycleHookInput{AutoScalingGroupName: sdk.String("g"), LifecycleHookName: sdk.String("up"),
		LifecycleTransition: sdk.String("autoscaling:EC2_INSTANCE_LAUNCHING")}))(t)
	s.settle()
	first := *s.described().Instances[0].InstanceId
	s.complete("up", "ABANDON")
	s.settle()
	s.check("another", s.state(), "Pending:Wait")
	if second := *s.described().Instances[0].InstanceId; second == first {
		t.Errorf("%s is still there", first)
	}
	list := got(s.DescribeLifecycleHooks(t.Context(), &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: sdk.String("g")}))(t).LifecycleHooks
	if len(list) != 1 || *list[0].DefaultResult != "ABANDON" || *list[0].HeartbeatTimeout != 3600 || *list[0].GlobalTimeout != 172800 {
		t.Errorf("hooks = %+v", list)
	}
}

// An instance refresh replaces all instances with ones of the newest version, and keeps the healthy share
// in service.
func TestInstanceRefresh(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(4)
	s.settle()
	got(s.ec2().CreateLaunchTemplateVersion(t.Context(), &ec2.CreateLaunchTemplateVersionInput{LaunchTemplateName: sdk.String("nodes"), SourceVersion: sdk.String("1"),
		LaunchTemplateData: &types.RequestLaunchTemplateData{InstanceType: "m5.xlarge"}}))(t)
	name := sdk.String("g")
	in := &autoscaling.StartInstanceRefreshInput{AutoScalingGroupName: name, Preferences: &asgtypes.RefreshPreferences{MinHealthyPercentage: sdk.Int32(50), SkipMatching: sdk.Bool(true)}}
	got(s.StartInstanceRefresh(t.Context(), in))(t)
	_, err := s.StartInstanceRefresh(t.Context(), in)
	s.check("twice", code(err), "InstanceRefreshInProgress")
	least := 4
	for range 100 {
		s.pass(5 * time.Second)
		serving := 0
		for _, i := range s.described().Instances {
			if i.LifecycleState == "InService" {
				serving++
			}
		}
		least = min(least, serving)
	}
	done := got(s.DescribeInstanceRefreshes(t.Context(), &autoscaling.DescribeInstanceRefreshesInput{AutoScalingGroupName: name}))(t).InstanceRefreshes[0]
	if done.Status != "Successful" || *done.PercentageComplete != 100 || least != 2 {
		t.Errorf("refresh = %+v with at least %d in service, want 2", done, least)
	}
	for _, i := range s.described().Instances {
		s.check("type", *i.InstanceType, "m5.xlarge")
	}
	_, err = s.CancelInstanceRefresh(t.Context(), &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: name})
	s.check("cancelled after its end", code(err), "ActiveInstanceRefreshNotFound")
}

// A warm pool holds stopped instances up to the maximum, which do not belong to the group yet; the group
// takes them first when it grows.
func TestWarmPools(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	name := sdk.String("g")
	s.group(1, func(in *autoscaling.CreateAutoScalingGroupInput) { in.MaxSize = sdk.Int32(3) })
	got(s.PutWarmPool(t.Context(), &autoscaling.PutWarmPoolInput{AutoScalingGroupName: name}))(t)
	s.settle()
	pool := func() (ids []string) {
		for _, i := range got(s.DescribeWarmPool(t.Context(), &autoscaling.DescribeWarmPoolInput{AutoScalingGroupName: name}))(t).Instances {
			s.check("state", string(i.LifecycleState), "Warmed:Stopped")
			ids = append(ids, *i.InstanceId)
		}
		return ids
	}
	warm := pool()
	if g := s.described(); len(warm) != 2 || len(g.Instances) != 1 || *g.WarmPoolSize != 2 || g.WarmPoolConfiguration.PoolState != "Stopped" {
		t.Fatalf("warm are %v, group %+v", warm, g)
	}
	if joined := s.machines.all(); len(joined) != 1 {
		t.Errorf("%d machines joined, want the one in service", len(joined))
	}
	if err := s.desire(2); err != nil {
		t.Fatal(err)
	}
	s.settle()
	g := s.described()
	if len(g.Instances) != 2 || len(pool()) != 1 || !strings.Contains(strings.Join(warm, " "), *g.Instances[1].InstanceId) || len(s.machines.all()) != 2 {
		t.Errorf("instances = %+v, want one of %v", g.Instances, warm)
	}
	got(s.DeleteWarmPool(t.Context(), &autoscaling.DeleteWarmPoolInput{AutoScalingGroupName: name}))(t)
	s.settle()
	if left := pool(); len(left) != 0 || len(s.described().Instances) != 2 {
		t.Errorf("left in the pool are %v", left)
	}
}
