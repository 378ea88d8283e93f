// Package provider is what a cloud gives to the process, as data: its settings, how its backend is
// opened, what can be bought without asking it, and its metrics. Each cloud fills in a Cloud in one
// folder, and cmd/tenon names the one that the binary is for.
//
// It must not know a cloud.
package provider

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/label"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/preflight"
	"tenon/internal/reference"
	"tenon/internal/settings"
	"tenon/internal/telemetry"
)

// Cloud is one cloud. The zero value has no settings, opens nothing and sells nothing.
type Cloud struct {
	// Settings are the cloud's own. Reading them changes what Open and Market use, so a Cloud serves one
	// command line.
	Settings []settings.Option
	// Open makes the backend of a controller.
	Open Open
	// Builtin is the catalogue that the binary has of the cloud.
	Builtin Builtin
	// Metrics describe the cloud's own, and Classes are the labels that name the class of a node, for
	// the page that documents metrics.
	Metrics []telemetry.Family
	Classes []string
	// Reference is what the pages about labels and events say of the cloud, and Labels are its labels.
	Reference reference.Rows
	Labels    label.Data
	// Preflight says what the account lacks for the controller to work; nil looks at nothing.
	Preflight Preflight
	// Room says what launches of nodes would lack in the account; nil looks at nothing.
	Room Room
	// ConvertGroup makes a pool of a node group; nil if the cloud has no groups.
	ConvertGroup ConvertGroup
}

// ConvertGroup reads a group of the account by its name in the cloud, and makes a pool of it. It changes nothing. Build is the
// version of the program.
type ConvertGroup func(ctx context.Context, build, group string) (cloud.GroupConversion, error)

// Preflight looks at an account.
type Preflight func(context.Context, Ground) []preflight.Finding

// Room looks at an account for nodes that are to be launched. Build is the version of the program.
type Room func(ctx context.Context, build string, launches []Launch) []preflight.Finding

// Launch is a number of nodes of a class.
type Launch struct {
	Class metav1.Object
	Nodes int
}

// Ground is what a preflight uses.
type Ground struct {
	// Cluster reads objects of the cluster, the cloud's own classes among them.
	Cluster client.Reader
	// Version is the API server's.
	Version string
	Build   string
}

// Builtin is a catalogue that needs no account of the cloud.
type Builtin struct {
	// Name is what people call it: EC2.
	Name string
	// Region is the one that is taken if none is named.
	Region string
	// Market is that of a region. Without one, each pool buys in the region that it names, or
	// in Region if it names none.
	Market func(region string) (Market, error)
	// Offers is all that a region sells, at the prices that are built in.
	Offers func(region string) *catalog.Catalog
	// Currency is that of a region's prices, as ISO 4217 has it; without a region, that of most regions.
	Currency func(region string) string
	// Console is the address of the cloud's own page about an instance; empty if there is none.
	Console func(region, instance string) string
}

// Market is what pools can buy.
type Market interface {
	Vocabulary() requirement.Vocabulary
	// ReservationLabel is the label of nodes that names their capacity reservation; empty if
	// there are none.
	ReservationLabel() string
	// Catalog is what a pool may buy. The class is nil if it is not among the objects.
	Catalog(pool *karpenterv1.NodePool, class metav1.Object) (*catalog.Catalog, error)
	// Currency of prices, as ISO 4217 has it; empty if it is not known.
	Currency() string
	// Remarks say what was assumed about the catalogues that were asked for.
	Remarks() []string
}
