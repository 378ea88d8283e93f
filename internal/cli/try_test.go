package cli

import (
	"strings"
	"testing"
	"time"

	"tenon/core/snapshot"
	"tenon/internal/aws"
	"tenon/internal/dashboard"
)

// TestTryNamesTheField checks that the page What-if names the field that it could not read, not a flag.
func TestTryNamesTheField(t *testing.T) {
	t.Parallel()
	try := Try(Env{LookupEnv: func(string) (string, bool) { return "", false }, Cloud: aws.Cloud()})
	for want, q := range map[string]dashboard.Question{
		"manifests: document 1: line 2":                                           {Manifests: "kind: NodePool\nspec: {"},
		"manifests: document 1: NodePool a: unknown field":                        {Manifests: "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {wight: 4}"},
		"manifests: document 1: want a Kubernetes object":                         {Manifests: "hello"},
		"manifests: the field takes pools, workloads":                             {Manifests: "apiVersion: v1\nkind: Node\nmetadata: {name: a}"},
		"replicas: \"web\" is neither KIND/NAME":                                  {Scale: []string{"web=5"}},
		"has no pod that others could be like: add its manifest to the manifests": {Scale: []string{"deployment/web=5"}},
		"object that is taken away: \"x\" is neither KIND/NAME":                   {Without: []string{"x"}},
		"say what is to be tried":                                                 {},
	} {
		if _, err := try(t.Context(), &snapshot.Snapshot{Now: time.Unix(0, 0)}, q); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "--") {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
}
