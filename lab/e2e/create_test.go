package e2e

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/lab/labtest"
)

func create(t *testing.T, lab *labtest.Lab, namespace string, object client.Object) {
	t.Helper()
	object.SetNamespace(namespace)
	if err := lab.Client.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T %s: %v", object, object.GetName(), err)
	}
}
