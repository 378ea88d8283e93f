package launchtemplate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	clocktesting "k8s.io/utils/clock/testing"

	"tenon/cloud/aws/api"
	"tenon/cloud/aws/launchtemplate"
)

// fakeEC2 keeps the names of launch templates, and records the calls.
type fakeEC2 struct {
	mu    sync.Mutex
	names []string
	calls []string
	fail  error
}

func (s *fakeEC2) note(call string) error {
	s.calls = append(s.calls, call)
	return s.fail
}

func (s *fakeEC2) CreateLaunchTemplate(_ context.Context, in *ec2.CreateLaunchTemplateInput, _ ...api.EC2Options) (*ec2.CreateLaunchTemplateOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.note("create"); err != nil {
		return nil, err
	}
	if slices.Contains(s.names, *in.LaunchTemplateName) {
		return nil, &smithy.GenericAPIError{Code: "InvalidLaunchTemplateName.AlreadyExistsException"}
	}
	s.names = append(s.names, *in.LaunchTemplateName)
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: s.item(*in.LaunchTemplateName)}, nil
}

func (s *fakeEC2) item(name string) *types.LaunchTemplate {
	return &types.LaunchTemplate{LaunchTemplateName: &name, LaunchTemplateId: aws.String("lt-" + name)}
}

func (s *fakeEC2) DescribeLaunchTemplates(_ context.Context, in *ec2.DescribeLaunchTemplatesInput, _ ...api.EC2Options) (*ec2.DescribeLaunchTemplatesOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.note("describe"); err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplatesOutput{}
	for _, name := range s.names {
		if len(in.LaunchTemplateNames) == 0 || slices.Contains(in.LaunchTemplateNames, name) {
			out.LaunchTemplates = append(out.LaunchTemplates, *s.item(name))
		}
	}
	if len(in.LaunchTemplateNames) > 0 && len(out.LaunchTemplates) == 0 {
		return nil, &smithy.GenericAPIError{Code: "InvalidLaunchTemplateName.NotFoundException"}
	}
	return out, nil
}

func (s *fakeEC2) DeleteLaunchTemplate(_ context.Context, in *ec2.DeleteLaunchTemplateInput, _ ...api.EC2Options) (*ec2.DeleteLaunchTemplateOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.note("delete"); err != nil {
		return nil, err
	}
	name := aws.ToString(in.LaunchTemplateName) + strings.TrimPrefix(aws.ToString(in.LaunchTemplateId), "lt-")
	before := len(s.names)
	s.names = slices.DeleteFunc(s.names, func(other string) bool { return other == name })
	if len(s.names) == before {
		return nil, &smithy.GenericAPIError{Code: "InvalidLaunchTemplateId.NotFound"}
	}
	return &ec2.DeleteLaunchTemplateOutput{}, nil
}

func (s *fakeEC2) expect(t *testing.T, when, calls string, names int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.calls, " "); got != calls || len(s.names) != names {
		t.Errorf("%s: calls %q and %d template(s), want %q and %d", when, got, len(s.names), calls, names)
	}
	s.calls = nil
}

func hold(t *testing.T, s *launchtemplate.Store, made launchtemplate.Template) func() {
	t.Helper()
	release, err := s.Hold(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func sweep(t *testing.T, s *launchtemplate.Store) {
	t.Helper()
	if err := s.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
}

// The store makes a template once, keeps it while it is in use, and then deletes it.
func TestStore(t *testing.T) {
	t.Parallel()
	far, clock := &fakeEC2{}, clocktesting.NewFakeClock(time.Unix(0, 0))
	s := launchtemplate.NewStore(far, "lab", clock, nil)
	made := build(t)
	release := hold(t, s, made)
	hold(t, s, made)()
	far.expect(t, "held twice", "describe create", 1)
	clock.Step(launchtemplate.Idle)
	sweep(t, s)
	far.expect(t, "swept while held", "", 1)
	release()
	sweep(t, s)
	far.expect(t, "swept too early", "", 1)
	clock.Step(launchtemplate.Idle)
	sweep(t, s)
	far.expect(t, "swept", "delete", 0)
	sweep(t, s)
	far.expect(t, "swept again", "", 0)
}

// Ten launches at the same time make one template.
func TestStoreAtOnce(t *testing.T) {
	t.Parallel()
	far := &fakeEC2{}
	s := launchtemplate.NewStore(far, "lab", clocktesting.NewFakeClock(time.Unix(0, 0)), nil)
	made := build(t)
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() { hold(t, s, made)() })
	}
	group.Wait()
	far.expect(t, "at once", "describe create", 1)
}

// The store makes a template that is gone from EC2 again, and finds and deletes those that an earlier process
// left.
func TestStoreAndOthers(t *testing.T) {
	t.Parallel()
	far, clock := &fakeEC2{}, clocktesting.NewFakeClock(time.Unix(0, 0))
	s := launchtemplate.NewStore(far, "lab", clock, nil)
	made := build(t)
	hold(t, s, made)()
	far.names = nil
	s.Forget(made.Name)
	hold(t, s, made)()
	far.expect(t, "made again", "describe create describe create", 1)

	next := launchtemplate.NewStore(far, "lab", clock, nil)
	if err := next.Hydrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	hold(t, next, made)()
	far.expect(t, "adopted", "describe", 1)
	clock.Step(launchtemplate.Idle)
	sweep(t, next)
	far.expect(t, "deleted", "delete", 0)
	sweep(t, s)
	far.expect(t, "deleted by another", "delete", 0)

	hold(t, s, made)()
	if err := s.DeleteAll(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	far.expect(t, "with its class", "describe create describe delete", 0)
}

// The caller gets an error of EC2, and the next call tries again.
func TestStoreFailure(t *testing.T) {
	t.Parallel()
	far := &fakeEC2{fail: errors.New("down")}
	s := launchtemplate.NewStore(far, "lab", clocktesting.NewFakeClock(time.Unix(0, 0)), nil)
	made := build(t)
	if _, err := s.Hold(t.Context(), made); !errors.Is(err, far.fail) {
		t.Errorf("error %v, want %v", err, far.fail)
	}
	far.fail = nil
	hold(t, s, made)()
}
