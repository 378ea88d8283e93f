package instanceprofile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/core/order"
)

// How long the package remembers things. (As in Karpenter.)
const (
	profileHolds   = 15 * time.Minute
	roleLessHolds  = time.Minute // a missing role
	recreationHold = time.Minute // the profile just made, whose name may not be in the status yet
	protects       = time.Hour   // names that were in use a moment ago
)

// Profiles makes and removes profiles.
type Profiles struct {
	iam     api.IAM
	region  string
	cluster string

	roles     *api.Cache[string, string]   // by name of the profile
	made      *api.Cache[owner, string]    // name of the profile
	missing   *api.Cache[string, error]    // by name of the role
	protected *api.Cache[string, struct{}] // by name of the profile
}

// owner identifies the class and role that a profile is made for.
type owner struct{ uid, role string }

// New makes a Profiles for a cluster in a region.
func New(client api.IAM, c clock.PassiveClock, region, cluster string) *Profiles {
	return &Profiles{
		iam: client, region: region, cluster: cluster,
		roles:     api.NewCache[string, string](c, profileHolds),
		made:      api.NewCache[owner, string](c, recreationHold),
		missing:   api.NewCache[string, error](c, roleLessHolds),
		protected: api.NewCache[string, struct{}](c, protects),
	}
}

// Ensure returns the name of the profile for the class's instances. It makes a new profile if the one in the
// status has another role than the class; running instances keep their profile.
func (k *Profiles) Ensure(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	current := class.Status.InstanceProfile
	if class.Spec.InstanceProfile != nil {
		k.protect(current)
		return *class.Spec.InstanceProfile, nil
	}
	role := roleName(class.Spec.Role)
	who := owner{string(class.UID), role}
	name, known := k.made.Peek(who)
	if !known {
		var err error
		if name, err = k.ensure(ctx, class, role, current); err != nil {
			return "", fmt.Errorf("make an instance profile for class %s: %w", class.Name, err)
		}
		if name != current {
			k.made.Put(who, name)
		}
	}
	k.protect(current)
	k.protect(name)
	return name, nil
}

func (k *Profiles) ensure(ctx context.Context, class *awsv1.EC2NodeClass, role, current string) (string, error) {
	has, err := k.roleOf(ctx, current)
	if err != nil {
		return "", err
	}
	if has == role {
		return current, nil
	}
	if err, missing := k.missing.Peek(role); missing {
		return "", err
	}
	name := k.nameFor(class, role)
	if err := k.create(ctx, class, name, role); err != nil {
		// An incomplete profile is useless. If it cannot be removed now, garbage collection removes it later.
		return "", errors.Join(err, k.Remove(ctx, name))
	}
	k.roles.Put(name, role)
	return name, nil
}

// roleOf returns the role in a profile, empty if it has none.
func (k *Profiles) roleOf(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	return k.roles.Get(ctx, name, func(ctx context.Context) (string, error) {
		found, err := k.look(ctx, name)
		if err != nil || found == nil || len(found.Roles) == 0 {
			return "", err
		}
		return aws.ToString(found.Roles[0].RoleName), nil
	})
}

// look returns a profile, nil if it does not exist.
func (k *Profiles) look(ctx context.Context, name string) (*types.InstanceProfile, error) {
	answer, err := k.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(name)})
	switch {
	case api.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at profile %s: %w", name, err)
	}
	return answer.InstanceProfile, nil
}

func (k *Profiles) create(ctx context.Context, class *awsv1.EC2NodeClass, name, role string) error {
	found, err := k.look(ctx, name)
	if err != nil {
		return err
	}
	if found == nil {
		_, err := k.iam.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{
			InstanceProfileName: aws.String(name), Path: aws.String(k.path(string(class.UID))), Tags: k.tags(class),
		})
		if err != nil && !exists(err) {
			return fmt.Errorf("create profile %s: %w", name, err)
		}
		found = &types.InstanceProfile{}
	}
	return k.fill(ctx, name, role, found.Roles)
}

// fill puts a role into a profile and removes all other roles.
func (k *Profiles) fill(ctx context.Context, name, role string, present []types.Role) error {
	for _, other := range present {
		if aws.ToString(other.RoleName) == role {
			return nil
		}
		if err := k.take(ctx, name, other); err != nil {
			return err
		}
	}
	_, err := k.iam.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{
		InstanceProfileName: aws.String(name), RoleName: aws.String(role),
	})
	if err == nil {
		return nil
	}
	err = fmt.Errorf("add role %s to profile %s: %w", role, name, err)
	if api.IsNotFound(err) && strings.Contains(api.Message(err), "role") {
		k.missing.Put(role, err)
	}
	return err
}

// exists reports whether another process made the profile a moment ago.
func exists(err error) bool { return strings.HasPrefix(api.Code(err), "EntityAlreadyExists") }

func (k *Profiles) take(ctx context.Context, name string, role types.Role) error {
	if _, err := k.iam.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{
		InstanceProfileName: aws.String(name), RoleName: role.RoleName,
	}); err != nil && !api.IsNotFound(err) {
		return fmt.Errorf("remove role %s from profile %s: %w", aws.ToString(role.RoleName), name, err)
	}
	return nil
}

// Remove deletes a profile and its contents. A missing profile is not an error.
func (k *Profiles) Remove(ctx context.Context, name string) error {
	found, err := k.look(ctx, name)
	if err != nil || found == nil {
		return err
	}
	for _, role := range found.Roles {
		if err := k.take(ctx, name, role); err != nil {
			return err
		}
	}
	if _, err := k.iam.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: aws.String(name)}); err != nil && !api.IsNotFound(err) {
		return fmt.Errorf("delete profile %s: %w", name, err)
	}
	k.roles.Forget(name)
	return nil
}

func (k *Profiles) protect(name string) {
	if name != "" {
		k.protected.Put(name, struct{}{})
	}
}

// nameFor returns a different name for each role, so that a profile never changes while instances use it. It
// returns the same name for the same role each time: a process that is interrupted after it made the profile
// but before it wrote the class's status finds the profile again instead of making another.
func (k *Profiles) nameFor(class *awsv1.EC2NodeClass, role string) string {
	return fmt.Sprintf("%s_%d", k.cluster, digest(k.region+"/"+class.Name+"/"+string(class.UID)+"/"+role))
}

// path returns the path of a class's profiles, or of all classes' profiles for an empty UID.
func (k *Profiles) path(uid string) string {
	path := "/karpenter/" + k.region + "/" + k.cluster + "/"
	if uid != "" {
		path += uid + "/"
	}
	return path
}

func (k *Profiles) tags(class *awsv1.EC2NodeClass) []types.Tag {
	all := map[string]string{}
	for key, value := range class.Spec.Tags {
		all[key] = value
	}
	all[awsv1.TagClusterPrefix+k.cluster] = "owned"
	all[awsv1.TagClusterName] = k.cluster
	all[awsv1.TagNodeClass] = class.Name
	all["topology.kubernetes.io/region"] = k.region
	var tags []types.Tag
	for _, key := range order.Keys(all) {
		tags = append(tags, types.Tag{Key: aws.String(key), Value: aws.String(all[key])})
	}
	return tags
}

// roleName returns IAM's name for a role, which users may write with its path.
func roleName(role string) string { return role[strings.LastIndex(role, "/")+1:] }
