package accounts

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"tenon/lab/aws/boot"
	"tenon/lab/aws/random"
	"tenon/lab/kubelet"
)

// Machines is implemented by the simulated kubelets (*kubelet.Fleet).
type Machines interface {
	Launch(kubelet.Instance) error
	Terminate(providerID string)
	SetFault(id string, f kubelet.Fault)
}

// Config says what the accounts start with. Begin with Defaults.
type Config struct {
	Seed  random.Seed
	Clock clock.Clock
	// Machines act as the nodes; without any, instances run and nothing joins.
	Machines Machines
	Cluster  Cluster
	Zones    int // of each region, if it has as many
	// LocalZones are the local zones, of any region, to which the accounts have opted in, such as us-west-2-lax-1a.
	LocalZones []string
	// SubnetBits is the length of the subnets' prefixes: 20 leaves 4,091 addresses in each.
	SubnetBits int
	// Queue is the name of the queue that gets notices; if empty, the cluster's name.
	Queue  string
	Roles  []Role
	Images []ImageSpec
	Quotas Quotas
	Pace   Pace
}

// Cluster is the EKS cluster that the instances are for.
type Cluster struct {
	Name         string `json:"name"`
	Endpoint     string `json:"endpoint"`
	Authority    string `json:"authority"` // certificate, base64
	Version      string `json:"version"`   // such as 1.36
	ServiceRange string `json:"serviceRange"`
}

// Role is an IAM role that instances can have.
type Role struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"` // "/" if empty
	// Stranger roles may not join the cluster: they have no access entry.
	Stranger bool `json:"stranger,omitempty"`
}

// ImageSpec is an image that the account owns.
type ImageSpec struct {
	Name         string            `json:"name"`
	Architecture string            `json:"architecture"` // x86_64 or arm64
	Family       boot.Family       `json:"family"`
	Tags         map[string]string `json:"tags,omitempty"`
	Parameter    string            `json:"parameter,omitempty"` // an SSM parameter that names it
}

// Quotas limit what an account runs in a region; 0 means no limit.
type Quotas struct {
	OnDemandVCPUs int `json:"onDemandVCPUs,omitempty"`
	SpotInstances int `json:"spotInstances,omitempty"`
}

// Pace says how long the steps of an instance's life take.
type Pace struct {
	Pending      time.Duration // from the launch to running
	Boot         time.Duration // from running to the node
	ShuttingDown time.Duration // from shutting-down to terminated
	Stopping     time.Duration
	Scaling      time.Duration // until an Auto Scaling group reacts to a change
	Relaunch     time.Duration // until a group tries a failed launch again
	HealthCheck  time.Duration // until a group sees that an instance has ended
	Remembered   time.Duration // how long a terminated instance can be described
}

// RealPace returns approximately the times of EC2 and an EKS image.
func RealPace() Pace {
	return Pace{Pending: 6 * time.Second, Boot: 22 * time.Second, ShuttingDown: 35 * time.Second,
		Stopping: 20 * time.Second, Scaling: 5 * time.Second, Relaunch: time.Minute, HealthCheck: 30 * time.Second, Remembered: time.Hour}
}

// Times returns a pace that is slower by the factor, or faster if it is below 1. Remembered does not
// change.
func (p Pace) Times(factor float64) Pace {
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) * factor) }
	return Pace{
		scale(p.Pending), scale(p.Boot), scale(p.ShuttingDown), scale(p.Stopping), scale(p.Scaling), scale(p.Relaunch), scale(p.HealthCheck), p.Remembered,
	}
}

// Defaults returns a cluster called lab, with a role for its nodes.
func Defaults() Config {
	return Config{
		Clock:      clock.RealClock{},
		Cluster:    Cluster{Name: "lab", Endpoint: "https://127.0.0.1:6443", Authority: "bGFi", Version: "1.36", ServiceRange: "10.96.0.0/12"},
		Zones:      4,
		SubnetBits: 20,
		Pace:       RealPace(),
	}
}

func (c Config) validate() error {
	switch {
	case c.Clock == nil:
		return fmt.Errorf("accounts without a clock: start from Defaults")
	case c.Cluster.Name == "" || c.Cluster.Endpoint == "" || c.Cluster.Version == "":
		return fmt.Errorf("cluster %+v wants a name, an endpoint and a version", c.Cluster)
	case c.Zones < 1 || c.Zones > 8:
		return fmt.Errorf("zones %d: want 1 to 8", c.Zones)
	case slices.ContainsFunc(c.LocalZones, func(name string) bool { return !IsLocalZone(name) }):
		return fmt.Errorf("local zones %v: want names such as us-west-2-lax-1a", c.LocalZones)
	case c.SubnetBits < 19 || c.SubnetBits > 28:
		return fmt.Errorf("subnet bits %d: want 19 to 28", c.SubnetBits)
	}
	if _, err := netip.ParsePrefix(c.Cluster.ServiceRange); err != nil {
		return fmt.Errorf("service range of the cluster: %w", err)
	}
	for _, r := range c.Roles {
		if !IsRoleName(r.Name) {
			return fmt.Errorf("role %q: want 1 to 64 letters, digits and +=,.@_-", r.Name)
		}
	}
	for _, i := range c.Images {
		if i.Name == "" || i.Architecture != "x86_64" && i.Architecture != "arm64" {
			return fmt.Errorf("image %q of architecture %q: want a name, and x86_64 or arm64", i.Name, i.Architecture)
		}
	}
	return nil
}

// roles returns the configured roles, and without any one that may join and a stranger.
func (c Config) roles() []Role {
	if len(c.Roles) > 0 {
		return c.Roles
	}
	return []Role{{Name: "KarpenterNodeRole-" + c.Cluster.Name}, {Name: "StrangerRole-" + c.Cluster.Name, Stranger: true}}
}

func (c Config) queue() string {
	if c.Queue == "" {
		return c.Cluster.Name
	}
	return c.Queue
}
