// Package shadow lets Tenon run beside another node autoscaler: it reads and decides, but changes nothing.
// The guards make writes impossible below everything else: a connection to the API server that refuses
// requests which change something, and a provider that neither buys nor ends machines. The record compares
// what was decided with what the other autoscaler did.
//
// It must not write.
package shadow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"tenon/cloud"
)

// ErrReadOnly is the error of all that would change something.
var ErrReadOnly = errors.New("shadow mode changes nothing")

// ReadOnly has a connection refuse all requests but those that read.
func ReadOnly(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return guard{next: next} })
}

// LeaseOnly has a connection refuse all requests but those that read, and those that keep a Lease.
func LeaseOnly(config *rest.Config, lease string) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return guard{next: next, lease: lease} })
}

// guard wraps the network's transport.
type guard struct {
	next  http.RoundTripper
	lease string
}

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(request *http.Request) (*http.Response, error) {
	if g.allows(request.Method, request.URL.Path) {
		return g.next.RoundTrip(request)
	}
	if request.Body != nil {
		_ = request.Body.Close() // it was not read, and has no way to say more
	}
	return refusal(request), nil
}

// refusal is what an API server answers that forbids a request: clients do not send it again.
func refusal(request *http.Request) *http.Response {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden,
		Code: http.StatusForbidden, Message: fmt.Sprintf("%s: %s %s is not sent", ErrReadOnly, request.Method, request.URL.Path),
	}
	text, err := json.Marshal(status)
	if err != nil {
		text = nil // a status of texts can always be written
	}
	return &http.Response{
		Status: "403 Forbidden", StatusCode: http.StatusForbidden, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}
}

// leases is the path of Leases in every namespace.
const leases = "/apis/coordination.k8s.io/v1/namespaces/"

func (g guard) allows(method, path string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	case http.MethodPost:
		return g.lease != "" && strings.HasPrefix(path, leases) && strings.HasSuffix(path, "/leases")
	case http.MethodPut:
		return g.lease != "" && strings.HasPrefix(path, leases) && strings.HasSuffix(path, "/leases/"+g.lease)
	}
	return false
}

// Provider is a provider that neither buys nor ends machines.
func Provider(p cloud.Provider) cloud.Provider { return reader{p} }

type reader struct{ cloud.Provider }

// Create implements cloud.Instances.
func (reader) Create(context.Context, cloud.Claim) (cloud.Instance, error) {
	return cloud.Instance{}, fmt.Errorf("%w: nothing is bought", ErrReadOnly)
}

// Delete implements cloud.Instances.
func (reader) Delete(context.Context, string) error {
	return fmt.Errorf("%w: no machine is ended", ErrReadOnly)
}
