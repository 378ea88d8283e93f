package conformance

import (
	"context"
	"errors"
	"maps"
	"reflect"

	"tenon/cloud"
	"tenon/core/order"
)

func describes(t *lawRun) {
	d := t.Provider.Describe()
	if err := d.Validate(); err != nil {
		t.errorf("%w", err)
	}
	if !reflect.DeepEqual(d, t.Provider.Describe()) {
		t.errorf("two descriptions differ")
	}
	for _, class := range []cloud.ClassRef{t.Class, t.UnreadyClass} {
		if !d.Supports(class) {
			t.errorf("the kind of %s is not among the described", class)
		}
	}
}

func reportsDrift(t *lawRun) {
	claim := t.claim(onDemand())
	i := t.createSettled(claim)
	if reason, err := t.Provider.Drifted(t.ctx, claim, i); err != nil || reason != "" {
		t.errorf("a new instance has drifted: %q, error %v", reason, err)
	}
	if t.Drift != nil {
		t.Drift(i.ProviderID)
		reason, err := t.Provider.Drifted(t.ctx, claim, i)
		if err != nil || !cloud.ValidReason(string(reason)) {
			t.errorf("the reason of a drifted instance is %q, error %v; want one that a condition can have", reason, err)
		}
	}
	t.delete(i.ProviderID)
	if reason, err := t.Provider.Drifted(t.ctx, claim, i); !cloud.IsNotFound(err) {
		t.errorf("an instance that is gone has drifted: %q, error %v; want NotFound", reason, err)
	}
}

func respectsContext(t *lawRun) {
	claim := t.claim(onDemand())
	lives := t.createSettled(claim)
	ended, cancel := context.WithCancel(t.ctx)
	cancel()
	check := func(what string, err error) {
		if !errors.Is(err, context.Canceled) {
			t.errorf("%s with an ended context: error %v, want its end", what, err)
		}
	}
	_, err := t.Provider.Create(ended, t.claim(onDemand()))
	check("create", err)
	t.sold(1, "a purchase with an ended context")
	check("delete", t.Provider.Delete(ended, lives.ProviderID))
	_, err = t.Provider.Get(ended, lives.ProviderID)
	check("get", err)
	_, err = t.Provider.List(ended)
	check("list", err)
	_, err = t.Provider.Drifted(ended, claim, lives)
	check("drift", err)
	t.Advance(t.EndsWithin + t.Provider.Describe().VisibleWithin)
	if i, err := t.Provider.Get(t.ctx, lives.ProviderID); err != nil || i.State == cloud.Terminating {
		t.errorf("an instance was deleted although the context had ended: it is %q, error %v", i.State, err)
	}
}

// valuesChangeHands writes into every value that it was given, and looks whether it shows.
func valuesChangeHands(t *lawRun) {
	claim := t.claim(onDemand())
	claim.Annotations = map[string]string{"conformance": "annotation"}
	labels, annotations := maps.Clone(claim.Labels), maps.Clone(claim.Annotations)
	created := t.createSettled(claim)
	if !maps.Equal(labels, claim.Labels) || !maps.Equal(annotations, claim.Annotations) {
		t.errorf("create changed the claim that it was given")
	}
	const mark = "conformance/mark"
	give := map[string]func() cloud.Instance{
		"create": func() cloud.Instance { return t.create(claim) },
		"get": func() cloud.Instance {
			i, err := t.Provider.Get(t.ctx, created.ProviderID)
			if err != nil {
				t.fatalf("get %s: %w", created.ProviderID, err)
			}
			return i
		},
		"list": func() cloud.Instance { return t.list()[created.ProviderID] },
	}
	for _, what := range order.Keys(give) {
		if i := give[what](); i.Labels != nil {
			i.Labels[mark] = what
		}
	}
	for _, what := range order.Keys(give) {
		if by, shared := give[what]().Labels[mark]; shared {
			t.errorf("what was written into the answer of %s shows in that of %s", by, what)
		}
	}
}
