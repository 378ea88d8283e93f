package aws

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"tenon/cloud/aws/nodegroup"
	"tenon/internal/settings"
)

// Settings is what an operator can tell the controller about AWS alone.
type Settings struct {
	ClusterName             string
	ClusterEndpoint         string
	ClusterCABundle         string
	IsolatedVPC             bool
	EKSControlPlane         bool
	VMMemoryOverheadPercent float64
	InterruptionQueue       string
	ReservedENIs            int
	SpotPriceMargin         float64
	DisableDryRun           bool
	EnableZonalShift        bool
	AMIRefreshInterval      time.Duration
	SubnetRefreshInterval   time.Duration
	FeatureGates            FeatureGates
	Nodes                   []string
	NodeGroupAutoDiscovery  []string
}

// FeatureGates are the switches of the AWS provider.
type FeatureGates struct {
	NodeClassCEL bool
}

var featureGates = []settings.Gate[FeatureGates]{
	{Name: "NodeClassCEL", On: false, Field: func(g *FeatureGates) *bool { return &g.NodeClassCEL }},
}

// options are the rows of AWS in the table of settings. They write to s.
func (s *Settings) options() []settings.Option {
	return settings.Under("AWS", []settings.Option{
		{Flag: "cluster-name", Env: "CLUSTER_NAME", Usage: "name of the cluster; required by the AWS provider",
			Value: settings.Text(&s.ClusterName)},
		{Flag: "cluster-endpoint", Env: "CLUSTER_ENDPOINT", Usage: "URL that new nodes use to reach the API server; empty: discovered",
			Value: settings.Text(&s.ClusterEndpoint), Check: s.checkEndpoint},
		{Flag: "cluster-ca-bundle", Env: "CLUSTER_CA_BUNDLE", Usage: "base64 certificate bundle for new nodes; empty: taken from the connection to the cluster",
			Value: settings.Text(&s.ClusterCABundle)},
		{Flag: "isolated-vpc", Env: "ISOLATED_VPC", Default: "false", Usage: "the VPC has no way to AWS endpoints without a private link: no price look-ups, no instance profile clean-up",
			Value: settings.Boolean(&s.IsolatedVPC)},
		{Flag: "eks-control-plane", Env: "EKS_CONTROL_PLANE", Default: "false", Usage: "ask EKS for the cluster's version",
			Value: settings.Boolean(&s.EKSControlPlane)},
		{Flag: "vm-memory-overhead-percent", Env: "VM_MEMORY_OVERHEAD_PERCENT", Plan: true, Default: "0.075", Usage: "part of an instance's memory that its nodes do not see, as a fraction",
			Value: settings.Fraction(&s.VMMemoryOverheadPercent), Check: s.checkMemoryOverhead},
		{Flag: "interruption-queue", Env: "INTERRUPTION_QUEUE", Usage: "name of the SQS queue with interruption notices; empty: none",
			Value: settings.Text(&s.InterruptionQueue)},
		{Flag: "reserved-enis", Env: "RESERVED_ENIS", Plan: true, Default: "0", Usage: "network interfaces that pods cannot use",
			Value: settings.Number(&s.ReservedENIs), Check: s.checkENIs},
		{Flag: "spot-price-margin", Env: "SPOT_PRICE_MARGIN", Default: "0.1", Usage: "how much dearer than the cheapest a spot machine may be that EC2 takes from a deeper pool, as a fraction; -1: any of the 60 cheapest types, as Karpenter",
			Value: settings.Fraction(&s.SpotPriceMargin), Check: s.checkSpotMargin},
		{Flag: "disable-dry-run", Env: "DISABLE_DRY_RUN", Default: "false", Usage: "do not try out a node class with dry-run calls",
			Value: settings.Boolean(&s.DisableDryRun)},
		{Flag: "enable-zonal-shift", Env: "ENABLE_ZONAL_SHIFT", Default: "false", Usage: "keep out of zones that a zonal shift leads away from",
			Value: settings.Boolean(&s.EnableZonalShift)},
		{Flag: "ami-refresh-interval", Env: "AMI_REFRESH_INTERVAL", Default: "1m", Usage: "how often images are looked up; at least 1m",
			Value: settings.Duration(&s.AMIRefreshInterval),
			Check: refreshInterval("ami-refresh-interval", &s.AMIRefreshInterval)},
		{Flag: "subnet-refresh-interval", Env: "SUBNET_REFRESH_INTERVAL", Default: "1m", Usage: "how often subnets are looked up; at least 1m",
			Value: settings.Duration(&s.SubnetRefreshInterval),
			Check: refreshInterval("subnet-refresh-interval", &s.SubnetRefreshInterval)},
		{Flag: "aws-feature-gates", Env: "AWS_FEATURE_GATES", Default: settings.GateDefaults(featureGates), Usage: "switches of the AWS provider, as for --feature-gates",
			Value: settings.Gates(featureGates, &s.FeatureGates), Note: s.noClassCEL},
		{Flag: "nodes", Env: "NODES", Own: true, Usage: "with the feature gate NodeGroups, an Auto Scaling group that is shown, as min:max:name; may be given several times",
			Value: settings.Repeated(&s.Nodes), Check: s.checkNodes},
		{Flag: "node-group-auto-discovery", Env: "NODE_GROUP_AUTO_DISCOVERY", Own: true,
			Usage: "with the feature gate NodeGroups, the tags of the Auto Scaling groups that are shown, all of which a group needs, as asg:tag=key=value,key; may be given several times",
			Value: settings.Repeated(&s.NodeGroupAutoDiscovery), Check: s.checkDiscovery},
	})
}

