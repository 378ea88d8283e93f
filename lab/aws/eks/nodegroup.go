package eks

import (
	"strconv"
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// groupOperations adds the operations on managed node groups, with their paths.
func groupOperations(w *accounts.World, routes map[string]string, operations map[string]wire.Handler) {
	const all, one = "/clusters/{name}/node-groups", "/clusters/{name}/node-groups/{nodegroup}"
	for pattern, name := range map[string]string{
		"POST " + all: "CreateNodegroup", "GET " + all: "ListNodegroups", "GET " + one: "DescribeNodegroup",
		"POST " + one + "/update-config": "UpdateNodegroupConfig", "DELETE " + one: "DeleteNodegroup", "GET /clusters/{name}/updates/{update}": "DescribeUpdate",
	} {
		routes[pattern] = name
	}
	operations["CreateNodegroup"] = ofCluster(w, createGroup)
	operations["ListNodegroups"] = ofCluster(w, listGroups)
	operations["DescribeNodegroup"] = ofCluster(w, describeGroup)
	operations["UpdateNodegroupConfig"] = ofCluster(w, updateGroup)
	operations["DeleteNodegroup"] = ofCluster(w, deleteGroup)
	operations["DescribeUpdate"] = ofCluster(w, describeUpdate)
}

type groupOutput struct {
	Group groupItem `json:"nodegroup"`
}

type groupItem struct {
	accounts.NodeGroupSpec
	ARN       string                    `json:"nodegroupArn"`
	Cluster   string                    `json:"clusterName"`
	Created   float64                   `json:"createdAt"`
	Modified  float64                   `json:"modifiedAt"`
	Status    string                    `json:"status"`
	Scaling   accounts.NodeGroupScaling `json:"scalingConfig"`
	Resources resources                 `json:"resources"`
	Health    health                    `json:"health"`
}

type resources struct {
	Groups []named `json:"autoScalingGroups"`
}

type named struct {
	Name string `json:"name"`
}

type health struct {
	Issues []accounts.NodeGroupIssue `json:"issues"`
}

func epoch(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func itemOfGroup(r *accounts.Region, g *accounts.NodeGroup) *groupOutput {
	status, issues := r.NodeGroupStatus(g)
	return &groupOutput{groupItem{
		NodeGroupSpec: g.Spec, ARN: g.ARN(r), Cluster: r.Cluster().Name, Created: epoch(g.Created), Modified: epoch(g.Modified), Status: status,
		Scaling: g.Sizes(), Resources: resources{[]named{{g.Scaling.Name}}}, Health: health{append([]accounts.NodeGroupIssue{}, issues...)},
	}}
}

type createGroupInput struct {
	accounts.NodeGroupSpec
	Token string `json:"clientRequestToken"`
}

func createGroup(r *accounts.Region, _ *wire.Call, in *createGroupInput) (*groupOutput, error) {
	g, err := r.CreateNodeGroup(in.NodeGroupSpec, in.Token)
	if err != nil {
		return nil, err
	}
	return itemOfGroup(r, g), nil
}

type groupsOutput struct {
	Groups []string `json:"nodegroups"`
	Next   string   `json:"nextToken,omitempty"`
}

func listGroups(r *accounts.Region, c *wire.Call, _ *none) (*groupsOutput, error) {
	size, err := pageSize(c)
	if err != nil {
		return nil, err
	}
	page, next, err := wire.Page(r.NodeGroups(), func(g *accounts.NodeGroup) string { return g.Spec.Name }, size, c.HTTP.URL.Query().Get("nextToken"), wire.Limits{Min: 1, Max: 100})
	out := &groupsOutput{Groups: []string{}, Next: next}
	for _, g := range page {
		out.Groups = append(out.Groups, g.Spec.Name)
	}
	return out, err
}

// pageSize returns the longest page that a request wants.
func pageSize(c *wire.Call) (*int, error) {
	text := c.HTTP.URL.Query().Get("maxResults")
	if text == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, wire.Errorf("InvalidParameterException", "maxResults %q is no number.", text)
	}
	return &n, nil
}

func describeGroup(r *accounts.Region, c *wire.Call, _ *none) (*groupOutput, error) {
	g, err := r.NodeGroup(c.HTTP.PathValue("nodegroup"))
	if err != nil {
		return nil, err
	}
	return itemOfGroup(r, g), nil
}

func deleteGroup(r *accounts.Region, c *wire.Call, _ *none) (*groupOutput, error) {
	g, err := r.DeleteNodeGroup(c.HTTP.PathValue("nodegroup"))
	if err != nil {
		return nil, err
	}
	return itemOfGroup(r, g), nil
}

type updateOutput struct {
	Update update `json:"update"`
}

type update struct {
	ID      string     `json:"id"`
	Status  string     `json:"status"`
	Type    string     `json:"type"`
	Created float64    `json:"createdAt"`
	Errors  []struct{} `json:"errors"` // the emulator has none
}

func updateGroup(r *accounts.Region, c *wire.Call, in *accounts.NodeGroupChange) (*updateOutput, error) {
	g, err := r.UpdateNodeGroup(c.HTTP.PathValue("nodegroup"), *in)
	if err != nil {
		return nil, err
	}
	return &updateOutput{update{g.ID, "InProgress", "ConfigUpdate", epoch(r.Now()), []struct{}{}}}, nil
}

// describeUpdate reports that the update of a group is complete: the emulator's updates take effect
// immediately.
func describeUpdate(r *accounts.Region, c *wire.Call, _ *none) (*updateOutput, error) {
	g, err := r.NodeGroup(c.HTTP.URL.Query().Get("nodegroupName"))
	if err != nil || g.ID != c.HTTP.PathValue("update") {
		return nil, wire.StatusErrorf(404, "ResourceNotFoundException", "No update found for ID: %s", c.HTTP.PathValue("update"))
	}
	return &updateOutput{update{g.ID, "Successful", "ConfigUpdate", epoch(g.Modified), []struct{}{}}}, nil
}
