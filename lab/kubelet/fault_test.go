package kubelet

import (
	"net/netip"
	"testing"
	"time"
)

func TestParseFault(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Fault{
		"":                     {},
		"not-ready":            {NotReady: true},
		" silent , never-join": {Silent: true, NeverJoin: true},
		"slow=2.5,not-ready":   {Slow: 2.5, NotReady: true},
	} {
		if got, err := ParseFault(text); err != nil || got != want {
			t.Errorf("ParseFault(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"broken", "slow", "slow=", "slow=0", "slow=-1", "slow=NaN", "slow=Inf", "silent=yes", "=1"} {
		if got, err := ParseFault(text); err == nil {
			t.Errorf("ParseFault(%q) = %+v, want an error", text, got)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	for _, seed := range []string{"", "not-ready,slow=3", "silent", "slow=1e3", ",,", "slow=x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fault, err := ParseFault(text)
		if err != nil {
			return
		}
		again, err := ParseFault(fault.String())
		if err != nil || again != fault {
			t.Errorf("%q is %+v, whose text %q is %+v, %v", text, fault, fault.String(), again, err)
		}
	})
}

func TestFaultsAddUp(t *testing.T) {
	t.Parallel()
	got := Fault{NotReady: true, Slow: 2}.and(Fault{Silent: true, Slow: 3})
	if want := (Fault{NotReady: true, Silent: true, Slow: 6}); got != want {
		t.Errorf("both = %+v, want %+v", got, want)
	}
	if got := (Fault{}).and(Fault{}); got != (Fault{}) {
		t.Errorf("no fault twice = %+v", got)
	}
	if got := got.stretch(time.Second); got != 6*time.Second {
		t.Errorf("a second takes %s", got)
	}
}

func TestConfigThatWouldSpinIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Config){
		"no workers":    func(c *Config) { c.Workers = 0 },
		"no heartbeat":  func(c *Config) { c.HeartbeatInterval = 0 },
		"no status":     func(c *Config) { c.StatusInterval = 0 },
		"no clock":      func(c *Config) { c.Clock = nil },
		"no log":        func(c *Config) { c.Log = nil },
		"no API server": func(c *Config) { c.RESTConfig = nil },
		"no pod range":  func(c *Config) { c.PodCIDR = netip.Prefix{} },
	} {
		c := Defaults()
		c.RESTConfig = newAPIServer().config()
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