func (s *Settings) checkEndpoint() error {
	if s.ClusterEndpoint == "" {
		return nil
	}
	endpoint, err := url.Parse(s.ClusterEndpoint)
	if err != nil || !endpoint.IsAbs() || endpoint.Hostname() == "" {
		return errors.New("cluster endpoint URL is not valid; use an absolute URL such as https://api.example.com")
	}
	return nil
}

// checkMemoryOverhead is written so that NaN, which ParseFloat accepts, is refused too.
func (s *Settings) checkMemoryOverhead() error {
	if percent := s.VMMemoryOverheadPercent; percent < 0 {
		return errors.New("vm-memory-overhead-percent cannot be negative; use a fraction such as 0.075")
	} else if !(percent < 1) {
		return errors.New("vm-memory-overhead-percent is a fraction below 1; use 0.075 for 7.5 %")
	}
	return nil
}

// checkSpotMargin refuses NaN too.
func (s *Settings) checkSpotMargin() error {
	if margin := s.SpotPriceMargin; !(margin >= 0) && margin != -1 {
		return errors.New("spot-price-margin is a fraction such as 0.1 for 10 %, or -1 for none")
	}
	return nil
}

func (s *Settings) checkNodes() error {
	_, err := nodegroup.NewDiscovery(s.Nodes, nil)
	return err
}

func (s *Settings) checkDiscovery() error {
	_, err := nodegroup.NewDiscovery(nil, s.NodeGroupAutoDiscovery)
	return err
}

func (s *Settings) checkENIs() error {
	if s.ReservedENIs < 0 {
		return errors.New("reserved-enis cannot be negative; use 0 to reserve none")
	}
	return nil
}

func refreshInterval(flag string, field *time.Duration) func() error {
	return func() error {
		if *field < time.Minute {
			return fmt.Errorf("%s must be at least 1m; AWS throttles those who ask more often", flag)
		}
		return nil
	}
}

// noClassCEL says that the gate asks for a missing feature.
func (s *Settings) noClassCEL() string {
	if !s.FeatureGates.NodeClassCEL {
		return ""
	}
	return "the feature gate NodeClassCEL has no effect: node classes have no CEL expressions"
}

// Check says whether the AWS provider can run with these settings. It is apart from Parse because
// a controller without that provider needs none of them.
func (s *Settings) Check() error {
	if s.ClusterName == "" {
		return errors.New("missing field, cluster-name; set --cluster-name or CLUSTER_NAME")
	}
	return nil
}
