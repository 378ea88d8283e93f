package aws_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	clocktesting "k8s.io/utils/clock/testing"

	"tenon/lab/aws"
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/boot"
	"tenon/lab/kubelet"
)

// emulator is an AWS emulator with a clock that stands still until the test moves it.
type emulator struct {
	*aws.Server
	t        *testing.T
	url      string
	clock    *clocktesting.FakeClock
	machines *machines
}

var start = time.Date(2026, time.August, 21, 12, 0, 0, 0, time.UTC)

func newEmulator(t *testing.T, change ...func(*aws.Config)) *emulator {
	t.Helper()
	c := aws.Defaults()
	e := &emulator{t: t, clock: clocktesting.NewFakeClock(start), machines: &machines{}}
	c.Resources.Clock, c.Resources.Machines, c.Resources.Seed = e.clock, e.machines, 7
	c.Resources.Images = []accounts.ImageSpec{{Name: "golden", Architecture: "x86_64", Family: boot.AL2023, Tags: map[string]string{"team": "a"}, Parameter: "/golden/image"}}
	for _, f := range change {
		f(&c)
	}
	server, err := aws.New(c)
	if err != nil {
		t.Fatal(err)
	}
	e.Server = server
	h := httptest.NewServer(judged(t, server, c))
	t.Cleanup(h.Close)
	e.url = h.URL
	return e
}

type configuration = aws.Config

// config returns an SDK configuration for a caller of an account in a region, without retries.
func (e *emulator) config(account, region string) sdk.Config {
	return sdk.Config{
		Region: region, BaseEndpoint: sdk.String(e.url),
		Credentials: sdk.CredentialsProviderFunc(func(context.Context) (sdk.Credentials, error) {
			return sdk.Credentials{AccessKeyID: account, SecretAccessKey: "secret"}, nil
		}),
		Retryer: func() sdk.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) },
	}
}

const (
	account = "000000000001"
	region  = "us-west-2"
)

func (e *emulator) ec2() *ec2.Client { return ec2.NewFromConfig(e.config(account, region)) }

// pass moves the clock, and carries out everything that is due.
func (e *emulator) pass(d time.Duration) {
	e.clock.Step(d)
	e.World().Survey() // every question brings the world up to date
}

// machines record what they are told.
type machines struct {
	mu         sync.Mutex
	launched   []kubelet.Instance
	terminated []string
	faults     map[string]kubelet.Fault
}

func (m *machines) Launch(i kubelet.Instance) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.launched = append(m.launched, i)
	return nil
}

func (m *machines) Terminate(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.terminated = append(m.terminated, id)
}

func (m *machines) SetFault(id string, f kubelet.Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.faults == nil {
		m.faults = map[string]kubelet.Fault{}
	}
	m.faults[id] = f
}

func (m *machines) all() []kubelet.Instance {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]kubelet.Instance{}, m.launched...)
}

// code returns the code of an API error, or a text that says that there is none.
func code(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return "no error"
	case errors.As(err, &api):
		return api.ErrorCode()
	default:
		return "no answer: " + err.Error()
	}
}

// cause asks the control API for a fault.
func (e *emulator) cause(text string) (struck []string) {
	e.t.Helper()
	status, body := e.post("/lab/faults", text)
	if status != http.StatusOK {
		e.t.Fatalf("POST /lab/faults %s: %d %s", text, status, body)
	}
	var answer struct{ Struck []string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		e.t.Fatal(err)
	}
	return answer.Struck
}

func (e *emulator) post(path, text string) (status int, body string) {
	e.t.Helper()
	r, err := http.Post(e.url+path, "application/json", strings.NewReader(text))
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// must returns the answer of a call, and fails the test on an error.
func must[T any](t *testing.T, answer T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// got makes must usable with a call that returns two values.
func got[T any](answer T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		return must(t, answer, err)
	}
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: sdk.String(name), Values: values}
}

// The lab's simulated kubelets implement the emulator's interface of machines.
var _ accounts.Machines = (*kubelet.Fleet)(nil)
