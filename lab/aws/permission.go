package aws

import (
	"maps"
	"slices"
	"sync"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/fault"
	"tenon/lab/aws/policy"
	"tenon/lab/aws/wire"
)

// guard checks every call against the caller's policies. Callers without policies may do everything.
type guard struct {
	policies map[string][]policy.Document // by access key
	world    *accounts.World

	mu     sync.Mutex
	asked  []policy.Request
	counts map[string]Permission
}

// Permission says how often an action was checked.
type Permission struct {
	Asked  int `json:"asked"`
	Denied int `json:"denied,omitempty"`
}

// note records a check: every one in the counts, and the last ones in full.
func (g *guard) note(ask policy.Request, allowed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.counts[ask.Action]
	p.Asked++
	if !allowed {
		p.Denied++
	}
	g.counts[ask.Action] = p
	if len(g.asked) == remembered {
		g.asked = slices.Delete(g.asked, 0, remembered/2)
	}
	g.asked = append(g.asked, ask)
}

// asker is a request that needs permissions beyond its own action on everything.
type asker interface {
	Asks(action string, r *accounts.Region) []policy.Request
}

// permit returns nil if the call is permitted, and otherwise an error in the words of its service. STS
// checks no policy: "No permissions are required to perform" GetCallerIdentity, and the trust policy
// decides who assumes a role.
func (g *guard) permit(c *wire.Call, in any) error {
	documents, guarded := g.policies[c.AccessKey]
	if !guarded || c.Service.Name == "sts" {
		return nil
	}
	var asks []policy.Request
	err := g.world.Do(c.Account, c.Region, func(r *accounts.Region) error {
		asks = asksOf(c, in, r)
		return nil
	})
	if err != nil {
		return err
	}
	for _, ask := range asks {
		if ask.Keys == nil {
			ask.Keys = map[string][]string{}
		}
		ask.Keys["aws:RequestedRegion"] = []string{c.Region}
		allowed := policy.Allows(documents, ask)
		g.note(ask, allowed)
		if !allowed {
			return fault.Denied(fault.About{Account: c.Account, Region: c.Region, Service: c.Service.Name, Operation: c.Operation}, ask.Action, ask.Resource)
		}
	}
	return nil
}

func asksOf(c *wire.Call, in any, r *accounts.Region) []policy.Request {
	action := c.Service.Name + ":" + c.Operation
	one := policy.Request{Action: action, Resource: "*"}
	if a, ok := in.(asker); ok {
		return a.Asks(action, r)
	}
	switch c.Operation {
	case "DescribeCluster":
		one.Resource = r.ARN("eks", "cluster/"+c.HTTP.PathValue("name"))
	case "GetManagedResource":
		one.Keys = map[string][]string{"arc-zonal-shift:ResourceIdentifier": {c.HTTP.PathValue("id")}}
	}
	return []policy.Request{one}
}

// Permissions returns the actions that were checked against policies.
func (s *Server) Permissions() map[string]Permission {
	s.guard.mu.Lock()
	defer s.guard.mu.Unlock()
	return maps.Clone(s.guard.counts)
}

// Asked returns the last checks, allowed or not, in the order of calls.
func (s *Server) Asked() []policy.Request {
	s.guard.mu.Lock()
	defer s.guard.mu.Unlock()
	return append([]policy.Request{}, s.guard.asked...)
}
