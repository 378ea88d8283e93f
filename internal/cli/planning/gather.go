package planning

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/cli/listing"
	"tenon/internal/command"
	"tenon/internal/ingest"
	"tenon/internal/ingest/manifest"
	"tenon/internal/manager"
	"tenon/internal/provider"
	"tenon/internal/rolloutpace"
	"tenon/internal/savings"
	"tenon/internal/version"
)

// gather makes the snapshot.
func (j *job) gather(ctx context.Context) (*snapshot.Snapshot, error) {
	if j.Snapshot != "" {
		return j.fromSnapshot()
	}
	var objects *ingest.Objects
	var err error
	if len(j.Files) == 0 {
		if objects, err = j.fromCluster(ctx); err != nil {
			return nil, err
		}
	}
	m, err := j.market()
	if err != nil {
		return nil, err
	}
	options := j.ingestOptions(m)
	if options.Files {
		if objects, err = j.fromFiles(options); err != nil {
			return nil, err
		}
	}
	if j.Prepare != nil {
		if err := j.Prepare(objects); err != nil {
			return nil, err
		}
	}
	j.report.Set("putting the picture together", fmt.Sprintf("%d pods", len(objects.Pods)))
	j.objects, j.reading = objects, options
	s := ingest.Build(objects, options)
	if !options.Files {
		leaveOutReplicas(s)
	}
	learn(s, objects, options)
	j.closePools(s)
	j.currency = m.Currency()
	if !options.Files {
		j.prices = pricesOf(m, j.published)
	}
	j.remark(s, m)
	j.remarkPrices(objects)
	j.remarkBuffers(objects)
	return s, nil
}

// learn puts into the snapshot what the controller has learned about each pool and has written on it, so
// that the plan is the one that the controller would make. A pool from a file may have none of that.
func learn(s *snapshot.Snapshot, objects *ingest.Objects, options ingest.Options) {
	underway := map[string]int{}
	for _, claim := range objects.NodeClaims {
		if r, ok := command.Of(claim); ok && claim.DeletionTimestamp == nil && r.Reason == plan.Drifted && r.Takes(claim.Name) {
			underway[claim.Labels[karpenterv1.LabelNodePool]]++
		}
	}
	for _, pool := range objects.NodePools {
		at := slices.IndexFunc(s.Pools, func(p snapshot.Pool) bool { return p.Name == pool.Name })
		if at < 0 {
			continue
		}
		c := &s.Pools[at].Consolidation
		c.Caution = savings.Of(pool).Caution(options.Now)
		if _, began := pool.Annotations[rolloutpace.Annotation]; began || !options.Files {
			pace := rolloutpace.Of(pool).Pace(pool.Name, underway[pool.Name], options.Now)
			c.Pace = &pace
		}
	}
}

func (j *job) now() time.Time {
	if !j.Now.IsZero() {
		return j.Now
	}
	return j.Clock()
}

func (j *job) ingestOptions(m provider.Market) ingest.Options {
	options := IngestOptions(m, j.now(), j.Settings)
	options.Settings = j.decisionSettings(snapshot.Settings{})
	options.Files = len(j.Files) > 0
	return options
}

// decisionSettings translates settings. Those of a snapshot file stay unless they are given.
func (j *job) decisionSettings(s snapshot.Settings) snapshot.Settings {
	if j.Snapshot == "" || j.Given("preference-policy") {
		s.Preferences = snapshot.Preferences(j.Settings.PreferencePolicy)
	}
	if j.Snapshot == "" || j.Given("min-values-policy") {
		s.BestEffortMinimum = j.Settings.MinValuesPolicy == "BestEffort"
	}
	if j.Snapshot == "" || j.Given("feature-gates") {
		s.ReservedCapacity = j.Settings.FeatureGates.ReservedCapacity
		s.SpotToSpot = j.Settings.FeatureGates.SpotToSpotConsolidation
		s.StaticCapacity = j.Settings.FeatureGates.StaticCapacity
	}
	if j.Snapshot == "" || j.Given("guide-moves") {
		s.GuideMoves = j.Settings.GuideMoves
	}
	if j.Snapshot == "" || j.Given("expander") {
		if s.Expanders = j.Settings.Expanders(); j.Settings.AsksServer() {
			j.note("the expander grpc keeps all groups in a plan: only the controller asks its server")
		}
	}
	if j.Snapshot == "" || j.Given("balance-similar-node-groups") {
		s.Balance = j.Settings.Decision().Balance
	}
	if j.Snapshot == "" || slices.ContainsFunc([]string{"max-nodes-total", "cores-total", "memory-total", "gpu-total"}, j.Given) {
		s.Limits, s.Floors = j.Settings.Totals.Limits(), j.Settings.Totals.Floors()
	}
	return s
}

// fromFiles reads the objects that -f names.
func (j *job) fromFiles(options ingest.Options) (*ingest.Objects, error) {
	return j.readFiles(j.Files, options)
}

