package aws

import "testing"

// TestInstancesHaveAPageInTheConsole checks the address in each partition, and that names which are none give no address.
func TestInstancesHaveAPageInTheConsole(t *testing.T) {
	t.Parallel()
	for _, tc := range [][3]string{
		{"us-west-2", "i-0123abcd", "https://console.aws.amazon.com/ec2/home?region=us-west-2#InstanceDetails:instanceId=i-0123abcd"},
		{"cn-north-1", "i-0123abcd", "https://console.amazonaws.cn/ec2/home?region=cn-north-1#InstanceDetails:instanceId=i-0123abcd"},
		{"us-gov-west-1", "i-0123abcd", "https://console.amazonaws-us-gov.com/ec2/home?region=us-gov-west-1#InstanceDetails:instanceId=i-0123abcd"},
		{"us-west-2", "node-1", ""}, {"javascript:alert(1)//", "i-0123abcd", ""}, {"", "i-0123abcd", ""}, {"us-west-2", `i-0"onload=`, ""},
	} {
		if got := console(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%s in %s: %q, want %q", tc[1], tc[0], got, tc[2])
		}
	}
}
