// Package nodegroups tests Tenon with Auto Scaling groups: how they grow and shrink, what happens when others change
// them, and what when AWS has no more instances. It runs on a real control plane, with the program that users run and
// its rights, in front of the emulated AWS, whose groups launch instances that join.
//
// The tests must not look inside the product: they check what kubectl and AWS show.
package nodegroups

import (
	"testing"
	"time"

	"tenon/lab/labtest"
)

func TestMain(m *testing.M) {
	labtest.Main(m, labtest.Options{Controller: "tenon", BootDelay: boot, Parallel: 6, Settings: []string{
		"FEATURE_GATES=NodeGroups=true", "NODE_GROUP_AUTO_DISCOVERY=asg:tag=k8s.io/cluster-autoscaler/enabled",
		"SCALE_DOWN_DELAY_AFTER_ADD=10s", "MAX_DRAIN_PARALLELISM=5", // groups have no tags for these
		"EXPANDER=priority,price",
		"ENABLE_PROVISIONING_REQUESTS=true",
		"BALANCE_SIMILAR_NODE_GROUPS=true",
	}})
}

// boot is how long machines take to boot: long enough to look at a group while its instances come.
const boot = 3 * time.Second
