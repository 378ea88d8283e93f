package kubelet

import (
	"fmt"
	"net/netip"
	"testing"

	v1 "k8s.io/api/core/v1"
)

func describeList(l v1.ResourceList) string {
	return fmt.Sprintf("%dm %dMi %dMi %dpods", l.Cpu().MilliValue(), l.Memory().Value()>>20, l.StorageEphemeral().Value()>>20, l.Pods().Value())
}

func TestAllocatable(t *testing.T) {
	t.Parallel()
	five := int32(5)
	m5large := quantities("cpu", "2", "memory", "8192Mi", "ephemeral-storage", "20Gi", "pods", "29")
	cases := map[string]struct {
		instance Instance
		want     string
	}{
		// The kubelet's share is 60m + 10m of CPU, 11 × 29 + 255 Mi and 1Gi; eviction keeps 100Mi and 2Gi.
		"an m5.large": {Instance{Capacity: m5large}, "1930m 7518Mi 17408Mi 29pods"},
		// maxPods does not change what the image reserves.
		"fewer pods":       {Instance{Capacity: m5large, Kubelet: KubeletConfig{MaxPods: &five}}, "1930m 7518Mi 17408Mi 5pods"},
		"pods per core":    {Instance{Capacity: m5large, Kubelet: KubeletConfig{PodsPerCore: 4}}, "1930m 7518Mi 17408Mi 8pods"},
		"system reserved":  {Instance{Capacity: m5large, Kubelet: KubeletConfig{SystemReserved: map[string]string{"cpu": "100m"}}}, "1830m 7518Mi 17408Mi 29pods"},
		"kube reserved":    {Instance{Capacity: m5large, Kubelet: KubeletConfig{KubeReserved: map[string]string{"memory": "1Gi"}}}, "1930m 7068Mi 17408Mi 29pods"},
		"eviction percent": {Instance{Capacity: m5large, Kubelet: KubeletConfig{EvictionHard: map[string]string{"memory.available": "50%", "nodefs.available": "100%"}}}, "1930m 3522Mi 19456Mi 29pods"},
		"huge pages":       {Instance{Capacity: quantities("cpu", "2", "memory", "8192Mi", "hugepages-2Mi", "4Gi", "ephemeral-storage", "20Gi", "pods", "29")}, "1930m 3422Mi 17408Mi 29pods"},
		"said outright":    {Instance{Capacity: m5large, Allocatable: quantities("cpu", "1")}, "1000m 0Mi 0Mi 0pods"},
		"never negative":   {Instance{Capacity: quantities("cpu", "1", "memory", "64Mi", "pods", "8")}, "940m 0Mi 0Mi 8pods"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := resourcesOf(tc.instance, nil)
			if err != nil || describeList(got) != tc.want {
				t.Errorf("allocatable = %s, %v; want %s", describeList(got), err, tc.want)
			}
		})
	}
}

func TestBadReservationsAreRefused(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]KubeletConfig{
		"kube":       {KubeReserved: map[string]string{"cpu": "lots"}},
		"system":     {SystemReserved: map[string]string{"cpu": "lots"}},
		"eviction":   {EvictionHard: map[string]string{"memory.available": "lots"}},
		"percentage": {EvictionHard: map[string]string{"memory.available": "101%"}},
	} {
		if _, _, err := resourcesOf(Instance{Capacity: quantities("cpu", "1"), Kubelet: k}, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestAddressPoolReusesAddressesLast(t *testing.T) {
	t.Parallel()
	p := newAddressPool(netip.MustParsePrefix("10.0.0.0/29"))
	p.reserve(netip.MustParseAddr("10.0.0.3"))
	take := func() string {
		a, err := p.take()
		if err != nil {
			return err.Error()
		}
		return a.String()
	}
	for i, want := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.4", "10.0.0.5"} {
		if got := take(); got != want {
			t.Errorf("address %d = %s, want %s", i, got, want)
		}
	}
	p.release(netip.MustParseAddr("10.0.0.1"))
	for i, want := range []string{"10.0.0.6", "10.0.0.7", "10.0.0.1", errNoAddress.Error(), errNoAddress.Error()} {
		if got := take(); got != want {
			t.Errorf("address %d after a release = %s, want %s", i, got, want)
		}
	}
}