func (j *job) readFiles(files []string, options ingest.Options) (*ingest.Objects, error) {
	checker := ingest.NewTranslator(ingest.NewIndex(), options)
	objects, report, err := manifest.Read(files, manifest.Options{
		Stdin: j.In,
		Progress: func(p manifest.Progress) {
			j.report.Set("reading", fmt.Sprintf("%d of %d files, %d objects", p.Files, p.AllFiles, p.Objects))
		},
		Check: func(o metav1.Object) error { return checkObject(o, checker) },
	})
	if err != nil {
		return nil, err
	}
	for _, warning := range report.Warnings {
		j.note("%s", warning)
	}
	j.noteSkipped(report.Skipped)
	return objects, nil
}

// checkObject refuses objects that the API server accepts but a controller would not use.
func checkObject(o metav1.Object, checker *ingest.Translator) error {
	pool, ok := o.(*karpenterv1.NodePool)
	if !ok {
		return nil
	}
	if _, err := ingest.NodePrice(pool, 0); err != nil {
		return err
	}
	if _, err := ingest.DeleteFirst(pool); err != nil {
		return err
	}
	if _, err := ingest.PriceCeiling(pool); err != nil {
		return err
	}
	return checker.CheckPool(pool)
}

func (j *job) noteSkipped(skipped map[string]int) {
	total := 0
	parts := make([]string, 0, len(skipped))
	for _, kind := range order.Keys(skipped) {
		total += skipped[kind]
		parts = append(parts, fmt.Sprintf("%d %s", skipped[kind], kind))
	}
	if total > 0 {
		j.note("%d objects were skipped, because no plan depends on their kind: %s", total, strings.Join(parts, ", "))
	}
}

// fromCluster lists the objects of the kubeconfig's cluster.
func (j *job) fromCluster(ctx context.Context) (*ingest.Objects, error) {
	config := j.Config
	if config == nil {
		connection, err := manager.Connect(j.Settings, version.Get())
		if err != nil {
			return nil, fmt.Errorf("%w; or plan from files with -f", err)
		}
		config = connection.Config
	}
	j.report.Set("reading "+config.Host, "")
	j.readPublication(ctx, config)
	return listing.Read(ctx, config, listing.Options{
		Overlays: j.Settings.FeatureGates.NodeOverlay,
		Buffers:  j.Settings.FeatureGates.CapacityBuffer,
		Requests: j.Settings.ProvisioningRequests.Enabled,
		Owners:   !j.Settings.SchedulerConfig.Empty(),
		Note:     func(text string) { j.note("%s", text) },
		Progress: func(kind string, objects int) {
			j.report.Set("reading "+config.Host, fmt.Sprintf("%d objects, now %s", objects, kind))
		},
	})
}

// leaveOutReplicas drops pods that were imagined for workloads without Pod objects: in a live
// cluster a pod that is not there is not pending, unless a quota refuses it.
func leaveOutReplicas(s *snapshot.Snapshot) {
	s.Pods = slices.DeleteFunc(s.Pods, func(p snapshot.Pod) bool { return p.UID == "" && len(p.Refused) == 0 })
}

// remarkBuffers notes buffers that keep no room, and why.
func (j *job) remarkBuffers(objects *ingest.Objects) {
	index := ingest.NewIndex()
	for _, o := range objects.Others {
		index.Put(o)
	}
	rooms := index.Rooms()
	if len(rooms) > 0 && !j.Settings.FeatureGates.CapacityBuffer {
		j.note("%d CapacityBuffers are left out: the feature gate CapacityBuffer is off", len(rooms))
		return
	}
	for _, k := range slices.SortedFunc(maps.Keys(rooms), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }) {
		if room := rooms[k]; room.Problem != "" {
			j.note("CapacityBuffer %s keeps no room: %s", k, room.Problem)
		}
	}
}

// remarkPrices notes pools of a cluster whose price of nodes cannot be read; in a file that is an error.
func (j *job) remarkPrices(objects *ingest.Objects) {
	for _, pool := range objects.NodePools {
		if _, err := ingest.NodePrice(pool, j.Settings.NodePrice); err != nil {
			j.note("NodePool %s: %s; until then its nodes count with the setting's %s", pool.Name, err, j.Settings.NodePrice)
		}
	}
}

// remarkGroups notes groups that the plan counts on although nothing changes their size.
func (j *job) remarkGroups(s *snapshot.Snapshot) {
	for _, group := range j.objects.NodeGroups {
		grows := slices.ContainsFunc(s.Pools, func(p snapshot.Pool) bool { return p.Name == snapshot.GroupPool(group.Name) && p.MayLaunch() })
		if grows && group.Observed() {
			j.note("node group %s is in mode observe: the plan shows what Tenon would do with it, and nothing does it", group.Name)
		}
	}
}

// remark notes what would be hard to understand in the plan.
func (j *job) remark(s *snapshot.Snapshot, m provider.Market) {
	if len(s.Pools) == 0 {
		j.note("there is no NodePool: nothing can be bought")
	}
	j.remarkGroups(s)
	for i := range s.Pools {
		if p := &s.Pools[i]; !p.MayLaunch() && !(s.Settings.StaticCapacity && p.MayReplenish()) {
			j.note("pool %s is left out: %s", p.Name, p.Unready.Text())
		}
	}
	j.notes = append(j.notes, m.Remarks()...)
}
