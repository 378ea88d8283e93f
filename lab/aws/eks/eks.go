// Package eks is the wire interface of EKS's clusters with their access entries and managed node groups,
// and of the zonal shifts that ARC performs for them.
package eks

import (
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// Service serves EKS on the given world.
func Service(w *accounts.World) *wire.Service {
	s := &wire.Service{
		Name: "eks", Protocol: wire.RESTJSON,
		Routes: map[string]string{"GET /clusters": "ListClusters", "GET /clusters/{name}": "DescribeCluster"},
		Operations: map[string]wire.Handler{
			"ListClusters": wire.Operation(func(c *wire.Call, _ *none) (out *listOutput, err error) {
				err = w.Do(c.Account, c.Region, func(r *accounts.Region) error {
					out = &listOutput{Clusters: []string{r.Cluster().Name}}
					return nil
				})
				return out, err
			}),
			"DescribeCluster": wire.Operation(func(c *wire.Call, _ *none) (out *clusterOutput, err error) {
				err = w.Do(c.Account, c.Region, func(r *accounts.Region) error {
					out, err = describe(r, c.HTTP.PathValue("name"))
					return err
				})
				return out, err
			}),
		},
	}
	accessOperations(w, s.Routes, s.Operations)
	groupOperations(w, s.Routes, s.Operations)
	return s
}

type none struct{}

type listOutput struct {
	Clusters []string `json:"clusters"`
}

type clusterOutput struct {
	Cluster cluster `json:"cluster"`
}

type cluster struct {
	Name      string            `json:"name"`
	ARN       string            `json:"arn"`
	Created   float64           `json:"createdAt"`
	Version   string            `json:"version"`
	Endpoint  string            `json:"endpoint"`
	Status    string            `json:"status"`
	Authority authority         `json:"certificateAuthority"`
	Network   network           `json:"kubernetesNetworkConfig"`
	VPC       vpc               `json:"resourcesVpcConfig"`
	Tags      map[string]string `json:"tags"`
}

type authority struct {
	Data string `json:"data"`
}

type network struct {
	Range  string `json:"serviceIpv4Cidr"`
	Family string `json:"ipFamily"`
}

type vpc struct {
	ID            string   `json:"vpcId"`
	Subnets       []string `json:"subnetIds"`
	SecurityGroup string   `json:"clusterSecurityGroupId"`
}

// born is when the cluster was made, long before the lab started.
var born = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func describe(r *accounts.Region, name string) (*clusterOutput, error) {
	c := r.Cluster()
	if name != c.Name {
		return nil, noCluster(name)
	}
	out := &clusterOutput{cluster{
		Name: c.Name, ARN: r.ARN("eks", "cluster/"+c.Name), Created: float64(born.Unix()), Version: c.Version, Endpoint: c.Endpoint, Status: "ACTIVE",
		Authority: authority{c.Authority}, Network: network{c.ServiceRange, "ipv4"}, Tags: map[string]string{},
	}}
	home := r.Networks()[0]
	out.Cluster.VPC.ID = home.ID
	for _, s := range r.Subnets() {
		if s.Network == home && !s.Isolated {
			out.Cluster.VPC.Subnets = append(out.Cluster.VPC.Subnets, s.ID)
		}
	}
	for _, g := range r.SecurityGroups() {
		if g.Name == r.ClusterGroup() {
			out.Cluster.VPC.SecurityGroup = g.ID
		}
	}
	return out, nil
}
