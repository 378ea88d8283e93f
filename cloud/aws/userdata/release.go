package userdata

import (
	"strconv"
	"strings"

	awsv1 "tenon/api/aws/v1"
)

// ReleaseOf is the version of Bottlerocket that a class boots, as far as its selectors and
// the images that they found tell: empty if they do not.
func ReleaseOf(class *awsv1.EC2NodeClass) string {
	if alias, found, err := class.Spec.Alias(); found && err == nil {
		return strings.TrimPrefix(alias.Version, "v")
	}
	for _, term := range class.Spec.AMISelectorTerms {
		if release := releaseIn(term.Name); release != "" {
			return release
		}
		for _, image := range class.Status.AMIs {
			if term.ID == "" || image.ID != term.ID {
				continue
			}
			if release := releaseIn(image.Name); release != "" {
				return release
			}
		}
	}
	for _, image := range class.Status.AMIs {
		if release := releaseIn(image.Name); release != "" && strings.Contains(image.Name, "bottlerocket") {
			return release
		}
	}
	return ""
}

// releaseIn finds a version among the parts of an image's name, as v1.46.0 in
// bottlerocket-aws-k8s-1.34-x86_64-v1.46.0-abcdef.
func releaseIn(name string) string {
	for segment := range strings.SplitSeq(name, "-") {
		if release, is := strings.CutPrefix(segment, "v"); is && strings.Contains(release, ".") {
			return release
		}
	}
	return ""
}

// bindsByItself: from 1.46 on the image knows which directories belong on the joined disks.
func bindsByItself(release string) bool {
	if release == awsv1.VersionLatest {
		return true
	}
	parts := strings.Split(release, ".")
	if len(parts) < 3 {
		return false
	}
	major, err := strconv.Atoi(parts[0])
	minor, bad := strconv.Atoi(parts[1])
	return err == nil && bad == nil && (major > 1 || major == 1 && minor >= 46)
}
