package kubelet

import (
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// Config describes the behaviour of the simulated machines. Start from Defaults: a zero delay means no
// delay.
type Config struct {
	// RESTConfig reaches the API server. Rate limits and content type in it are replaced.
	RESTConfig *rest.Config
	Clock      clock.WithTicker
	Log        *slog.Logger
	Workers    int // writers of pods and volumes; nodes have a quarter as many of their own

	BootDelay       time.Duration // from Launch to the Node, and from a hand-made Node to Ready
	ReadyDelay      time.Duration // from a launched instance's Node to Ready
	AgentDelay      time.Duration // from Ready to the removal of agents' start-up taints
	NodeDeleteDelay time.Duration // from Terminate to the deletion of the Node

	PodStartDelay time.Duration // from binding to Running
	PodStopDelay  time.Duration // from SIGTERM to the process's end, within the grace
	JobRunTime    time.Duration // of containers that are not meant to run for ever

	AttachDelay time.Duration // from VolumeAttachment to attached
	DetachDelay time.Duration // from its deletion to detached

	// HeartbeatInterval is how often a Lease is renewed; it lasts three intervals.
	// The control plane's node monitor grace should be three intervals as well.
	HeartbeatInterval time.Duration
	StatusInterval    time.Duration // how often an unchanged Node status is repeated

	PodCIDR         netip.Prefix // range of pod addresses
	NodeCIDR        netip.Prefix // range of addresses for machines that bring none
	VolumeLimit     int32        // volumes per node, unless a Node's annotation sets another number
	StartupTaints   []string     // keys removed AgentDelay after Ready, besides those that end in /agent-not-ready
	DefaultCapacity v1.ResourceList
	KubeletVersion  string
}

// Defaults suit a laptop: quick machines, and about 56 writes a second for 2,000 idle nodes.
func Defaults() Config {
	return Config{
		Clock:             clock.RealClock{},
		Log:               slog.New(slog.DiscardHandler),
		Workers:           16,
		BootDelay:         20 * time.Second,
		ReadyDelay:        2 * time.Second,
		AgentDelay:        2 * time.Second,
		NodeDeleteDelay:   5 * time.Second,
		PodStartDelay:     2 * time.Second,
		PodStopDelay:      time.Second,
		JobRunTime:        5 * time.Second,
		AttachDelay:       time.Second,
		DetachDelay:       time.Second,
		HeartbeatInterval: 40 * time.Second,
		StatusInterval:    10 * time.Minute,
		PodCIDR:           netip.MustParsePrefix("100.64.0.0/10"),
		NodeCIDR:          netip.MustParsePrefix("198.18.0.0/15"),
		VolumeLimit:       25,
		KubeletVersion:    "v1.36.3",
		DefaultCapacity: v1.ResourceList{
			v1.ResourceCPU:              resource.MustParse("8"),
			v1.ResourceMemory:           resource.MustParse("32Gi"),
			v1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
			v1.ResourcePods:             resource.MustParse("110"),
		},
	}
}

// validate refuses settings with which the fleet would spin or could not run.
func (c Config) validate() error {
	switch {
	case c.Clock == nil || c.Log == nil:
		return fmt.Errorf("configuration without a clock or a log: start from Defaults")
	case c.RESTConfig == nil:
		return fmt.Errorf("configuration without an API server")
	case c.Workers <= 0:
		return fmt.Errorf("workers %d: want at least 1", c.Workers)
	case c.HeartbeatInterval < time.Second || c.StatusInterval < time.Second:
		return fmt.Errorf("heartbeat %s and status interval %s: want at least 1s each", c.HeartbeatInterval, c.StatusInterval)
	case !c.PodCIDR.Addr().Is4() || !c.NodeCIDR.Addr().Is4():
		return fmt.Errorf("pod range %s and node range %s: want IPv4", c.PodCIDR, c.NodeCIDR)
	}
	return nil
}

// leaseDuration leaves room for two lost renewals.
func (c Config) leaseDuration() time.Duration { return 3 * c.HeartbeatInterval }
