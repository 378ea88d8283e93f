package accounts

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"tenon/cloud/aws/facts"
	"tenon/lab/aws/wire"
)

// State is where an instance is in its life.
type State string

// The states, with EC2's names.
const (
	Pending      State = "pending"
	Running      State = "running"
	ShuttingDown State = "shutting-down"
	Terminated   State = "terminated"
	Stopping     State = "stopping"
	Stopped      State = "stopped"
)

// Code is the number that EC2 gives a state.
func (s State) Code() int {
	return map[State]int{Pending: 0, Running: 16, ShuttingDown: 32, Terminated: 48, Stopping: 64, Stopped: 80}[s]
}

// Instance is a virtual machine.
type Instance struct {
	ID       string
	Number   int // in the order of launches
	Type     facts.Type
	Image    *Image
	Subnet   *Subnet
	Naming   Naming // of the subnet, when the instance was launched
	State    State
	Launched time.Time
	Changed  time.Time // when it came into its state
	Why      string    // why it ended

	CapacityType string // on-demand or spot
	Lifecycle    string // spot, capacity-block, interruptible-capacity-reservation, or empty
	SpotRequest  string
	SpotPrice    string     // the most that the request pays an hour
	SpotTags     []wire.Tag // the request's tags
	Reservation  string     // its reservation; empty after that has ended
	Spec         Spec
	Profile      *Profile
	Groups       []*SecurityGroup
	Interfaces   []*Interface
	Volumes      []*Volume
	Placement    PlacementSpec
	Tags         []wire.Tag
	Token        string
	FleetID      string
	Bundle       string // the reservation in the sense of RunInstances, r-...

	// Console is the boot's output on the serial console, with the reason if no node joined.
	Console string
	// Impaired is the time since which its status checks fail; zero if they do not.
	Impaired time.Time
	Events   []Event

	pool   pool
	seen   time.Time
	member *Member // of an Auto Scaling group, or nil
}

// Interface is a network interface.
type Interface struct {
	ID       string
	Spec     InterfaceSpec
	Address  netip.Addr // the primary one
	Seconds  []netip.Addr
	Prefixes []netip.Prefix
	Six      []netip.Addr
	MAC      string
	Public   netip.Addr // invalid if there is none
	Tags     []wire.Tag
}

// Volume is a disk.
type Volume struct {
	ID, Device string
	SizeGiB    int
	Type       string
	IOPS       int
	Throughput int // in MiB a second; 0 if the type has no setting for it
	Encrypted  bool
	Snapshot   string
	Keep       bool // it outlives the instance
	Zone       facts.Zone
	Created    time.Time
	Tags       []wire.Tag
	Instance   *Instance // nil after the instance has ended
}

// Event is something that EC2 plans to do with an instance.
type Event struct {
	ID, Code, Description string
	NotBefore             time.Time
}

// pool identifies capacity for which instances compete.
type pool struct{ instanceType, zone, capacityType string }

// Address returns the primary private address.
func (i *Instance) Address() netip.Addr { return i.Interfaces[0].Address }

// DNSName returns the name that the network gives the instance.
func (i *Instance) DNSName(region string) string {
	if i.Naming.HostnameType == byResource {
		return i.ID + "." + domain(region)
	}
	return PrivateName(i.Address(), region)
}

// PrivateName returns the network's name for a private address.
func PrivateName(a netip.Addr, region string) string {
	return "ip-" + strings.ReplaceAll(a.String(), ".", "-") + "." + domain(region)
}

// domain is that of private names.
func domain(region string) string {
	if region == "us-east-1" {
		return "ec2.internal"
	}
	return region + ".compute.internal"
}

// PublicName returns the network's name for a public address.
func PublicName(a netip.Addr, region string) string {
	domain := region + ".compute"
	if region == "us-east-1" {
		domain = "compute-1"
	}
	return "ec2-" + strings.ReplaceAll(a.String(), ".", "-") + "." + domain + ".amazonaws.com"
}

// ProviderID returns Kubernetes' name for the instance.
func (i *Instance) ProviderID() string { return "aws:///" + i.Subnet.Zone.Name + "/" + i.ID }

// partTags returns the tags of a volume or an interface of the instance, or nil.
func (i *Instance) partTags(id string) *[]wire.Tag {
	for _, v := range i.Volumes {
		if v.ID == id {
			return &v.Tags
		}
	}
	for _, n := range i.Interfaces {
		if n.ID == id {
			return &n.Tags
		}
	}
	if id == i.SpotRequest {
		return &i.SpotTags
	}
	return nil
}

// alive reports whether the instance uses capacity.
func (i *Instance) alive() bool { return i.State != Terminated }

// Instances returns the visible instances, in the order of their launch.
func (r *Region) Instances() []*Instance {
	var seen []*Instance
	for _, i := range r.instances {
		if !i.seen.After(r.Now()) {
			seen = append(seen, i)
		}
	}
	return seen
}

// Instance finds a visible instance.
func (r *Region) Instance(id string) (*Instance, error) {
	found, err := r.InstancesByID([]string{id})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// InstancesByID finds all the instances, or says which are missing.
func (r *Region) InstancesByID(ids []string) ([]*Instance, error) {
	var found []*Instance
	var missing []string
	for _, id := range ids {
		i, ok := r.byID[id]
		switch {
		case !strings.HasPrefix(id, "i-"):
			return nil, wire.Errorf("InvalidInstanceID.Malformed", "Invalid id: \"%s\"", id)
		case !ok || i.seen.After(r.Now()):
			missing = append(missing, id)
		case !slices.Contains(found, i):
			found = append(found, i)
		}
	}
	switch len(missing) {
	case 0:
		return found, nil
	case 1:
		return nil, wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", missing[0])
	default:
		return nil, wire.Errorf("InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist", strings.Join(missing, ", "))
	}
}

// mac returns a MAC address that belongs to the interface alone.
func mac(a netip.Addr) string {
	b := a.As4()
	return fmt.Sprintf("02:1a:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3])
}
