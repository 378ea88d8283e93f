package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"tenon/cloud/aws/api"
)

// connect makes clients for a server that answers with the given handler.
func connect(t *testing.T, answer http.HandlerFunc, change func(*api.Options)) api.Clients {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	o := api.Options{
		Region: "us-west-2", Endpoint: server.URL, Version: "1.2.3",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		}),
	}
	if change != nil {
		change(&o)
	}
	clients, err := api.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

const refusal = `<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>later</Message></Error></Errors><RequestID>1</RequestID></Response>`

// A refusal teaches the limiter about its operation, and the observer hears of every attempt and call.
func TestCallsArePacedAndCounted(t *testing.T) {
	t.Parallel()
	limiter := api.NewLimiter(clock.RealClock{})
	var mu sync.Mutex
	var calls []api.Call
	agent := ""
	clients := connect(t, func(w http.ResponseWriter, r *http.Request) {
		agent = r.Header.Get("User-Agent")
		_ = r.ParseForm() // a form that cannot be read has no action
		if r.Form.Get("Action") == "DescribeSubnets" {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, refusal)
			return
		}
		fmt.Fprint(w, `<DescribeImagesResponse><requestId>1</requestId><imagesSet/></DescribeImagesResponse>`)
	}, func(o *api.Options) {
		o.Limiter, o.Clock = limiter, clock.RealClock{}
		o.Observe = func(c api.Call) {
			mu.Lock()
			defer mu.Unlock()
			c.Took = 0
			calls = append(calls, c)
		}
	})
	if _, err := clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}, api.Once); !api.IsThrottled(err) {
		t.Errorf("error %v", err)
	}
	if _, err := clients.EC2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{}, api.Once); err != nil {
		t.Error(err)
	}
	want := []api.Call{
		{Service: "EC2", Operation: "DescribeSubnets", Status: 503, Attempt: true}, {Service: "EC2", Operation: "DescribeSubnets", Status: 503},
		{Service: "EC2", Operation: "DescribeImages", Status: 200, Attempt: true}, {Service: "EC2", Operation: "DescribeImages", Status: 200},
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if limiter.Rate("EC2 DescribeSubnets") == 0 || limiter.Rate("EC2 DescribeImages") != 0 {
		t.Error("the limiter has learned nothing, or too much")
	}
	if !strings.Contains(agent, "karpenter.sh/1.2.3") {
		t.Errorf("user agent %q", agent)
	}
}

// A caller whose context has ended does not wait for its turn.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	limiter := api.NewLimiter(clock.RealClock{})
	permit, _ := limiter.Wait(t.Context(), "EC2 DescribeSubnets")
	permit.Done(true)
	clients := connect(t, func(http.ResponseWriter, *http.Request) { t.Error("called before its turn") }, func(o *api.Options) { o.Limiter = limiter })
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := clients.EC2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{}); err == nil {
		t.Error("no error")
	}
}

// The package distinguishes errors by their codes. Of DryRun the AWS SDK says (ec2 v1.344.0, TerminateInstancesInput):
// "If you have the required permissions, the error response is DryRunOperation. Otherwise, it is UnauthorizedOperation."
func TestErrors(t *testing.T) {
	t.Parallel()
	of := func(code string, fault smithy.ErrorFault) error {
		return fmt.Errorf("wrapped: %w", &smithy.GenericAPIError{Code: code, Message: "text", Fault: fault})
	}
	cases := map[string]struct {
		err                                              error
		notFound, dryRun, unauthorized, throttled, fault bool
	}{
		"none":       {err: nil, dryRun: true},
		"no answer":  {err: errors.New("connection refused")},
		"dry run":    {err: of("DryRunOperation", 0), dryRun: true},
		"gone":       {err: of("InvalidInstanceID.NotFound", 0), notFound: true},
		"no entity":  {err: of("NoSuchEntity", 0), notFound: true},
		"no right":   {err: of("UnauthorizedOperation", 0), unauthorized: true},
		"too many":   {err: of("RequestLimitExceeded", 0), throttled: true},
		"throttling": {err: of("ThrottlingException", 0), throttled: true},
		"theirs":     {err: of("ServerException", smithy.FaultServer), fault: true},
	}
	for name, tc := range cases {
		got := [5]bool{api.IsNotFound(tc.err), api.IsDryRun(tc.err), api.IsUnauthorized(tc.err), api.IsThrottled(tc.err), api.IsServerFault(tc.err)}
		if want := [5]bool{tc.notFound, tc.dryRun, tc.unauthorized, tc.throttled, tc.fault}; got != want {
			t.Errorf("%s: not found, dry run, unauthorized, throttled, server fault are %v, want %v", name, got, want)
		}
	}
	if got := api.Explain(of("RequestExpired", 0)); got != "RequestExpired: text" {
		t.Errorf("explained as %q", got)
	}
}

