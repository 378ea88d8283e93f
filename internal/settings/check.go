package settings

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// check refuses a value that can be read but not be used. It sees all settings, because some
// are only wrong together; its error is one sentence and, after a semicolon, the remedy.
type check func(Settings) error

func oneOf[T ~string](field func(Settings) T, allowed ...T) check {
	return func(s Settings) error {
		if slices.Contains(allowed, field(s)) {
			return nil
		}
		names := make([]string, 0, len(allowed))
		for _, name := range allowed {
			if name != "" {
				names = append(names, string(name))
			}
		}
		return fmt.Errorf("unknown value; use one of %s", strings.Join(names, ", "))
	}
}

func port(field func(Settings) int) check {
	return func(s Settings) error {
		if n := field(s); n < 0 || n > 65535 {
			return errors.New("not a port; use a number from 0 to 65535")
		}
		return nil
	}
}

func probePort(s Settings) error {
	if s.HealthProbePort != 0 && s.HealthProbePort == s.MetricsPort {
		return fmt.Errorf("metrics and probes cannot share port %d; give --metrics-port or --health-probe-port another", s.MetricsPort)
	}
	return port(func(s Settings) int { return s.HealthProbePort })(s)
}

func listenAddress(s Settings) error {
	if s.ListenAddress == "" {
		return nil
	}
	if _, err := netip.ParseAddr(s.ListenAddress); err != nil {
		return errors.New("not an IP address; use one such as 127.0.0.1, 0.0.0.0 or ::, and give ports with --metrics-port and --health-probe-port")
	}
	return nil
}

func leaseName(s Settings) error {
	if s.DisableLeaderElection {
		return nil
	}
	if problems := validation.IsDNS1123Subdomain(s.LeaderElectionName); len(problems) > 0 {
		return errors.New("not a name for a Lease; use lower-case letters, digits, '-' and '.'")
	}
	return nil
}

func clusterEndpoint(s Settings) error {
	if s.AWS.ClusterEndpoint == "" {
		return nil
	}
	endpoint, err := url.Parse(s.AWS.ClusterEndpoint)
	if err != nil || !endpoint.IsAbs() || endpoint.Hostname() == "" {
		return errors.New("cluster endpoint URL is not valid; use an absolute URL such as https://api.example.com")
	}
	return nil
}

// memoryOverhead is written so that NaN, which ParseFloat accepts, is refused too.
func memoryOverhead(s Settings) error {
	if percent := s.AWS.VMMemoryOverheadPercent; percent < 0 {
		return errors.New("vm-memory-overhead-percent cannot be negative; use a fraction such as 0.075")
	} else if !(percent < 1) {
		return errors.New("vm-memory-overhead-percent is a fraction below 1; use 0.075 for 7.5 %")
	}
	return nil
}

func reservedENIs(s Settings) error {
	if s.AWS.ReservedENIs < 0 {
		return errors.New("reserved-enis cannot be negative; use 0 to reserve none")
	}
	return nil
}

// fewestSeries is about one for each metric: below it the bound could only be held by leaving
// whole metrics out.
const fewestSeries = 200

func seriesBound(s Settings) error {
	if s.MetricsSeries != 0 && s.MetricsSeries < fewestSeries {
		return fmt.Errorf("%d series are fewer than there are metrics; use at least %d, or 0 for no bound", s.MetricsSeries, fewestSeries)
	}
	return nil
}

func notNegative(field func(Settings) time.Duration) check {
	return func(s Settings) error {
		if field(s) < 0 {
			return errors.New("a duration cannot be negative; use 0s to not wait at all")
		}
		return nil
	}
}

func refreshInterval(flag string, field func(Settings) time.Duration) check {
	return func(s Settings) error {
		if field(s) < time.Minute {
			return fmt.Errorf("%s must be at least 1m; AWS throttles those who ask more often", flag)
		}
		return nil
	}
}

// Check says whether the AWS provider can run with these settings. It is apart from Parse because
// a controller without that provider needs none of them.
func (a AWS) Check() error {
	if a.ClusterName == "" {
		return errors.New("missing field, cluster-name; set --cluster-name or CLUSTER_NAME")
	}
	return nil
}
