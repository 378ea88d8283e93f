package aws

import (
	"github.com/prometheus/client_golang/prometheus"

	awsv1 "tenon/api/aws/v1"
	"tenon/internal/aws/metrics"
	"tenon/internal/aws/preflight"
	"tenon/internal/provider"
	"tenon/internal/telemetry"
)

// Cloud is AWS for one command line.
func Cloud() provider.Cloud {
	s := &Settings{}
	return provider.Cloud{
		Settings: s.options(),
		Open:     Open(Options{Settings: s}),
		Builtin:  provider.Builtin{Name: "EC2", Region: defaultRegion, Market: s.market, Offers: offers, Currency: currency, Console: console},
		Metrics:  families(),
		Classes:  []string{awsv1.Group + "/ec2nodeclass"},
		Labels:   awsv1.Labels(), Reference: rows(),
		Preflight: preflight.With(func() preflight.Options {
			return preflight.Options{
				ClusterName: s.ClusterName, Endpoint: s.ClusterEndpoint, Queue: s.InterruptionQueue, ZonalShift: s.EnableZonalShift, Isolated: s.IsolatedVPC,
			}
		}),
		Room:         preflight.Room,
		ConvertGroup: convertGroup,
	}
}

func families() []telemetry.Family {
	_, families, err := metrics.New(prometheus.NewRegistry())
	if err != nil {
		panic("the metrics of AWS contradict each other: " + err.Error())
	}
	return families
}
