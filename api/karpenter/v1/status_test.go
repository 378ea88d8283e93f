package v1_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "tenon/api/karpenter/v1"
)

// A status keeps the quantities that can be read, and leaves out the others at once: the definitions take
// exponents for which a parser needs hours.
func TestQuantitiesOfAStatus(t *testing.T) {
	t.Parallel()
	const absurd = `{"cpu":"1e-1000000000","memory":"4Gi","pods":10}`
	began := time.Now()
	var claim v1.NodeClaim
	if err := json.Unmarshal([]byte(`{"status":{"nodeName":"n","imageID":"ami-1","capacity":`+absurd+`,"allocatable":`+absurd+`,"conditions":[{"type":"Ready","status":"True"}]}}`), &claim); err != nil {
		t.Fatal(err)
	}
	var pool v1.NodePool
	if err := json.Unmarshal([]byte(`{"status":{"nodes":3,"resources":`+absurd+`}}`), &pool); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %s", took)
	}
	want := map[string]string{"memory": "4Gi", "pods": "10"}
	for where, list := range map[string]v1.Limits{
		"capacity": v1.Limits(claim.Status.Capacity), "allocatable": v1.Limits(claim.Status.Allocatable), "resources": v1.Limits(pool.Status.Resources),
	} {
		got := map[string]string{}
		for name, q := range list {
			got[string(name)] = q.String()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", where, diff)
		}
	}
	if s := claim.Status; s.NodeName != "n" || s.ImageID != "ami-1" || len(s.Conditions) != 1 || *pool.Status.Nodes != 3 {
		t.Errorf("the rest of the status is %+v, %+v", s, pool.Status)
	}
	var empty v1.NodeClaim
	if err := json.Unmarshal([]byte(`{"status":{}}`), &empty); err != nil || empty.Status.Capacity != nil {
		t.Errorf("an empty status: %+v, %v", empty.Status, err)
	}
	if err := json.Unmarshal([]byte(`{"status":{"capacity":{"cpu":{}}}}`), &empty); err == nil {
		t.Error("a quantity that no definition accepts is read")
	}
}
