package accounts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tenon/lab/aws/wire"
)

// IAMPolicy is a managed policy. It has one version.
type IAMPolicy struct {
	ID, Name, Path, ARN, Description string
	Document                         string // empty for AWS's own: their content is not modelled
	Created                          time.Time
	Tags                             []wire.Tag
}

// awsPolicies are the policies of AWS that roles of nodes and controllers have.
var awsPolicies = []string{
	"AmazonEC2ContainerRegistryPullOnly", "AmazonEC2ContainerRegistryReadOnly", "AmazonEKSClusterPolicy", "AmazonEKSWorkerNodeMinimalPolicy",
	"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonSSMManagedInstanceCore", "CloudWatchAgentServerPolicy",
	"service-role/AmazonEBSCSIDriverPolicy",
}

// awsPolicy is the prefix of the ARNs of AWS's own policies.
const awsPolicy = "arn:aws:iam::aws:policy/"

// Policies returns the managed policies, AWS's and the account's own, in the order of ARNs.
func (a *Account) Policies() []*IAMPolicy {
	var all []*IAMPolicy
	for _, name := range awsPolicies {
		path, last := "/", name
		if at := strings.LastIndex(name, "/"); at >= 0 {
			path, last = "/"+name[:at+1], name[at+1:]
		}
		all = append(all, &IAMPolicy{ID: a.policyID(name, 0), Name: last, Path: path, ARN: awsPolicy + name, Created: firstRelease})
	}
	for _, p := range a.policies {
		all = append(all, p)
	}
	slices.SortFunc(all, func(x, y *IAMPolicy) int { return strings.Compare(x.ARN, y.ARN) })
	return all
}

// OfAWS reports whether AWS maintains the policy.
func (p *IAMPolicy) OfAWS() bool { return strings.HasPrefix(p.ARN, awsPolicy) }

func (a *Account) policyID(name string, number int) string {
	return "ANPA" + strings.ToUpper(a.world.config.Seed.Hex(17, "policy", a.ID, name, strconv.Itoa(number)))
}

// Policy finds a managed policy.
func (a *Account) Policy(arn string) (*IAMPolicy, error) {
	for _, p := range a.Policies() {
		if p.ARN == arn {
			return p, nil
		}
	}
	return nil, wire.StatusErrorf(404, "NoSuchEntity", "Policy %s does not exist or is not attachable.", arn)
}

// CreatePolicy makes a managed policy.
func (a *Account) CreatePolicy(p IAMPolicy) (*IAMPolicy, error) {
	if err := checkDocument(p.Document); err != nil {
		return nil, err
	}
	p.Path = cmp.Or(p.Path, "/")
	p.ARN = a.ARN("policy" + p.Path + p.Name)
	switch {
	case p.Name == "" || len(p.Name) > 128:
		return nil, wire.Errorf("ValidationError", "The specified value for policyName is invalid. It must have 1 to 128 characters.")
	case a.policies[p.ARN] != nil:
		return nil, wire.StatusErrorf(409, "EntityAlreadyExists", "A policy called %s already exists. Duplicate names are not allowed.", p.Name)
	case characters(p.Document) > policyCharacters:
		return nil, wire.StatusErrorf(409, "LimitExceeded", "Cannot exceed quota for PolicySize: %d", policyCharacters)
	}
	a.made++
	p.ID, p.Created, p.Tags = a.policyID(p.Name, a.made), a.world.now, slices.Clone(p.Tags)
	a.policies[p.ARN] = &p
	return &p, nil
}

// DeletePolicy removes a policy that no role has.
func (a *Account) DeletePolicy(arn string) error {
	p, err := a.Policy(arn)
	switch {
	case err != nil:
		return err
	case p.OfAWS():
		return wire.StatusErrorf(403, "AccessDenied", "Cannot delete the policy %s, which AWS maintains.", arn)
	case a.Attachments(arn) > 0:
		return wire.StatusErrorf(409, "DeleteConflict", "Cannot delete a policy attached to entities.")
	}
	delete(a.policies, arn)
	return nil
}

// Attachments returns how many roles have a policy.
func (a *Account) Attachments(arn string) int {
	count := 0
	for _, r := range a.roles {
		if slices.Contains(r.attached, arn) {
			count++
		}
	}
	return count
}

// AttachPolicy gives a role a managed policy. Attaching it again changes nothing.
func (a *Account) AttachPolicy(role, arn string) error {
	r, err := a.Role(role)
	if err != nil {
		return err
	}
	if _, err := a.Policy(arn); err != nil {
		return err
	}
	at, has := slices.BinarySearch(r.attached, arn)
	switch {
	case has:
		return nil
	case len(r.attached) >= policiesPerRole:
		return wire.StatusErrorf(409, "LimitExceeded", "Cannot exceed quota for PoliciesPerRole: %d", policiesPerRole)
	}
	r.attached = slices.Insert(r.attached, at, arn)
	return nil
}

// DetachPolicy takes a managed policy from a role.
func (a *Account) DetachPolicy(role, arn string) error {
	r, err := a.Role(role)
	if err != nil {
		return err
	}
	at, has := slices.BinarySearch(r.attached, arn)
	if !has {
		return wire.StatusErrorf(404, "NoSuchEntity", "Policy %s was not found.", arn)
	}
	r.attached = slices.Delete(r.attached, at, at+1)
	return nil
}

// Attached returns a role's managed policies below a path.
func (a *Account) Attached(role, prefix string) ([]*IAMPolicy, error) {
	r, err := a.Role(role)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(a.Policies(), func(p *IAMPolicy) bool {
		return !slices.Contains(r.attached, p.ARN) || !strings.HasPrefix(p.Path, prefix)
	}), nil
}
