package classstatus

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/condition"
)

// How long a result holds. (As in Karpenter.) A missing resource may appear soon.
const (
	ImagesHold     = 5 * time.Minute
	GroupsHold     = 5 * time.Minute
	SubnetsHold    = time.Minute
	ValidationHold = 10 * time.Minute
	missingHolds   = time.Minute
)

// Status collects decisions about the status of a class. It has a copy of the class.
type Status struct {
	Class      *awsv1.EC2NodeClass
	conditions condition.Set
	now        time.Time
}

// New begins with the class's present status. It does not change the class.
func New(c *awsv1.EC2NodeClass, reservedCapacity bool, now time.Time) *Status {
	s := &Status{Class: c.DeepCopy(), now: now}
	s.conditions = s.Class.Conditions(reservedCapacity, now)
	return s
}

// Status returns the status that was decided.
func (s *Status) Status() awsv1.EC2NodeClassStatus {
	s.Class.Status.Conditions = s.conditions.List()
	return s.Class.Status
}

// Images decides on the images that the selectors found.
func (s *Status) Images(found []awsv1.AMI) time.Duration {
	s.Class.Status.AMIs = nilIfEmpty(found)
	if len(found) == 0 {
		s.conditions.SetFalse(awsv1.ConditionAMIsReady, "AMINotFound", "AMISelector did not match any AMIs")
		return missingHolds
	}
	s.conditions.SetTrue(awsv1.ConditionAMIsReady)
	return ImagesHold
}

// UnsupportedImages notes that no images of the alias fit the cluster's version. A later look will notice an
// upgrade of the cluster.
func (s *Status) UnsupportedImages(why string) time.Duration {
	s.Class.Status.AMIs = nil
	s.conditions.SetFalse(awsv1.ConditionAMIsReady, "UnsupportedAlias", why)
	return ImagesHold
}

// Reservations decides on the capacity reservations that the selectors found. Finding none is not a failure.
func (s *Status) Reservations(found []awsv1.CapacityReservation) {
	s.Class.Status.CapacityReservations = nilIfEmpty(found)
	s.conditions.SetTrue(awsv1.ConditionCapacityReservationsReady)
}

// Placement decides on the placement group, by whether it was found and by the error of the search.
func (s *Status) Placement(found bool, err error) {
	selector := s.Class.Spec.PlacementGroupSelector
	switch {
	case err != nil:
		s.conditions.SetFalse(awsv1.ConditionPlacementGroupReady, "PlacementGroupResolutionFailed", "Failed to resolve placement group")
	case selector != nil && !found:
		s.conditions.SetFalse(awsv1.ConditionPlacementGroupReady, "PlacementGroupNotFound",
			fmt.Sprintf("Placement group %q not found", selector.Name+selector.ID)) // one of the two is empty
	default:
		s.conditions.SetTrue(awsv1.ConditionPlacementGroupReady)
	}
}

// Subnets decides on the subnets that the selectors found.
func (s *Status) Subnets(found []awsv1.Subnet) time.Duration {
	s.Class.Status.Subnets = nilIfEmpty(found)
	if len(found) == 0 {
		s.conditions.SetFalse(awsv1.ConditionSubnetsReady, "SubnetsNotFound", "SubnetSelector did not match any Subnets")
		return missingHolds
	}
	s.conditions.SetTrue(awsv1.ConditionSubnetsReady)
	return SubnetsHold
}

// SecurityGroups decides on the security groups that the selectors found.
func (s *Status) SecurityGroups(found []awsv1.SecurityGroup) time.Duration {
	s.Class.Status.SecurityGroups = nilIfEmpty(found)
	if len(found) == 0 {
		s.conditions.SetFalse(awsv1.ConditionSecurityGroupsReady, "SecurityGroupsNotFound", "SecurityGroupSelector did not match any SecurityGroups")
		return missingHolds
	}
	s.conditions.SetTrue(awsv1.ConditionSecurityGroupsReady)
	return GroupsHold
}

