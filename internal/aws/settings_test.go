package aws

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/internal/settings"
)

// parse reads settings of AWS as a command line does.
func parse(args []string, env map[string]string) (Settings, []settings.Warning, error) {
	var s Settings
	_, warnings, err := settings.Parse(args, func(name string) (string, bool) { text, ok := env[name]; return text, ok }, s.options()...)
	return s, warnings, err
}

// each has a text other than the default for every option of AWS, and what it sets.
var each = map[string]struct {
	text   string
	change func(*Settings)
}{
	"cluster-name":               {"prod", func(s *Settings) { s.ClusterName = "prod" }},
	"cluster-endpoint":           {"https://api.example.com", func(s *Settings) { s.ClusterEndpoint = "https://api.example.com" }},
	"cluster-ca-bundle":          {"Zm9v", func(s *Settings) { s.ClusterCABundle = "Zm9v" }},
	"isolated-vpc":               {"true", func(s *Settings) { s.IsolatedVPC = true }},
	"eks-control-plane":          {"true", func(s *Settings) { s.EKSControlPlane = true }},
	"vm-memory-overhead-percent": {"0.05", func(s *Settings) { s.VMMemoryOverheadPercent = 0.05 }},
	"interruption-queue":         {"my-queue", func(s *Settings) { s.InterruptionQueue = "my-queue" }},
	"reserved-enis":              {"1", func(s *Settings) { s.ReservedENIs = 1 }},
	"spot-price-margin":          {"-1", func(s *Settings) { s.SpotPriceMargin = -1 }},
	"disable-dry-run":            {"true", func(s *Settings) { s.DisableDryRun = true }},
	"enable-zonal-shift":         {"true", func(s *Settings) { s.EnableZonalShift = true }},
	"ami-refresh-interval":       {"5m", func(s *Settings) { s.AMIRefreshInterval = 5 * time.Minute }},
	"subnet-refresh-interval":    {"2m", func(s *Settings) { s.SubnetRefreshInterval = 2 * time.Minute }},
	"nodes":                      {"0:5:web\n1:3:db", func(s *Settings) { s.Nodes = []string{"0:5:web", "1:3:db"} }},
	"node-group-auto-discovery":  {"asg:tag=a=b,c", func(s *Settings) { s.NodeGroupAutoDiscovery = []string{"asg:tag=a=b,c"} }},
	"aws-feature-gates":          {"NodeClassCEL=true", func(s *Settings) { s.FeatureGates.NodeClassCEL = true }},
}

func TestEveryOptionIsReadFromItsFlagAndItsEnvironmentVariable(t *testing.T) {
	t.Parallel()
	options := new(Settings).options()
	for _, o := range options {
		t.Run(o.Flag, func(t *testing.T) {
			t.Parallel()
			tc, ok := each[o.Flag]
			if !ok {
				t.Fatalf("no case for --%s: add one to the table", o.Flag)
			}
			want, _, _ := parse(nil, nil)
			tc.change(&want)
			byFlag, _, err := parse([]string{"--" + o.Flag + "=" + tc.text}, nil)
			if diff := cmp.Diff(want, byFlag); err != nil || diff != "" {
				t.Errorf("--%s=%s: %v (-want +got):\n%s", o.Flag, tc.text, err, diff)
			}
			byEnv, _, err := parse(nil, map[string]string{o.Env: tc.text})
			if diff := cmp.Diff(want, byEnv); err != nil || diff != "" {
				t.Errorf("%s=%s: %v (-want +got):\n%s", o.Env, tc.text, err, diff)
			}
		})
	}
	if len(each) != len(options) {
		t.Errorf("%d cases for %d options", len(each), len(options))
	}
}

func TestNamesFollowOneRuleAndAreListedOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range settings.Options(new(Settings).options()...) {
		if want := strings.ToUpper(strings.ReplaceAll(o.Flag, "-", "_")); o.Env != want {
			t.Errorf("--%s reads %s, want %s", o.Flag, o.Env, want)
		}
		if seen[o.Flag] {
			t.Errorf("--%s is listed twice", o.Flag)
		}
		seen[o.Flag] = true
	}
}

func TestWrongValuesAreRefusedByName(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		env  map[string]string
		want []string // parts of the message
	}{
		"a fraction that is none":        {args: []string{"--vm-memory-overhead-percent=lots"}, want: []string{"is not a number"}},
		"a malformed AWS feature gate":   {args: []string{"--aws-feature-gates==true,x"}, want: []string{"AWS_FEATURE_GATES", "is not of the form"}},
		"an endpoint without a scheme":   {args: []string{"--cluster-endpoint=api.example.com"}, want: []string{"cluster endpoint URL is not valid"}},
		"an endpoint without a host":     {args: []string{"--cluster-endpoint=https://"}, want: []string{"cluster endpoint URL is not valid"}},
		"a negative memory overhead":     {env: map[string]string{"VM_MEMORY_OVERHEAD_PERCENT": "-0.1"}, want: []string{"vm-memory-overhead-percent cannot be negative"}},
		"a memory overhead given as 7.5": {args: []string{"--vm-memory-overhead-percent=7.5"}, want: []string{"use 0.075 for 7.5 %"}},
		"a memory overhead that is NaN":  {args: []string{"--vm-memory-overhead-percent=NaN"}, want: []string{"a fraction below 1"}},
		"negative reserved interfaces":   {args: []string{"--reserved-enis=-1"}, want: []string{"reserved-enis cannot be negative"}},
		"a negative spot margin":         {args: []string{"--spot-price-margin=-0.5"}, want: []string{"spot-price-margin is a fraction"}},
		"a spot margin that is NaN":      {args: []string{"--spot-price-margin=NaN"}, want: []string{"spot-price-margin is a fraction"}},
		"images looked up too often":     {args: []string{"--ami-refresh-interval=59s"}, want: []string{"ami-refresh-interval must be at least 1m"}},
		"subnets looked up too often":    {env: map[string]string{"SUBNET_REFRESH_INTERVAL": "1s"}, want: []string{"subnet-refresh-interval must be at least 1m"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := parse(tc.args, tc.env)
			if err == nil {
				t.Fatalf("%q, %v: it is accepted", tc.args, tc.env)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestAGateWithoutEffectSaysSo(t *testing.T) {
	t.Parallel()
	_, warnings, err := parse(nil, map[string]string{"AWS_FEATURE_GATES": "NodeClassCEL=true"})
	if err != nil || len(warnings) != 1 || warnings[0].Env != "AWS_FEATURE_GATES" || !strings.Contains(warnings[0].Text, "has no effect") {
		t.Errorf("warnings %v, error %v; want one warning about the gate", warnings, err)
	}
}

func TestAnUnreadableFractionInTheEnvironmentFallsBackOnTheDefault(t *testing.T) {
	t.Parallel()
	s, warnings, err := parse(nil, map[string]string{"VM_MEMORY_OVERHEAD_PERCENT": "7,5"})
	if err != nil || s.VMMemoryOverheadPercent != 0.075 || len(warnings) != 1 {
		t.Errorf("overhead %v, warnings %v, error %v", s.VMMemoryOverheadPercent, warnings, err)
	}
}

func TestAControllerOfAWSNeedsAClusterName(t *testing.T) {
	t.Parallel()
	without, _, _ := parse(nil, nil)
	if err := without.Check(); err == nil || !strings.Contains(err.Error(), "missing field, cluster-name") {
		t.Errorf("Check() without a name = %v", err)
	}
	with, _, _ := parse([]string{"--cluster-name=prod"}, nil)
	if err := with.Check(); err != nil {
		t.Errorf("Check() with a name = %v", err)
	}
}
