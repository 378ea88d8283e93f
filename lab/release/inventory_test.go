package release

import (
	"fmt"
	"os"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
)

// Names of objects that the controller keeps in its namespace.
const (
	lease     = "karpenter-leader-election"
	learned   = "tenon-learned-capacity"
	published = "tenon-market"
)

func leaseOf(name string) client.Object {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func configOf(name string) client.Object {
	return &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// passing are kinds with objects that Kubernetes makes and removes on its own.
var passing = []string{"events", "componentstatuses", "endpointslices", "endpoints", "csinodes"}

// everything returns all objects in the cluster and in the account, and which nodes have finalizers.
func (s *site) everything() map[string]bool {
	s.Helper()
	found := map[string]bool{}
	for _, id := range s.inAWS() {
		found[id] = true
	}
	resources, err := s.lab.Clients.Discovery().ServerPreferredResources()
	if err != nil {
		s.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(s.lab.Config)
	if err != nil {
		s.Fatal(err)
	}
	for _, group := range resources {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			s.Fatal(err)
		}
		for _, r := range group.APIResources {
			if !slices.Contains(r.Verbs, "list") || slices.Contains(passing, r.Name) {
				continue
			}
			list, err := objects.Resource(version.WithResource(r.Name)).List(s.Context(), metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				continue // its definition has just gone
			}
			if err != nil {
				s.Fatal(err)
			}
			for _, o := range list.Items {
				found[strings.Join([]string{r.Name, o.GetNamespace(), o.GetName(), strings.Join(o.GetFinalizers(), " ")}, "/")] = true
			}
		}
	}
	return found
}

// inAWS returns what the cluster pays for in its account, or has to clean up there.
func (s *site) inAWS() []string {
	s.Helper()
	var found []string
	for id := range s.machines() {
		found = append(found, id)
	}
	account := s.account()
	templates, err := ec2.NewFromConfig(account).DescribeLaunchTemplates(s.Context(), &ec2.DescribeLaunchTemplatesInput{})
	if err != nil {
		s.Fatal(err)
	}
	for _, t := range templates.LaunchTemplates {
		found = append(found, "launch template "+sdk.ToString(t.LaunchTemplateName))
	}
	profiles, err := iam.NewFromConfig(account).ListInstanceProfiles(s.Context(), &iam.ListInstanceProfilesInput{})
	if err != nil {
		s.Fatal(err)
	}
	for _, p := range profiles.InstanceProfiles {
		found = append(found, "instance profile "+sdk.ToString(p.InstanceProfileName))
	}
	return found
}

// account returns a client of the emulated AWS for its administrator.
func (s *site) account() sdk.Config {
	s.Helper()
	text, err := os.ReadFile(s.lab.Directory.Environment())
	if err != nil {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if url, is := strings.CutPrefix(strings.TrimSpace(line), "AWS_ENDPOINT_URL="); is {
			return sdk.Config{
				Region: "us-west-2", BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider("000000000001", "lab", ""),
			}
		}
	}
	s.Fatalf("no AWS in %s", text)
	return sdk.Config{}
}

// machines returns the instances that cost money.
func (s *site) machines() map[string]bool {
	s.Helper()
	found := map[string]bool{}
	for _, i := range s.lab.AWS(s).Instances(s) {
		if i.Alive() {
			found[i.ID] = true
		}
	}
	return found
}

// definitions returns Tenon's resource definitions, by name and UID.
func (s *site) definitions() map[string]string {
	s.Helper()
	found := map[string]string{}
	for _, d := range s.definitionObjects() {
		found[d.GetName()] = string(d.GetUID())
	}
	return found
}

// definitionsLeft describes the resource definitions that are left, and how far their deletion is.
func (s *site) definitionsLeft() []string {
	s.Helper()
	var left []string
	for _, d := range s.definitionObjects() {
		conditions, _, _ := unstructured.NestedSlice(d.Object, "status", "conditions")
		left = append(left, fmt.Sprintf("%s, deleted at %v: %v", d.GetName(), d.GetDeletionTimestamp(), conditions))
	}
	return left
}

func (s *site) definitionObjects() []unstructured.Unstructured {
	s.Helper()
	objects, err := dynamic.NewForConfig(s.lab.Config)
	if err != nil {
		s.Fatal(err)
	}
	list, err := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return list.Items
}

func (s *site) claims() []karpenterv1.NodeClaim {
	s.Helper()
	list := &karpenterv1.NodeClaimList{}
	if err := s.lab.Client.List(s.Context(), list); err != nil {
		s.Fatal(err)
	}
	return list.Items
}
