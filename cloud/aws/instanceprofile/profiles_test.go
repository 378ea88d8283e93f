package instanceprofile

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
)

// The package recognizes as its own only names that an earlier release made for the role.
func TestOldNames(t *testing.T) {
	t.Parallel()
	k := &Profiles{region: "us-west-2", cluster: "lab"}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "uid-1"}, Spec: awsv1.EC2NodeClassSpec{Role: "node"}}
	for name, want := range map[string]bool{"lab_123456": true, "lab_mine": false, "other_123456": false, "": false, "lab_": false} {
		if got := k.isOld(class, name); got != want {
			t.Errorf("%q is ours: %t, want %t", name, got, want)
		}
	}
	class.Spec.Role = ""
	if k.isOld(class, "lab_123456") {
		t.Error("a profile that the user named is taken for ours")
	}
}

// Names depend on class and role, and on nothing else.
func TestNames(t *testing.T) {
	t.Parallel()
	k := &Profiles{region: "us-west-2", cluster: "lab"}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "uid-1"}}
	again := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "uid-2"}}
	name := k.nameFor(class, "a")
	if name != k.nameFor(class.DeepCopy(), "a") || name == k.nameFor(class, "b") || name == k.nameFor(again, "a") {
		t.Error("names do not tell classes and roles apart, or change by themselves")
	}
	if !validName.MatchString(name) {
		t.Errorf("IAM does not take %q", name)
	}
	if got := roleName("some/path/node"); got != "node" {
		t.Errorf("role %q", got)
	}
}
