package preflight

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/parallel"
	"tenon/internal/settings"
)

// Options say what is looked at.
type Options struct {
	// Client reads from the API server, not from a cache.
	Client client.Client
	// Version is what the API server says of itself.
	Version string
	// ServiceAccount is the one whose rights are asked about; the zero value is the caller itself.
	ServiceAccount client.ObjectKey
	// Namespace is where the controller is, or is going to be.
	Namespace string
	Settings  settings.Settings
	Now       time.Time
}

// askAtOnce is how many access reviews are sent side by side.
const askAtOnce = 8

// Cluster looks at the cluster. An error is a mistake of the build; what the cluster lacks, or does not let the
// caller see, is a finding.
func Cluster(ctx context.Context, o Options) ([]Finding, error) {
	definitions, err := o.definitions(ctx)
	if err != nil {
		return nil, err
	}
	findings := append([]Finding{judgeVersion(o.Version)}, definitions...)
	findings = append(findings, o.rights(ctx)...)
	return append(findings, o.autoscalers(ctx)...), nil
}

func (o Options) definitions(ctx context.Context) ([]Finding, error) {
	list, err := wanted(o.Settings)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	for _, ours := range list {
		theirs := &apiextensionsv1.CustomResourceDefinition{}
		err := o.Client.Get(ctx, client.ObjectKeyFromObject(ours), theirs)
		switch {
		case apierrors.IsNotFound(err):
			findings = append(findings, judgeDefinition(ours, nil))
		case err != nil:
			return append(findings, unseen(checkDefinitions, err)), nil
		default:
			findings = append(findings, judgeDefinition(ours, theirs))
		}
	}
	return findings, nil
}

// unseen is a check that the caller is not allowed to make, or that went wrong.
func unseen(check string, err error) Finding {
	return Finding{check, Skipped, "could not be looked at: " + err.Error(), "", "run it as an administrator of the cluster"}
}

func (o Options) rights(ctx context.Context) []Finding {
	list := Rights(o.Settings, o.Namespace)
	allowed := make([]bool, len(list))
	trouble := make([]error, len(list))
	parallel.Run(askAtOnce, len(list), func(i int) { allowed[i], trouble[i] = o.may(ctx, list[i]) })
	var denied []Right
	for i, right := range list {
		if trouble[i] != nil {
			return []Finding{unseen(checkRights, trouble[i])}
		}
		if !allowed[i] {
			denied = append(denied, right)
		}
	}
	return judgeRights(o.subject(), len(list), denied)
}

func (o Options) subject() string {
	if o.ServiceAccount.Name == "" {
		return "the caller"
	}
	return "ServiceAccount " + o.ServiceAccount.String()
}

// may asks the API server about one right.
func (o Options) may(ctx context.Context, r Right) (bool, error) {
	attributes := &authorizationv1.ResourceAttributes{
		Namespace: r.Namespace, Verb: r.Verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Name: r.Name,
	}
	if o.ServiceAccount.Name == "" {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}
		err := o.Client.Create(ctx, review)
		return review.Status.Allowed, err
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		ResourceAttributes: attributes,
		User:               "system:serviceaccount:" + o.ServiceAccount.Namespace + ":" + o.ServiceAccount.Name,
		Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + o.ServiceAccount.Namespace, "system:authenticated"},
	}}
	err := o.Client.Create(ctx, review)
	return review.Status.Allowed, err
}

func (o Options) autoscalers(ctx context.Context) []Finding {
	s := seen{now: o.Now, lease: o.Settings.LeaderElectionName, namespace: o.Namespace}
	deployments := &appsv1.DeploymentList{}
	if err := o.Client.List(ctx, deployments); err != nil {
		return []Finding{unseen(checkAutoscalers, err)}
	}
	s.deployments = deployments.Items
	for _, name := range []string{leaseKarpenter, leaseClusterCA} {
		leases := &coordinationv1.LeaseList{}
		if err := o.Client.List(ctx, leases, client.MatchingFields{"metadata.name": name}); err != nil {
			return []Finding{unseen(checkAutoscalers, err)}
		}
		s.leases = append(s.leases, leases.Items...)
	}
	err := o.Client.Get(ctx, client.ObjectKey{Name: autoMode}, &apiextensionsv1.CustomResourceDefinition{})
	s.autoMode = err == nil
	return judgeAutoscalers(s)
}

// ParseServiceAccount reads NAMESPACE/NAME.
func ParseServiceAccount(text string) (client.ObjectKey, error) {
	namespace, name, ok := strings.Cut(text, "/")
	if text != "" && (!ok || namespace == "" || name == "" || strings.Contains(name, "/")) {
		return client.ObjectKey{}, fmt.Errorf("read --service-account %q: write NAMESPACE/NAME, such as kube-system/tenon", text)
	}
	return client.ObjectKey{Namespace: namespace, Name: name}, nil
}
