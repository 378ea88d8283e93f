package memory

import (
	"context"
	"slices"
	"time"

	"tenon/cloud"
)

// Tag is one thing that an instance's record says of it from its purchase on. Policies and people
// remove tags, and the instance runs on.
type Tag string

// The tags. Lists find instances by the cluster's; without the others the field of that name is
// empty in what a provider answers.
const (
	TagCluster Tag = "cluster"
	TagPool    Tag = "pool"
	TagClass   Tag = "class"
	TagClaim   Tag = "claim"
	TagToken   Tag = "token"
)

// straysEvery is how often a provider lists instances without the cluster's tag, too.
const straysEvery = 30 * time.Minute

// Untag removes a tag from an instance, and reports whether it had it.
func (c *Cloud) Untag(providerID string, tag Tag) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, known := c.records[providerID]
	if !known || slices.Contains(r.Lacks, tag) {
		return false
	}
	r.Lacks = append(r.Lacks, tag)
	slices.Sort(r.Lacks)
	return true
}

// Lacks are the tags that were removed from an instance and not put back, sorted.
func (c *Cloud) Lacks(providerID string) []Tag {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, known := c.records[providerID]; known {
		return slices.Clone(r.Lacks)
	}
	return nil
}

// Label puts tags back on an instance that lacks them, and the cluster's with them. NotFound is for
// one that is gone.
func (p *Provider) Label(ctx context.Context, providerID string, tags ...Tag) error {
	_, err := attempt(ctx, p.cloud, Label, providerID, func() (struct{}, error) {
		return struct{}{}, p.cloud.label(providerID, append(tags, TagCluster))
	})
	return err
}

func (c *Cloud) label(providerID string, tags []Tag) error {
	now := c.options.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.living(providerID, now)
	if r == nil {
		return &cloud.NotFound{ProviderID: providerID}
	}
	r.Lacks = slices.DeleteFunc(r.Lacks, func(t Tag) bool { return slices.Contains(tags, t) })
	return nil
}

// told returns an instance as its tags describe it.
func (r *Entry) told(i cloud.Instance) cloud.Instance {
	for _, tag := range r.Lacks {
		switch tag {
		case TagCluster:
		case TagPool:
			i.Pool = ""
		case TagClass:
			i.Class.Name = ""
		case TagClaim:
			i.ClaimName = ""
		case TagToken:
			i.ClaimUID = ""
		}
	}
	return i
}

// listed reports whether a list shows an instance. One without the cluster's tag is found by its
// token alone, and only where strays are asked for.
func (r *Entry) listed(strays bool) bool {
	if !slices.Contains(r.Lacks, TagCluster) {
		return true
	}
	return strays && !slices.Contains(r.Lacks, TagToken)
}

// strays reports whether it is time to list instances without the cluster's tag.
func (p *Provider) strays() bool {
	now := p.cloud.options.Clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.strayed.IsZero() && now.Sub(p.strayed) < straysEvery {
		return false
	}
	p.strayed = now
	return true
}
