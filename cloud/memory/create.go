package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"tenon/cloud"
)

// Create implements cloud.Instances.
func (p *Provider) Create(ctx context.Context, claim cloud.Claim) (cloud.Instance, error) {
	return attempt(ctx, p.cloud, Create, claim.UID, func() (cloud.Instance, error) {
		return p.create(&claim)
	})
}

// create first looks for an earlier purchase: neither a class that has become unusable nor a shortage must
// hide an instance that is already paid for.
func (p *Provider) create(claim *cloud.Claim) (cloud.Instance, error) {
	if claim.UID == "" {
		return cloud.Instance{}, &cloud.Rejected{Reason: "NoToken", Message: "A claim without a UID cannot be launched"}
	}
	if bought, used, err := p.cloud.boughtFor(claim.UID); used {
		return bought, err
	}
	class, err := p.cloud.class(claim.Class)
	if err != nil {
		return cloud.Instance{}, err
	}
	offers := claim.Catalog
	if offers == nil {
		offers = class.Catalog
	}
	left, missing := p.split(cloud.Suitable(claim, offers))
	if short := cloud.Shortfalls(claim, left); len(short) > 0 && !claim.BestEffortMinimum {
		return cloud.Instance{}, &cloud.NoCapacity{Offers: names(missing), Err: fmt.Errorf("%v", short)}
	}
	bought, tried, err := p.cloud.buy(claim, class, left)
	p.learn(tried)
	if err != nil {
		return cloud.Instance{}, err
	}
	if bought == nil {
		return cloud.Instance{}, &cloud.NoCapacity{Offers: names(append(missing, tried...))}
	}
	return *bought, nil
}

// names returns offers sorted, without duplicates.
func names(offers []cloud.Offer) []cloud.Offer {
	slices.SortFunc(offers, cloud.Offer.Compare)
	return slices.Compact(offers)
}

// boughtFor finds what was bought with a token, if it was used.
func (c *Cloud) boughtFor(token string) (i cloud.Instance, used bool, err error) {
	now := c.options.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(now)
	return c.redeem(token, now)
}

func (c *Cloud) redeem(token string, now time.Time) (i cloud.Instance, used bool, err error) {
	id, used := c.byToken[token]
	if !used {
		return cloud.Instance{}, false, nil
	}
	i, exists := c.records[id].at(now)
	if !exists || i.State == cloud.Terminating {
		return cloud.Instance{}, true, &cloud.NotFound{ProviderID: id}
	}
	return i, true, nil
}

// buy takes the first candidate that is in stock. It returns the candidates that were out of stock, and
// nothing bought if none was in stock. The token is looked up again under the lock that guards the
// purchase, or two calls at the same time would both buy.
func (c *Cloud) buy(claim *cloud.Claim, class Class, candidates []cloud.Candidate) (*cloud.Instance, []cloud.Offer, error) {
	now := c.options.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(now)
	if bought, used, err := c.redeem(claim.UID, now); used {
		return &bought, nil, err
	}
	var tried []cloud.Offer
	for _, candidate := range candidates {
		if !c.takeFromStock(candidate.Offer()) {
			tried = append(tried, candidate.Offer())
			continue
		}
		r := c.record(claim, class, candidate)
		r.Machine.Instance.Launched, r.Machine.Boots = now, now.Add(c.options.Boot)
		c.open(r)
		i, _ := r.at(now)
		return &i, tried, nil
	}
	return nil, tried, nil
}

func (c *Cloud) takeFromStock(o cloud.Offer) bool {
	left, limited := c.stock[o]
	switch {
	case !limited:
		return true
	case left <= 0:
		return false
	}
	c.stock[o] = left - 1
	return true
}

// open records a new machine.
func (c *Cloud) open(r *Entry) {
	i := &r.Machine.Instance
	if c.options.Lifetime != nil {
		if life, ends := c.options.Lifetime(i.ProviderID); ends {
			r.Dies = i.Launched.Add(life)
		}
	}
	c.keep(r)
	c.byToken[i.ClaimUID] = i.ProviderID
	c.await(r.next())
	c.outbox.launch(r.Machine.clone())
}

// record is a machine for a claim, without its times.
func (c *Cloud) record(claim *cloud.Claim, class Class, candidate cloud.Candidate) *Entry {
	name := fmt.Sprintf("m-%016x", digest(c.options.Seed, claim.UID))
	own := candidate.Labels(claim)
	labels := maps.Clone(claim.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, own)
	return &Entry{Machine: Machine{
		Node:        name,
		Labels:      labels,
		Annotations: maps.Clone(claim.Annotations),
		Taints:      claim.BootTaints(),
		Instance: cloud.Instance{
			ProviderID: c.options.ProviderID(candidate.Offering.Zone, name),
			ClaimUID:   claim.UID, ClaimName: claim.Name, Pool: claim.Pool, Class: claim.Class,
			Offer:       candidate.Offer(),
			ImageID:     class.Image,
			Labels:      own,
			Capacity:    candidate.Type.FullCapacity(candidate.Offering),
			Allocatable: candidate.Type.Allocatable(candidate.Offering),
		},
	}}
}

func (m Machine) clone() Machine {
	m.Instance = m.Instance.Clone()
	m.Labels = maps.Clone(m.Labels)
	m.Annotations = maps.Clone(m.Annotations)
	m.Taints = slices.Clone(m.Taints)
	return m
}
