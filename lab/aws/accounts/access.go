package accounts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tenon/lab/aws/wire"
)

// AccessEntry lets a principal of IAM into the cluster.
type AccessEntry struct {
	Principal         string // ARN
	Type              string
	Username          string
	Groups            []string
	Tags              map[string]string
	Created, Modified time.Time

	roleID string // the role at that time: another role with its name does not get in
	token  string
}

// Types of access entries.
const (
	standardEntry = "STANDARD"
	linuxEntry    = "EC2_LINUX"
	windowsEntry  = "EC2_WINDOWS"
)

var entryTypes = []string{standardEntry, linuxEntry, windowsEntry, "EC2", "FARGATE_LINUX", "HYBRID_LINUX", "HYPERPOD_LINUX"}

// nodes reports whether instances of EC2 join with the entry.
func (e *AccessEntry) nodes() bool { return e.Type == linuxEntry || e.Type == windowsEntry }

// admitNodes makes access entries for the roles that the configuration lets join.
func (r *Region) admitNodes() {
	for _, role := range r.world.config.roles() {
		if have, err := r.Account.Role(role.Name); err == nil && !role.Stranger {
			r.entries = append(r.entries, &AccessEntry{
				Principal: r.Account.RoleARN(have), Type: linuxEntry, Username: nodeUser, Groups: []string{nodeGroup},
				Created: r.Now(), Modified: r.Now(), roleID: have.ID,
			})
		}
	}
}

// The user name and group that EKS gives the entries of nodes.
const (
	nodeUser  = "system:node:{{EC2PrivateDNSName}}"
	nodeGroup = "system:nodes"
)

// AccessEntries are those of the cluster, in the order of principals.
func (r *Region) AccessEntries() []*AccessEntry {
	return slices.SortedFunc(slices.Values(r.entries), func(a, b *AccessEntry) int { return strings.Compare(a.Principal, b.Principal) })
}

// AccessEntry finds the entry of a principal.
func (r *Region) AccessEntry(principal string) (*AccessEntry, error) {
	for _, e := range r.entries {
		if e.Principal == principal {
			return e, nil
		}
	}
	return nil, wire.StatusErrorf(404, "ResourceNotFoundException",
		"The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.")
}

// CreateAccessEntry lets a principal in, in the capacity that the entry's type gives.
func (r *Region) CreateAccessEntry(e AccessEntry, token string) (*AccessEntry, error) {
	e.Type, e.token = cmp.Or(e.Type, standardEntry), token
	role := r.Account.roleByARN(e.Principal)
	switch {
	case !slices.Contains(entryTypes, e.Type):
		return nil, wire.Errorf("InvalidParameterException", "The specified type %s is invalid.", e.Type)
	case strings.Contains(e.Principal, ":role/") && role == nil:
		return nil, wire.Errorf("InvalidParameterException", "The specified principalArn is invalid: invalid principal.")
	case role == nil && (e.Type != standardEntry || !strings.HasPrefix(e.Principal, "arn:aws:iam::")):
		return nil, wire.Errorf("InvalidParameterException", "The specified principalArn is invalid: it is no IAM role.")
	case e.Type != standardEntry && (len(e.Groups) > 0 || e.Username != ""):
		return nil, wire.Errorf("InvalidRequestException", "The kubernetesGroups and username parameters cannot be specified for the type %s.", e.Type)
	}
	if have, err := r.AccessEntry(e.Principal); err == nil {
		if token != "" && have.token == token {
			return have, nil
		}
		return nil, wire.StatusErrorf(409, "ResourceInUseException", "The specified access entry resource is already in use on this cluster.")
	}
	if e.nodes() {
		e.Username, e.Groups = nodeUser, []string{nodeGroup}
	}
	if role != nil {
		e.roleID = role.ID
	}
	e.Username = cmp.Or(e.Username, usualUser(e.Principal))
	e.Created, e.Modified = r.Now(), r.Now()
	r.entries = append(r.entries, &e)
	return &e, nil
}

// usualUser returns the user name that EKS gives a principal: for a role, with the session's name
// appended.
func usualUser(principal string) string {
	if before, role, is := strings.Cut(principal, ":role/"); is {
		return strings.Replace(before, ":iam:", ":sts:", 1) + ":assumed-role/" + role[strings.LastIndex(role, "/")+1:] + "/{{SessionName}}"
	}
	return principal
}

// UpdateAccessEntry changes the name and the groups of an entry that is not for nodes.
func (r *Region) UpdateAccessEntry(principal, username string, groups []string) (*AccessEntry, error) {
	e, err := r.AccessEntry(principal)
	switch {
	case err != nil:
		return nil, err
	case e.Type != standardEntry:
		return nil, wire.Errorf("InvalidRequestException", "The access entry of type %s cannot be updated.", e.Type)
	}
	e.Username, e.Groups, e.Modified = cmp.Or(username, e.Username), groups, r.Now()
	return e, nil
}

// DeleteAccessEntry shuts a principal out. Nodes that have joined stay.
func (r *Region) DeleteAccessEntry(principal string) error {
	e, err := r.AccessEntry(principal)
	if err != nil {
		return err
	}
	r.entries = slices.DeleteFunc(r.entries, func(other *AccessEntry) bool { return other == e })
	return nil
}

// admitted reports whether instances with a role may join the cluster.
func (r *Region) admitted(role string) bool {
	have, err := r.Account.Role(role)
	if err != nil {
		return false
	}
	e, err := r.AccessEntry(r.Account.RoleARN(have))
	return err == nil && e.nodes() && e.roleID == have.ID
}
