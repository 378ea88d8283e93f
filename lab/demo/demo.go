// Package demo shows Tenon at work in a lab: it applies the examples that people read first, has the
// workload grow and shrink, and tells of every machine that comes and goes, with its price.
//
// It must not decide anything that Tenon decides: it is a user with kubectl, and stands back as soon
// as another user takes the workload into their own hands.
package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"tenon/examples"
	"tenon/lab/install"
)

// The demo applies these manifests in this order, and scales this workload.
var manifests = []string{"basic.yaml", "inflate.yaml"}

const (
	namespace = metav1.NamespaceDefault
	workload  = "inflate"
)

// wave is how many pods the workload has, again and again. It stays below the pool's limit of ten
// processors, with the nodes that its lower steps have left.
var wave = []int32{3, 6, 2}

// How long a step stays once its pods run, how long the pods may take, and how often the demo looks.
const (
	hold  = 40 * time.Second
	limit = 3 * time.Minute
	every = time.Second
)

// Demo is a running demo.
type Demo struct {
	clients kubernetes.Interface
	aws     string
	say     func(string)
	told    sightings
	causes  causes
}

// Start applies the examples. It reports through say, a line at a time.
func Start(ctx context.Context, config *rest.Config, aws string, say func(string)) (*Demo, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make clients: %w", err)
	}
	for _, name := range manifests {
		text, err := examples.Files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read example: %w", err)
		}
		if err := install.Apply(ctx, config, text); err != nil {
			return nil, fmt.Errorf("apply %s: %w", name, err)
		}
	}
	return &Demo{clients: clients, aws: aws, say: say, told: sightings{}, causes: causes{}}, nil
}

// Run has the workload grow and shrink, and tells what is bought, until the context ends.
func (d *Demo) Run(ctx context.Context) error {
	for step := 0; ; step++ {
		want := wave[step%len(wave)]
		if err := d.scale(ctx, want); err != nil {
			return ending(ctx, err)
		}
		d.say(fmt.Sprintf("  %s is scaled to %d pods", workload, want))
		switch err := d.watch(ctx, want); {
		case errors.Is(err, errTaken):
			d.say("  " + workload + " was scaled by another client: the demo leaves it alone from now on")
			return ending(ctx, d.watch(ctx, foreignScale))
		case err != nil:
			return ending(ctx, err)
		}
	}
}

// ending is nil when the demo was told to end: its errors then have that reason.
func ending(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// foreignScale is a number of pods that the demo did not set.
const foreignScale int32 = -1

// errTaken says that the workload was scaled by another program or user.
var errTaken = errors.New("the workload is in other hands")

func (d *Demo) scale(ctx context.Context, replicas int32) error {
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	_, err := d.clients.AppsV1().Deployments(namespace).Patch(ctx, workload, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("scale %s: %w", workload, err)
	}
	return nil
}

// watch reports what happens, until a step has lasted long enough.
func (d *Demo) watch(ctx context.Context, want int32) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	begun := time.Now()
	var settled time.Time
	for {
		if err := d.tell(ctx); err != nil {
			return err
		}
		if want != foreignScale {
			now, err := d.clients.AppsV1().Deployments(namespace).Get(ctx, workload, metav1.GetOptions{})
			if err != nil {
				return fmt.Errorf("look at %s: %w", workload, err)
			}
			switch {
			case now.Spec.Replicas == nil || *now.Spec.Replicas != want:
				return errTaken
			case settled.IsZero() && ready(now, want):
				settled = time.Now()
				d.say(fmt.Sprintf("  %d pods of %s run, %s after they were asked for", want, workload, settled.Sub(begun).Truncate(time.Second)))
			case !settled.IsZero() && time.Since(settled) > hold, time.Since(begun) > limit:
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

func ready(d *appsv1.Deployment, want int32) bool {
	return d.Status.ObservedGeneration >= d.Generation && d.Status.Replicas == want && d.Status.ReadyReplicas == want
}
