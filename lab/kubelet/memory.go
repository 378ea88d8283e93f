package kubelet

import (
	"fmt"
	"maps"
	"net/netip"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// memory holds what the machines themselves would know: which of them run, which pods they hold and with
// which addresses. The API has everything else, so a restarted simulator rebuilds this as it goes.
type memory struct {
	mu            sync.Mutex
	instances     map[string]boot  // by provider ID
	faults        map[string]Fault // by provider ID or Node name
	registered    map[types.UID]registration
	sandboxes     map[types.UID]sandbox
	departed      map[string]time.Time // Nodes by name
	podAddresses  *addressPool
	nodeAddresses *addressPool
}

// boot is a launched instance and its state.
type boot struct {
	Instance
	launched, terminated time.Time
	joined               bool
}

// registration is what a kubelet remembers of its Node.
type registration struct {
	address   string // given to a machine that brought none
	csi       bool   // its CSINode is written
	leaseSeen string // resource version of its Lease
	renewed   time.Time
	written   string // resource version of our last write to the Node
}

// sandbox is what a machine remembers of one pod.
type sandbox struct {
	bound   time.Time
	address netip.Addr
	written string // resource version of our last write to the pod
}

func newMemory(c Config) *memory {
	return &memory{
		instances:     map[string]boot{},
		faults:        map[string]Fault{},
		registered:    map[types.UID]registration{},
		sandboxes:     map[types.UID]sandbox{},
		departed:      map[string]time.Time{},
		podAddresses:  newAddressPool(c.PodCIDR),
		nodeAddresses: newAddressPool(c.NodeCIDR),
	}
}

// instance returns a launched instance with its present fault.
func (m *memory) instance(providerID string) (boot, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, known := m.instances[providerID]
	i.Fault = m.faults[providerID]
	return i, known
}

// launch remembers an instance, and reports whether it is new.
func (m *memory) launch(i Instance, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.instances[i.ProviderID]; known {
		return false
	}
	m.instances[i.ProviderID] = boot{Instance: i, launched: now}
	if i.Fault != (Fault{}) {
		m.faults[i.ProviderID] = i.Fault
	}
	return true
}

func (m *memory) joined(providerID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i, known := m.instances[providerID]; known {
		i.joined = true
		m.instances[providerID] = i
	}
}

// terminate stops a machine, including one that an earlier run of this program launched.
func (m *memory) terminate(providerID string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.instances[providerID]
	i.ProviderID = providerID
	if i.terminated.IsZero() {
		i.terminated = now
	}
	m.instances[providerID] = i
}

func (m *memory) forgetInstance(providerID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.instances, providerID)
	delete(m.faults, providerID)
}

func (m *memory) setFault(id string, f Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f == (Fault{}) {
		delete(m.faults, id)
		return
	}
	m.faults[id] = f
}

// fault returns the fault that was set through the API for a Node under either of its names. A terminated
// machine is silent.
func (m *memory) fault(providerID, name string) Fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.faults[name].and(m.faults[providerID])
	if !m.instances[providerID].terminated.IsZero() {
		f.Silent = true
	}
	return f
}

// running reports whether a machine is on, as far as the fleet knows.
func (m *memory) running(providerID string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.instances[providerID].terminated.IsZero()
}

func (m *memory) registration(node types.UID) registration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.registered[node]
}

// register changes the memory of a Node.
func (m *memory) register(node types.UID, change func(*registration)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.registered[node]
	change(&r)
	m.registered[node] = r
}

// nodeAddress returns a Node's address, and assigns one at the first call.
func (m *memory) nodeAddress(node types.UID) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.registered[node]
	if r.address == "" {
		a, err := m.nodeAddresses.take()
		if err != nil {
			return "", fmt.Errorf("address for a node: %w", err)
		}
		r.address = a.String()
		m.registered[node] = r
	}
	return r.address, nil
}

// newNodeAddress assigns an address to an instance that has no Node yet; reserveNode keeps it taken.
func (m *memory) newNodeAddress() (netip.Addr, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.nodeAddresses.take()
}

// reserveNode marks a Node's address as taken, if it is one of ours.
func (m *memory) reserveNode(node types.UID, address string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, err := netip.ParseAddr(address); err == nil && m.nodeAddresses.within.Contains(a) {
		m.nodeAddresses.reserve(a)
		r := m.registered[node]
		r.address = address
		m.registered[node] = r
	}
}

func (m *memory) forgetNode(node types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, err := netip.ParseAddr(m.registered[node].address); err == nil {
		m.nodeAddresses.release(a)
	}
	delete(m.registered, node)
}

// sandbox returns the machine's memory of a pod, which begins when the machine first sees the pod. A pod
// keeps the address that it already has.
func (m *memory) sandbox(pod types.UID, address string, now time.Time) sandbox {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, known := m.sandboxes[pod]
	if known {
		return s
	}
	s.bound = now
	if a, err := netip.ParseAddr(address); err == nil && m.podAddresses.within.Contains(a) {
		m.podAddresses.reserve(a)
		s.address = a
	}
	m.sandboxes[pod] = s
	return s
}

// podAddress returns the pod's address, and assigns one at the first call.
func (m *memory) podAddress(pod types.UID) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sandboxes[pod]
	if !s.address.IsValid() {
		a, err := m.podAddresses.take()
		if err != nil {
			return "", fmt.Errorf("address for a pod: %w", err)
		}
		s.address = a
		m.sandboxes[pod] = s
	}
	return s.address.String(), nil
}

func (m *memory) lastPodWrite(pod types.UID) (resourceVersion string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sandboxes[pod].written
}

func (m *memory) wrotePod(pod types.UID, resourceVersion string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, known := m.sandboxes[pod]; known {
		s.written = resourceVersion
		m.sandboxes[pod] = s
	}
}

func (m *memory) forgetPod(pod types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sandboxes[pod]; s.address.IsValid() {
		m.podAddresses.release(s.address)
	}
	delete(m.sandboxes, pod)
}

// depart remembers that a Node is gone, and forgets Nodes that went long ago.
func (m *memory) depart(name string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.departed[name] = now
	maps.DeleteFunc(m.departed, func(_ string, since time.Time) bool { return now.Sub(since) > rememberedFor })
}

func (m *memory) arrive(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.departed, name)
}

func (m *memory) hasDeparted(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, gone := m.departed[name]
	return gone
}

// behind reports whether the cache does not show our own last write yet. A decision on the older object
// would write the same again.
func behind(cached, written string) bool {
	if written == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cached, written)
	return err == nil && order < 0
}