// Profile notes the instance profile. After an error of IAM the previous one stays, and the caller has
// nothing to decide.
func (s *Status) Profile(name string) {
	s.Class.Status.InstanceProfile = name
	s.conditions.SetTrue(awsv1.ConditionInstanceProfileReady)
}

// Unsure notes that something could not be looked up. A condition that was decided before stays as it is; one
// that never was decided gives the reason.
func (s *Status) Unsure(name, why string) {
	if !s.conditions.HasStatus(name, metav1.ConditionTrue) && !s.conditions.HasStatus(name, metav1.ConditionFalse) {
		s.conditions.SetUnknown(name, "LookupFailed", why)
	}
}

// needed lists the conditions that a dry run requires.
var needed = []string{
	awsv1.ConditionAMIsReady, awsv1.ConditionInstanceProfileReady,
	awsv1.ConditionSecurityGroupsReady, awsv1.ConditionSubnetsReady,
}

// Dependencies reports whether a dry run has all that it needs, and notes in the status what is missing.
func (s *Status) Dependencies() bool {
	const reason, message = "DependenciesNotReady", "Awaiting AMI, Instance Profile, Security Group, and Subnet resolution"
	unknown := false
	for _, name := range needed {
		switch {
		case s.conditions.HasStatus(name, metav1.ConditionFalse):
			s.conditions.SetFalse(awsv1.ConditionValidationSucceeded, reason, message)
			return false
		case !s.conditions.HasStatus(name, metav1.ConditionTrue):
			unknown = true
		}
	}
	if unknown {
		s.conditions.SetUnknown(awsv1.ConditionValidationSucceeded, reason, message)
	}
	return !unknown
}

// NoServiceRange notes that the range of services is not known, although nodes of the family need it.
func (s *Status) NoServiceRange() {
	s.conditions.SetFalse(awsv1.ConditionValidationSucceeded, "ClusterCIDRResolutionFailed", "Failed to detect the cluster CIDR")
}

// Tags reports whether users may set the class's tags, and notes in the status if not.
func (s *Status) Tags() error {
	err := s.Class.Spec.ValidateTags()
	if err != nil {
		s.conditions.SetFalse(awsv1.ConditionValidationSucceeded, "TagValidationFailed", err.Error())
	}
	return err
}

// Kubelet reports whether the kubelet's settings are readable, and notes in the status if not.
func (s *Status) Kubelet() error {
	err := s.Class.Spec.Kubelet.Validate()
	if err != nil {
		s.conditions.SetFalse(awsv1.ConditionValidationSucceeded, "KubeletValidationFailed", err.Error())
	}
	return err
}

// Passed notes that a dry run succeeded.
func (s *Status) Passed() time.Duration {
	s.conditions.SetTrue(awsv1.ConditionValidationSucceeded)
	return ValidationHold
}

// Failed notes why EC2 would refuse launches.
func (s *Status) Failed(reason, message string) time.Duration {
	s.conditions.SetFalse(awsv1.ConditionValidationSucceeded, reason, message)
	return ValidationHold
}

// NoProfile notes that the profile that the class names does not exist. It may be made soon after the class.
func (s *Status) NoProfile() time.Duration {
	s.conditions.SetFalse(awsv1.ConditionValidationSucceeded, "InstanceProfileNotFound", fmt.Sprintf("Instance profile %q not found", *s.Class.Spec.InstanceProfile))
	return s.Again(missingHolds)
}

// soonest is how long a dry run waits before it is repeated for the first time.
const soonest = time.Second

// Again says when to repeat a dry run that has no verdict: after half as long as the class has waited for
// one, and after longest at the latest. A dry run takes several calls.
func (s *Status) Again(longest time.Duration) time.Duration {
	c, _ := s.conditions.Get(awsv1.ConditionValidationSucceeded)
	return max(soonest, min(s.now.Sub(c.LastTransitionTime.Time)/2, longest))
}

func nilIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
