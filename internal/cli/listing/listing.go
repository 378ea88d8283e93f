// Package listing reads from a live cluster every object that a decision depends on, page by page.
// It only ever reads.
package listing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"tenon/core/order"
	"tenon/internal/ingest"
)

// Options are what is read besides what always is.
type Options struct {
	// Overlays are read when they play a part.
	Overlays bool
	// Buffers are read, with what they refer to, when they play a part.
	Buffers bool
	// Requests are ProvisioningRequests, with what they refer to.
	Requests bool
	// Owners are the workloads and services that default topology spreads look at.
	Owners bool
	// Progress, if set, is told after every page.
	Progress func(kind string, objects int)
	// Note, if set, is told what is left out because the user may not read it.
	Note func(text string)
}

// pageSize is the number of objects in a page: what kubectl asks for.
const pageSize = 500

// Read lists all objects. Of kinds that a cluster may do without, none is an answer.
func Read(ctx context.Context, config *rest.Config, options Options) (*ingest.Objects, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("prepare a client for %s: %w", config.Host, err)
	}
	r := reader{client: client.RESTClient(), options: options, objects: &ingest.Objects{}}
	var missing, forbidden []string
	for _, s := range sources(options) {
		err := r.list(ctx, s)
		switch {
		case err == nil:
		case apierrors.IsNotFound(err) && s.optional:
		case apierrors.IsNotFound(err):
			missing = append(missing, s.kind)
		case apierrors.IsForbidden(err) && s.optional && !r.served(ctx, s):
		case apierrors.IsForbidden(err):
			forbidden = append(forbidden, s.path)
		default:
			return nil, fmt.Errorf("list %s of %s: %w", s.path, config.Host, err)
		}
	}
	if err := r.quotas(ctx); err != nil {
		return nil, fmt.Errorf("list quotas of %s: %w", config.Host, err)
	}
	return r.objects, complain(config.Host, missing, forbidden)
}

// quotas reads the ResourceQuotas and, of namespaces that have one, the workloads that make pods. No decision depends on
// the pods that a quota refuses, so that a user who may not read these gets an answer without them.
func (r *reader) quotas(ctx context.Context) error {
	lists := []source{{path: "/api/v1/resourcequotas", kind: "ResourceQuota", make: func() metav1.Object { return &corev1.ResourceQuota{} }}}
	for i := 0; i < len(lists); i++ {
		found, err := r.all(ctx, lists[i])
		if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
			if r.options.Note != nil {
				r.options.Note("this user may not list " + lists[i].path + ": pods that quotas refuse may be missing from the answer")
			}
			continue
		}
		if err != nil {
			return err
		}
		if i > 0 {
			r.objects.Makers = append(r.objects.Makers, found...)
			continue
		}
		namespaces := map[string]bool{}
		for _, quota := range found {
			r.objects.Add(quota)
			namespaces[quota.GetNamespace()] = true
		}
		for _, namespace := range order.Keys(namespaces) {
			lists = append(lists, makers(namespace)...)
		}
	}
	return nil
}

// all reads all pages of a kind. Should the server forget where a listing was (it does after
// some minutes), the kind is read again in one go.
func (r *reader) all(ctx context.Context, s source) ([]metav1.Object, error) {
	found, err := r.pages(ctx, s, pageSize)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		found, err = r.pages(ctx, s, 0)
	}
	return found, err
}

func complain(host string, missing, forbidden []string) error {
	var problems []error
	if len(missing) > 0 {
		problems = append(problems, fmt.Errorf("%s has no %s: install the custom resource definitions, or plan from files with -f", host, strings.Join(missing, " and no ")))
	}
	if len(forbidden) > 0 {
		problems = append(problems, fmt.Errorf("%s does not let this user list %s: a plan without them would be wrong; the verbs get and list are enough", host, strings.Join(forbidden, ", ")))
	}
	return errors.Join(problems...)
}

// served reports whether the API server knows a kind's group and version. A user without rights to the group is forbidden to
// list a kind that does not exist, while every user may ask which groups exist.
func (r *reader) served(ctx context.Context, s source) bool {
	group := s.path[:strings.LastIndexByte(s.path, '/')]
	return !apierrors.IsNotFound(r.client.Get().AbsPath(group).Do(ctx).Error())
}

// reader collects what the pages hold.
type reader struct {
	client  rest.Interface
	options Options
	objects *ingest.Objects
	count   int
}

// list reads all of a kind.
func (r *reader) list(ctx context.Context, s source) error {
	found, err := r.all(ctx, s)
	if err != nil {
		return err
	}
	for _, object := range found {
		if s.class {
			r.objects.AddNodeClass(s.group(), s.kind, object)
			continue
		}
		r.objects.Add(object)
	}
	return nil
}

// pages reads a kind in pages of a size; 0 means all at once.
func (r *reader) pages(ctx context.Context, s source, size int) ([]metav1.Object, error) {
	var found []metav1.Object
	for next := ""; ; {
		items, more, err := r.page(ctx, s, size, next)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			object := s.make()
			if err := json.Unmarshal(item, object); err != nil {
				return nil, fmt.Errorf("read a %s: %w", s.kind, err)
			}
			found = append(found, object)
		}
		if r.count += len(items); r.options.Progress != nil {
			r.options.Progress(s.kind, r.count)
		}
		if next = more; next == "" {
			return found, nil
		}
	}
}

// page reads one page, and the token of the next.
func (r *reader) page(ctx context.Context, s source, size int, token string) ([]json.RawMessage, string, error) {
	request := r.client.Get().AbsPath(s.path)
	if size > 0 {
		request = request.Param("limit", strconv.Itoa(size))
	}
	if token != "" {
		request = request.Param("continue", token)
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil { // it reads the server's reason, which Raw does not
		return nil, "", err
	}
	text, err := result.Raw()
	if err != nil {
		return nil, "", err
	}
	var shell struct {
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &shell); err != nil {
		return nil, "", fmt.Errorf("read the answer: %w", err)
	}
	return shell.Items, shell.Metadata.Continue, nil
}
