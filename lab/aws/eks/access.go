package eks

import (
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// accessOperations adds the operations on access entries, with their paths.
func accessOperations(w *accounts.World, routes map[string]string, operations map[string]wire.Handler) {
	const all, one = "/clusters/{name}/access-entries", "/clusters/{name}/access-entries/{principal}"
	for pattern, name := range map[string]string{
		"POST " + all: "CreateAccessEntry", "GET " + all: "ListAccessEntries", "GET " + one: "DescribeAccessEntry",
		"POST " + one: "UpdateAccessEntry", "DELETE " + one: "DeleteAccessEntry",
	} {
		routes[pattern] = name
	}
	operations["CreateAccessEntry"] = ofCluster(w, createEntry)
	operations["ListAccessEntries"] = ofCluster(w, listEntries)
	operations["DescribeAccessEntry"] = ofCluster(w, describeEntry)
	operations["UpdateAccessEntry"] = ofCluster(w, updateEntry)
	operations["DeleteAccessEntry"] = ofCluster(w, deleteEntry)
}

// ofCluster makes a handler from a function on the region's cluster, which the path names.
func ofCluster[In, Out any](w *accounts.World, do func(*accounts.Region, *wire.Call, *In) (*Out, error)) wire.Handler {
	return wire.Operation(func(c *wire.Call, in *In) (out *Out, err error) {
		err = w.Do(c.Account, c.Region, func(r *accounts.Region) error {
			if name := c.HTTP.PathValue("name"); name != r.Cluster().Name {
				return noCluster(name)
			}
			out, err = do(r, c, in)
			return err
		})
		return out, err
	})
}

func noCluster(name string) error {
	return wire.StatusErrorf(404, "ResourceNotFoundException", "No cluster found for name: %s.", name)
}

type entryOutput struct {
	Entry entryItem `json:"accessEntry"`
}

type entryItem struct {
	ARN       string            `json:"accessEntryArn"`
	Cluster   string            `json:"clusterName"`
	Principal string            `json:"principalArn"`
	Type      string            `json:"type"`
	Username  string            `json:"username"`
	Groups    []string          `json:"kubernetesGroups"`
	Tags      map[string]string `json:"tags"`
	Created   float64           `json:"createdAt"`
	Modified  float64           `json:"modifiedAt"`
}

func itemOfEntry(r *accounts.Region, e *accounts.AccessEntry) *entryOutput {
	return &entryOutput{entryItem{
		ARN: r.ARN("eks", "access-entry/"+r.Cluster().Name+"/"+e.Principal), Cluster: r.Cluster().Name, Principal: e.Principal, Type: e.Type,
		Username: e.Username, Groups: append([]string{}, e.Groups...), Tags: e.Tags, Created: epoch(e.Created), Modified: epoch(e.Modified),
	}}
}

type createEntryInput struct {
	Principal string            `json:"principalArn"`
	Token     string            `json:"clientRequestToken"`
	Groups    []string          `json:"kubernetesGroups"`
	Tags      map[string]string `json:"tags"`
	Type      string            `json:"type"`
	Username  string            `json:"username"`
}

func createEntry(r *accounts.Region, _ *wire.Call, in *createEntryInput) (*entryOutput, error) {
	e, err := r.CreateAccessEntry(accounts.AccessEntry{Principal: in.Principal, Type: in.Type, Username: in.Username, Groups: in.Groups, Tags: in.Tags}, in.Token)
	if err != nil {
		return nil, err
	}
	return itemOfEntry(r, e), nil
}

type entriesOutput struct {
	Entries []string `json:"accessEntries"`
	Next    string   `json:"nextToken,omitempty"`
}

func listEntries(r *accounts.Region, c *wire.Call, _ *none) (*entriesOutput, error) {
	query := c.HTTP.URL.Query()
	if query.Has("associatedPolicyArn") {
		return nil, wire.Errorf("InvalidParameterException", "The emulator does not model access policies.")
	}
	size, err := pageSize(c)
	if err != nil {
		return nil, err
	}
	page, next, err := wire.Page(r.AccessEntries(), func(e *accounts.AccessEntry) string { return e.Principal }, size, query.Get("nextToken"), wire.Limits{Min: 1, Max: 100})
	out := &entriesOutput{Entries: []string{}, Next: next}
	for _, e := range page {
		out.Entries = append(out.Entries, e.Principal)
	}
	return out, err
}

func describeEntry(r *accounts.Region, c *wire.Call, _ *none) (*entryOutput, error) {
	e, err := r.AccessEntry(c.HTTP.PathValue("principal"))
	if err != nil {
		return nil, err
	}
	return itemOfEntry(r, e), nil
}

type updateEntryInput struct {
	Token    string   `json:"clientRequestToken"`
	Groups   []string `json:"kubernetesGroups"`
	Username string   `json:"username"`
}

func updateEntry(r *accounts.Region, c *wire.Call, in *updateEntryInput) (*entryOutput, error) {
	e, err := r.UpdateAccessEntry(c.HTTP.PathValue("principal"), in.Username, in.Groups)
	if err != nil {
		return nil, err
	}
	return itemOfEntry(r, e), nil
}

func deleteEntry(r *accounts.Region, c *wire.Call, _ *none) (*none, error) {
	return &none{}, r.DeleteAccessEntry(c.HTTP.PathValue("principal"))
}