// Each service has its own codes for what does not exist. EC2's are those of its API Reference, "Error codes for the Amazon EC2 API";
// the others are those of the models of the AWS SDKs.
func TestNotFound(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"InvalidInstanceID.NotFound":                  true,  // "The specified instance does not exist. This error might occur because the ID of a recently created instance has not propagated through the system."
		"InvalidCapacityReservationId.NotFound":       true,  // "The specified Capacity Reservation ID does not exist."
		"InvalidLaunchTemplateId.NotFound":            true,  // "The specified launch template ID does not exist."
		"InvalidLaunchTemplateName.NotFoundException": true,  // "The specified launch template name does not exist. Check the spelling of the name …"
		"InvalidPlacementGroup.Unknown":               true,  // "The specified placement group cannot be found."
		"NoSuchEntity":                                true,  // IAM: "The request was rejected because it referenced a resource entity that does not exist."
		"NoSuchEntityException":                       true,  // The name of the same error in IAM's model.
		"ParameterNotFound":                           true,  // SSM: "The parameter couldn't be found. Verify the name and try again."
		"QueueDoesNotExist":                           true,  // SQS: "Ensure that the QueueUrl is correct and that the queue has not been deleted."
		"AWS.SimpleQueueService.NonExistentQueue":     true,  // SQS's model: the code of QueueDoesNotExist in the Query protocol (trait awsQueryError).
		"InvalidLaunchTemplateId.NotFoundException":   true,  // Not on the page; InvalidLaunchTemplateName's ends so.
		"InvalidCapacityReservationId.Malformed":      false, // "The ID for the Capacity Reservation is malformed."
		"InvalidLaunchTemplateId.VersionNotFound":     false, // "The specified launch template version does not exist.": the template does.
		"RequestLimitExceeded":                        false,
		"":                                            false,
	} {
		if got := api.IsNotFound(&smithy.GenericAPIError{Code: code}); got != want {
			t.Errorf("%q says that something does not exist: %t, want %t", code, got, want)
		}
	}
}

// The service is to blame for the errors that EC2 API Reference, "Error codes for the Amazon EC2 API", lists under "Server error codes", but for
// capacity and rates. The AWS SDK does not say for errors of EC2 which side is to blame.
func TestServerFault(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"InternalError":      true, // "An internal error has occurred. Retry your request"
		"InternalFailure":    true, // "The request processing has failed because of an unknown error, exception, or failure."
		"ServerInternal":     true, // "An internal error has occurred. Retry your request"
		"ServiceUnavailable": true, // "The request has failed due to a temporary failure of the server."
		"Unavailable":        true, // "The server is overloaded and can't handle the request."

		"InsufficientInstanceCapacity": false,
		"RequestLimitExceeded":         false,
		"InvalidParameterValue":        false,
	} {
		if got := api.IsServerFault(&smithy.GenericAPIError{Code: code}); got != want {
			t.Errorf("%q is the service's fault: %t, want %t", code, got, want)
		}
	}
}

// The environment alone can configure the clients, as users of the SDK expect. (The environment belongs to
// the whole process, so this test does not run in parallel.)
func TestEnvironment(t *testing.T) {
	region := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		region = r.Header.Get("Authorization")
		fmt.Fprint(w, `<DescribeImagesResponse><requestId>1</requestId><imagesSet/></DescribeImagesResponse>`)
	}))
	defer server.Close()
	for key, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "eu-north-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(key, value)
	}
	clients, err := api.Connect(t.Context(), api.Options{})
	if err != nil || clients.Region != "eu-north-1" {
		t.Fatalf("region %s, %v", clients.Region, err)
	}
	if _, err := clients.EC2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{}); err != nil || !strings.Contains(region, "/eu-north-1/ec2/") {
		t.Errorf("signed as %q, %v", region, err)
	}
	t.Setenv("AWS_REGION", "")
	if _, err := api.Connect(t.Context(), api.Options{}); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("error %v", err)
	}
}

// In shadow mode the client sends calls that read and refuses calls that change something.
func TestReadOnlyCalls(t *testing.T) {
	t.Parallel()
	sent := 0
	clients := connect(t, func(w http.ResponseWriter, _ *http.Request) {
		sent++
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, refusal)
	}, func(o *api.Options) { o.ReadOnly = true })
	if _, err := clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}, api.Once); errors.Is(err, api.ErrReadOnly) || sent != 1 {
		t.Errorf("reading: %v, %d sent", err, sent)
	}
	if _, err := clients.EC2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{"i-1"}}); !errors.Is(err, api.ErrReadOnly) || sent != 1 {
		t.Errorf("ending: %v, %d sent", err, sent)
	}
}
