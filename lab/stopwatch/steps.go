package stopwatch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/testing/workload"
	"tenon/lab/measure"
)

// quiet is the pause before the next single pod.
const quiet = time.Second

// singles makes pods one by one, and measures when each one's claim exists.
func (r run) singles(ctx context.Context) error {
	if r.plan.Singles == 0 {
		return nil
	}
	r.plan.Say("%d pods, one by one", r.plan.Singles)
	watched, stop := context.WithCancel(ctx)
	defer stop()
	claims, err := r.watching(watched, &karpenterv1.NodeClaim{})
	if err != nil {
		return err
	}
	var toClaim, toFleet []time.Duration
	for number := range r.plan.Singles {
		if err := measure.Pause(ctx, quiet); err != nil {
			return err
		}
		begun := time.Now()
		if err := r.client.Create(ctx, apart(number)); err != nil {
			return err
		}
		seen, err := nextClaim(ctx, claims)
		if err != nil {
			return err
		}
		toClaim = append(toClaim, seen.Sub(begun))
		if err := measure.Pause(ctx, quiet); err != nil {
			return err
		}
		bought, err := r.firstFleet(ctx, begun)
		if err != nil {
			return err
		}
		toFleet = append(toFleet, bought.Sub(begun))
		if err := r.awaitBound(ctx, number); err != nil { // or the next pod may take its node
			return err
		}
	}
	r.result.Singles = Singles{
		Pods: r.plan.Singles, ClaimMedian: median(toClaim), ClaimWorst: slices.Max(toClaim),
		FleetMedian: median(toFleet), FleetWorst: slices.Max(toFleet),
	}
	return r.clear(ctx)
}

func (r run) awaitBound(ctx context.Context, number int) error {
	pod := apart(number)
	return r.until(ctx, time.Minute, pod.Name+" is bound", func() (bool, error) {
		err := r.client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		return pod.Spec.NodeName != "", err
	})
}

func nextClaim(ctx context.Context, claims <-chan sighted) (time.Time, error) {
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for {
		select {
		case seen := <-claims:
			if seen.fresh {
				return seen.at, nil
			}
		case <-limit.C:
			return time.Time{}, fmt.Errorf("no claim within a minute")
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
}

// call is one line of the emulator's record of calls.
type call struct {
	Time      time.Time `json:"time"`
	Operation string    `json:"operation"`
}

// firstFleet returns when the first CreateFleet after a time arrived at AWS.
func (r run) firstFleet(ctx context.Context, after time.Time) (time.Time, error) {
	endpoint, err := r.endpoint()
	if err != nil {
		return time.Time{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/lab/calls?all", nil)
	if err != nil {
		return time.Time{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return time.Time{}, err
	}
	defer response.Body.Close()
	var calls []call
	if err := json.NewDecoder(response.Body).Decode(&calls); err != nil {
		return time.Time{}, fmt.Errorf("read the calls: %w", err)
	}
	for _, c := range calls {
		if strings.HasSuffix(c.Operation, "CreateFleet") && c.Time.After(after) {
			return c.Time, nil
		}
	}
	return time.Time{}, fmt.Errorf("nothing was bought for a pod within %s", quiet)
}

func (r run) endpoint() (string, error) {
	text, err := os.ReadFile(r.Directory.Environment())
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if url, found := strings.CutPrefix(strings.TrimSpace(line), "AWS_ENDPOINT_URL="); found {
			return url, nil
		}
	}
	return "", fmt.Errorf("%s does not say where AWS is", r.Directory.Environment())
}

// step is how many pods of the steady state come at a time. All pods at once would be a burst, which delays
// everything on a small machine, and this measurement is about the quiet state afterwards.
const step = 500

// settling is how long the work after the growth takes: Tenon reports new nodes a few at a time, and Go
// returns memory.
const settling = 90 * time.Second

// steady fills nodes with ten pods each, and measures the controller while nothing happens.
func (r run) steady(ctx context.Context) error {
	if r.plan.Nodes == 0 {
		return nil
	}
	pods := 10 * r.plan.Nodes
	r.plan.Say("%d nodes with %d pods", r.plan.Nodes, pods)
	d := workload.Deployment("steady", 0, "1500m")
	d.Spec.Template.Spec.NodeSelector = map[string]string{"pool": smallPool}
	if err := r.client.Create(ctx, d); err != nil {
		return err
	}
	for some := min(step, pods); ; some = min(some+step, pods) {
		if err := r.grow(ctx, d, int32(some)); err != nil {
			return err
		}
		if some == pods {
			break
		}
	}
	var nodes corev1.NodeList
	if err := r.client.List(ctx, &nodes); err != nil {
		return err
	}
	if err := measure.Pause(ctx, settling); err != nil {
		return err
	}
	usage, err := r.usage(ctx, 2*r.plan.Steady)
	usage.Nodes, usage.Pods = len(nodes.Items), pods
	r.result.Steady = usage
	return err
}

// grow sets the number of a Deployment's pods, and waits until they run.
func (r run) grow(ctx context.Context, d *appsv1.Deployment, pods int32) error {
	before := d.DeepCopy()
	d.Spec.Replicas = &pods
	if err := r.client.Patch(ctx, d, client.MergeFrom(before)); err != nil {
		return err
	}
	return r.until(ctx, 5*time.Minute, fmt.Sprintf("%d pods run", pods), func() (bool, error) {
		err := r.client.Get(ctx, client.ObjectKeyFromObject(d), d)
		return d.Status.ReadyReplicas == pods, err
	})
}
