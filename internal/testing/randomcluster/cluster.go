package randomcluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// Object is any API object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Cluster is a small cluster with a catalogue to buy from. It must not be changed once it is
// made: smaller ones are copies.
type Cluster struct {
	Seed     uint64
	Settings Settings
	Types    []Type
	Objects  []Object
}

// Settings are the options of the decision that matter here.
type Settings struct {
	Preferences       snapshot.Preferences `json:"preferences"`
	BestEffortMinimum bool                 `json:"bestEffortMinimum,omitempty"`
	ReservedCapacity  bool                 `json:"reservedCapacity,omitempty"`
	StaticCapacity    bool                 `json:"staticCapacity,omitempty"`
	SpotToSpot        bool                 `json:"spotToSpot,omitempty"`
}

// Type is an instance type as catalogue files have it.
type Type struct {
	Name             string            `json:"name"`
	Architecture     string            `json:"architecture"`
	OperatingSystems []string          `json:"operatingSystems"`
	Capacity         map[string]string `json:"capacity"`
	Overhead         map[string]string `json:"overhead,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
	Offerings        []Offering        `json:"offerings"`
}

// Offering is one way to buy a Type.
type Offering struct {
	Zone                string  `json:"zone"`
	CapacityType        string  `json:"capacityType"`
	Price               float64 `json:"price"`
	Available           bool    `json:"available"`
	ReservationID       string  `json:"reservationID,omitempty"`
	ReservationCapacity int64   `json:"reservationCapacity,omitempty"`
}

// Now is the time in every cluster.
var Now = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// Listing returns the cluster's objects in the form that ingest takes.
func (c *Cluster) Listing() *ingest.Objects {
	out := &ingest.Objects{}
	for _, o := range c.Objects {
		out.Add(o)
	}
	return out
}

// Snapshot translates the cluster.
func (c *Cluster) Snapshot() *snapshot.Snapshot {
	return ingest.Build(c.Listing(), c.Options())
}

// Options returns the options for translating the cluster's objects.
func (c *Cluster) Options() ingest.Options {
	offers, words := c.catalog()
	return ingest.Options{
		Now: Now,
		Settings: snapshot.Settings{
			Preferences:       c.Settings.Preferences,
			BestEffortMinimum: c.Settings.BestEffortMinimum,
			ReservedCapacity:  c.Settings.ReservedCapacity,
			StaticCapacity:    c.Settings.StaticCapacity,
			SpotToSpot:        c.Settings.SpotToSpot,
		},
		Vocabulary: requirement.Core().With(words),
		Catalog: func(*karpenterv1.NodePool, metav1.Object) (*catalog.Catalog, error) {
			return offers, nil
		},
	}
}

func (c *Cluster) catalog() (*catalog.Catalog, requirement.Words) {
	data, err := json.Marshal(c.Types)
	if err != nil {
		panic(fmt.Sprintf("chance: a catalogue that cannot be written: %v", err)) // it holds only plain values
	}
	offers, words, err := ingest.ReadCatalog(data)
	if err != nil {
		panic(fmt.Sprintf("chance: seed %d: a catalogue that cannot be read: %v", c.Seed, err))
	}
	return offers, words
}

// clone copies the cluster so deeply that the copy may be changed.
func (c *Cluster) clone() *Cluster {
	out := &Cluster{Seed: c.Seed, Settings: c.Settings}
	for _, t := range c.Types {
		t.Offerings = slices.Clone(t.Offerings)
		out.Types = append(out.Types, t)
	}
	for _, o := range c.Objects {
		out.Objects = append(out.Objects, o.DeepCopyObject().(Object))
	}
	return out
}
