package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/internal/aws"
	"tenon/internal/cli/planning"
	"tenon/internal/provider"
	"tenon/internal/settings"
	"tenon/internal/testing/workload"
)

// Prices are the prices of machines at the time of the measurement.
type Prices struct{ instancetype.Prices }

// Of returns the price of a claim's machine, which its labels describe.
func (p Prices) Of(labels map[string]string) model.Money {
	price, _ := p.of(labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelTopologyZone], labels[karpenterv1.LabelCapacityType])
	return price
}

func (p Prices) of(instanceType, zone, capacityType string) (model.Money, bool) {
	if capacityType == catalog.Spot {
		return p.Spot(instanceType, zone)
	}
	return p.OnDemand(instanceType)
}

// Planned is the result of "tenon plan" for the same pods without other nodes.
type Planned struct {
	Price, Bound float64 // an hour
	Nodes        int
}

// Plan plans for objects as "tenon plan" does, at the given prices.
func Plan(ctx context.Context, region string, prices Prices, objects []client.Object) (Planned, error) {
	folder, err := os.MkdirTemp("", "tenon-measure-")
	if err != nil {
		return Planned{}, err
	}
	defer os.RemoveAll(folder)
	var text, output bytes.Buffer
	for _, o := range workload.Typed(objects) {
		if err := json.NewEncoder(&text).Encode(o); err != nil {
			return Planned{}, fmt.Errorf("write %s: %w", o.GetName(), err)
		}
	}
	file := filepath.Join(folder, "workload.json")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		return Planned{}, err
	}
	cloud := aws.Cloud()
	configured, _, err := settings.Parse(nil, func(string) (string, bool) { return "", false }, cloud.Settings...)
	if err != nil {
		return Planned{}, err
	}
	builtin := cloud.Builtin.Market
	cloud.Builtin.Market = func(region string) (provider.Market, error) {
		market, err := builtin(region)
		return &priced{Market: market, prices: prices, made: map[*catalog.Catalog]*catalog.Catalog{}}, err
	}
	_, err = planning.Run(ctx, planning.Options{
		Files: []string{file}, Region: region, Output: planning.JSON, Settings: configured, Given: func(string) bool { return false },
	}, planning.Env{Out: &output, Err: io.Discard, Progress: io.Discard, Lookup: func(string) (string, bool) { return "", false }, Clock: time.Now, Cloud: cloud})
	if err != nil {
		return Planned{}, fmt.Errorf("plan: %w", err)
	}
	var planned struct {
		Nodes []struct{} `json:"nodes"`
		Cost  struct{ NewPerHour, LowerBoundPerHour float64 }
	}
	if err := json.Unmarshal(output.Bytes(), &planned); err != nil {
		return Planned{}, fmt.Errorf("read the plan: %w", err)
	}
	return Planned{Price: planned.Cost.NewPerHour, Bound: planned.Cost.LowerBoundPerHour, Nodes: len(planned.Nodes)}, nil
}

// priced is a market with replaced prices.
type priced struct {
	provider.Market
	prices Prices
	made   map[*catalog.Catalog]*catalog.Catalog
}

// Catalog implements provider.Market. Offerings without a price are not available.
func (p *priced) Catalog(pool *karpenterv1.NodePool, class metav1.Object) (*catalog.Catalog, error) {
	listed, err := p.Market.Catalog(pool, class)
	if err != nil || p.made[listed] != nil {
		return p.made[listed], err
	}
	made := &catalog.Catalog{Types: make([]catalog.Type, len(listed.Types))}
	for i, t := range listed.Types {
		offerings := make([]catalog.Offering, len(t.Offerings))
		for j, o := range t.Offerings {
			price, known := p.prices.of(t.Name, o.Zone, o.CapacityType)
			o.Price, o.Unpriced = price, !known
			o.Available = o.Available && known
			offerings[j] = o
		}
		t.Offerings = offerings
		made.Types[i] = t
	}
	p.made[listed] = made
	return made, nil
}
