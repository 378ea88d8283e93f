package instanceprofile

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	awsv1 "tenon/api/aws/v1"
)

// digest makes short, distinct names. It is 64-bit FNV-1a.
func digest(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// RemoveAll deletes the profiles of a class that is being deleted.
func (k *Profiles) RemoveAll(ctx context.Context, class *awsv1.EC2NodeClass) error {
	names, err := k.list(ctx, k.path(string(class.UID)))
	if err != nil {
		return fmt.Errorf("remove the instance profiles of class %s: %w", class.Name, err)
	}
	if current := class.Status.InstanceProfile; k.isOld(class, current) && !slices.Contains(names, current) {
		names = append(names, current)
	}
	var failed []error
	for _, name := range names {
		failed = append(failed, k.Remove(ctx, name))
	}
	return errors.Join(failed...)
}

var validName = regexp.MustCompile(`^[\w+=,.@-]{1,128}$`)

// isOld reports whether the status names a profile that a release without paths made for the class. Such a
// name is the cluster's name with a number; this release cannot reproduce the number, so it goes by the name
// in the status.
func (k *Profiles) isOld(class *awsv1.EC2NodeClass, name string) bool {
	rest, ours := strings.CutPrefix(name, k.cluster+"_")
	return class.Spec.Role != "" && ours && validName.MatchString(name) && number.MatchString(rest)
}

var number = regexp.MustCompile(`^[0-9]+$`)

// Clean deletes the cluster's unused profiles. inUse holds the names in the status of classes and on claims;
// Clean also keeps profiles that were in use a moment ago.
func (k *Profiles) Clean(ctx context.Context, inUse map[string]bool) (removed []string, err error) {
	names, err := k.list(ctx, k.path(""))
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, name := range names {
		if _, protected := k.protected.Peek(name); protected || inUse[name] {
			continue
		}
		if err := k.Remove(ctx, name); err != nil {
			failed = append(failed, err)
			continue
		}
		removed = append(removed, name)
	}
	return removed, errors.Join(failed...)
}

// list returns the names of the profiles under a path, sorted.
func (k *Profiles) list(ctx context.Context, path string) ([]string, error) {
	var names []string
	pages := iam.NewListInstanceProfilesPaginator(k.iam, &iam.ListInstanceProfilesInput{PathPrefix: aws.String(path)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the instance profiles under %s: %w", path, err)
		}
		for _, p := range page.InstanceProfiles {
			names = append(names, aws.ToString(p.InstanceProfileName))
		}
	}
	slices.Sort(names)
	return names, nil
}
