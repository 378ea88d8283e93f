package network_test

import (
	"testing"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/network"
)

// Launches affect the choice of a subnet before EC2 has counted them.
func TestAddressesInFlight(t *testing.T) {
	t.Parallel()
	a := network.NewAddresses()
	subnets := []awsv1.Subnet{{ID: "s1", Zone: "a"}, {ID: "s2", Zone: "a"}, {ID: "s3", Zone: "b"}}
	best := func(want string) {
		t.Helper()
		if got, _ := a.Best(subnets, "a"); got.ID != want {
			t.Errorf("best subnet %s, want %s", got.ID, want)
		}
	}
	best("s1") // without any counts, the first is best
	a.Synced("s1", 100)
	a.Synced("s2", 90)
	best("s1")
	unused := a.Take("s1", 29)
	best("s2")
	a.Return(unused)
	best("s1")
	late := a.Take("s1", 29)
	a.Synced("s1", 95) // EC2's figure includes the launch
	a.Return(late)     // must not count the launch twice
	if free := a.Free("s1"); free != 95 {
		t.Errorf("%d addresses, want what EC2 said", free)
	}
	a.Exhausted("s1")
	best("s2")
	if _, found := a.Best(subnets, "c"); found {
		t.Error("a subnet in a zone without any")
	}
}
