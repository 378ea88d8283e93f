package reason

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestUnreadyHasWords: every code of a pool that may not launch has a text with its operands.
func TestUnreadyHasWords(t *testing.T) {
	t.Parallel()
	cases := map[Unready]string{
		{}:                          "",
		{Code: NodeClassRefMissing}: "spec.template.spec.nodeClassRef is missing",
		{Code: NodeClassUnmanaged, Kind: "OtherClass", Group: "example.com"}: "its node class is of a kind that is not managed here: OtherClass in group example.com",
		{Code: PoolDeleted}:                             "is being deleted",
		{Code: PoolInvalid, Message: "a label is bad"}:  "a label is bad",
		{Code: CatalogFailed, Message: "access denied"}: "access denied",
		{Code: NotReady, Message: "no subnets"}:         "not ready: no subnets",
		{Code: PoolUnjudged}:                            "not ready: awaiting reconciliation",
		{Code: PoolStatic}:                              "is static: its nodes follow spec.replicas, not the pods",
		{Code: CatalogMissing}:                          "there is no catalogue of instance types for it",
		{Code: PoolLimitsAwaited}:                       "pods wait for what its limits leave",
	}
	for u, want := range cases {
		if got := u.Text(); got != want {
			t.Errorf("%s reads %q, want %q", u.Code, got, want)
		}
	}
}

// TestUnreadyIsReadFromItsOldForm: snapshots of older builds have a sentence in place of the code,
// and a field that Tenon does not know is an error.
func TestUnreadyIsReadFromItsOldForm(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		data string
		want Unready
		err  string
	}{
		"a sentence":       {`"not ready: no subnets"`, Unready{Code: PoolInvalid, Message: "not ready: no subnets"}, ""},
		"a code":           {`{"code":"NotReady","message":"no subnets"}`, Unready{Code: NotReady, Message: "no subnets"}, ""},
		"an unknown field": {`{"code":"NotReady","why":"no subnets"}`, Unready{}, "unknown field"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got Unready
			err := json.Unmarshal([]byte(tc.data), &got)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
}
