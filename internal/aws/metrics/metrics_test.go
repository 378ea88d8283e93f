package metrics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

const db = "0.005 0.01 0.025 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.25 1.5 1.75 2 2.5 3 3.5 4 4.5 5 6 7 8 9 10 15 20 25 30 40 50 60 120 150 300 450 600"

// documented are the metrics of Karpenter's provider for AWS, with their types, labels and buckets.
var documented = []string{
	"karpenter_interruption_received_messages_total|counter|message_type",
	"karpenter_interruption_deleted_messages_total|counter|",
	"karpenter_interruption_message_queue_duration_seconds|histogram||" + db,
	"karpenter_interruption_instance_status_unhealthy_total|counter|category",
	"karpenter_cloudprovider_instance_launch_failures_total|counter|zone zone_id capacity_type reason",
	"karpenter_cloudprovider_instance_termination_failures_total|counter|zone zone_id",
	"karpenter_cloudprovider_batcher_batch_time_seconds|histogram|batcher|" + db,
	"karpenter_cloudprovider_batcher_batch_size|histogram|batcher|1 2 4 5 10 15 20 25 30 40 50 60 70 80 90 100 125 150 175 200 225 250 275 300 350 400 450 500 550 600 700 800 900 1000",
	"karpenter_ec2nodeclasses_userdata_bytes|gauge|nodeclass",
	"aws_sdk_go_request_total|counter|service action code",
	"aws_sdk_go_request_retry_count|histogram|service action code|0 1 2 3 4 5 6 7 8 9 10",
	"aws_sdk_go_request_duration_seconds|histogram|service action code|" + db,
	"aws_sdk_go_request_attempt_total|counter|service action code",
	"aws_sdk_go_request_attempt_duration_seconds|histogram|service action code|" + db,
}

func TestMetricsAreTheDocumentedOnes(t *testing.T) {
	t.Parallel()
	_, families, err := New(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for _, f := range families {
		line := f.Name + "|" + f.Type + "|" + strings.Join(f.Labels, " ")
		if len(f.Buckets) > 0 {
			line += "|" + strings.Trim(fmt.Sprint(f.Buckets), "[]")
		}
		described = append(described, line)
		if !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: the help %q is no sentence", f.Name, f.Help)
		}
	}
	if diff := cmp.Diff(documented, described); diff != "" {
		t.Errorf("described (-documented +described):\n%s", diff)
	}
}
