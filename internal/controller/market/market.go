// Package market writes into a ConfigMap what the controller knows of the market: what each node class
// sells, at which price, what is out of stock, and for which pools nothing is bought now; and its own settings on
// which plans depend. A plan that is made on a laptop goes by it.
//
// It must not change what is bought, and writes seldom: the object is large.
package market

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/internal/class"
	"tenon/internal/market/publication"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// Pauses knows for which pools nothing is bought now; nil if something is.
type Pauses interface {
	Pause(pool *karpenterv1.NodePool) error
}

// How often is looked for news, how often they are written at most, and how often it is said that
// there are none: readers see by it that a controller runs.
const (
	looks  = 15 * time.Second
	writes = time.Minute
	beats  = 30 * time.Minute
)

type publisher struct {
	kit       reconcile.Kit
	pauses    Pauses
	namespace string

	mu       sync.Mutex
	wrote    time.Time
	catalogs map[cloud.ClassRef]*catalog.Catalog // as they were written
	closed   map[string]string
	text     []byte
}

// New makes the controller, which writes into a namespace.
func New(kit reconcile.Kit, pauses Pauses, namespace string) reconcile.Controller {
	p := &publisher{kit: kit, pauses: pauses, namespace: namespace}
	return reconcile.Controller{Name: "market", Workers: reconcile.One, Reconcile: p.reconcile}
}

func (p *publisher) reconcile(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.kit.Clock.Now()
	if now.Before(p.wrote.Add(writes)) {
		return reconcile.In(looks), nil
	}
	catalogs, closed, err := p.gather(ctx)
	if err != nil {
		return reconcile.Never, fmt.Errorf("publish the market: %w", err)
	}
	same := maps.Equal(catalogs, p.catalogs) && maps.Equal(closed, p.closed)
	if len(catalogs) == 0 || same && now.Before(p.wrote.Add(beats)) {
		return reconcile.In(looks), nil
	}
	market := publication.Publication{Catalogs: catalogs, Closed: closed, Settings: p.kit.Settings.ForPlans}
	text, err := market.Encode(publication.Most)
	if err != nil {
		return reconcile.Never, fmt.Errorf("publish the market: %w", err)
	}
	p.catalogs, p.closed = catalogs, closed
	if bytes.Equal(text, p.text) && now.Before(p.wrote.Add(beats)) {
		return reconcile.In(looks), nil
	}
	if err := p.write(ctx, publication.Object(p.namespace, text, now)); err != nil {
		return reconcile.Never, fmt.Errorf("publish the market: %w", err)
	}
	p.text, p.wrote = text, now
	return reconcile.In(looks), nil
}

// gather asks for what each class of a pool sells. A class without an answer is left out: its pools say why.
func (p *publisher) gather(ctx context.Context) (map[cloud.ClassRef]*catalog.Catalog, map[string]string, error) {
	pools := &karpenterv1.NodePoolList{}
	if err := p.kit.Client.List(ctx, pools); err != nil {
		return nil, nil, err
	}
	catalogs, closed := map[cloud.ClassRef]*catalog.Catalog{}, map[string]string{}
	for i := range pools.Items {
		pool := &pools.Items[i]
		ref := class.Of(pool)
		if catalogs[ref] != nil || !p.kit.Cloud.Describe().Supports(ref) {
			continue
		}
		if sells, err := p.kit.Cloud.Catalog(ctx, ref); err == nil {
			catalogs[ref] = sells
		}
	}
	for i := range pools.Items {
		if err := p.pauses.Pause(&pools.Items[i]); err != nil {
			closed[pools.Items[i].Name] = err.Error()
		}
	}
	return catalogs, closed, nil
}

func (p *publisher) write(ctx context.Context, want *corev1.ConfigMap) error {
	return patch.ConfigMap(ctx, p.kit, client.ObjectKeyFromObject(want), func(stored *corev1.ConfigMap) error {
		want.ResourceVersion = stored.ResourceVersion
		*stored = *want
		return nil
	})
}
