package settings

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

func oneOf[T ~string](field *T, allowed ...T) func() error {
	return func() error {
		if slices.Contains(allowed, *field) {
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

func port(field *int) func() error {
	return func() error {
		if n := *field; n < 0 || n > 65535 {
			return errors.New("not a port; use a number from 0 to 65535")
		}
		return nil
	}
}

func (s *Settings) checkProbePort() error {
	if s.HealthProbePort != 0 && s.HealthProbePort == s.MetricsPort {
		return fmt.Errorf("metrics and probes cannot share port %d; give --metrics-port or --health-probe-port another", s.MetricsPort)
	}
	return port(&s.HealthProbePort)()
}

func (s *Settings) checkListenAddress() error {
	if s.ListenAddress == "" {
		return nil
	}
	if _, err := netip.ParseAddr(s.ListenAddress); err != nil {
		return errors.New("not an IP address; use one such as 127.0.0.1, 0.0.0.0 or ::, and give ports with --metrics-port and --health-probe-port")
	}
	return nil
}

func (s *Settings) checkLeaseName() error {
	if s.DisableLeaderElection {
		return nil
	}
	if problems := validation.IsDNS1123Subdomain(s.LeaderElectionName); len(problems) > 0 {
		return errors.New("not a name for a Lease; use lower-case letters, digits, '-' and '.'")
	}
	return nil
}

// fewestSeries is about one for each metric: below it the bound could only be held by leaving
// whole metrics out.
const fewestSeries = 200

// leastJournal is room for a few decisions with their snapshots.
const leastJournal = 4 << 20

func (s *Settings) checkJournal() error {
	if s.JournalBytes != 0 && s.JournalBytes < leastJournal {
		return fmt.Errorf("%d bytes are too few to record a decision; use at least %d, or 0 for no record", s.JournalBytes, leastJournal)
	}
	return nil
}

func (s *Settings) checkSeries() error {
	if s.MetricsSeries != 0 && s.MetricsSeries < fewestSeries {
		return fmt.Errorf("%d series are fewer than there are metrics; use at least %d, or 0 for no bound", s.MetricsSeries, fewestSeries)
	}
	return nil
}

func notNegative(field *time.Duration) func() error {
	return func() error {
		if *field < 0 {
			return errors.New("a duration cannot be negative; use 0s to not wait at all")
		}
		return nil
	}
}
