package clusterautoscaler

import (
	"fmt"
	"time"

	"sigs.k8s.io/yaml"
)

// The ConfigMap in which Cluster Autoscaler reports its status, its key, and the annotation with the time of
// the report.
const (
	StatusConfigMap     = "cluster-autoscaler-status"
	StatusKey           = "status"
	StatusUpdated       = "cluster-autoscaler.kubernetes.io/last-updated"
	statusTime          = "2006-01-02 15:04:05.999999999 -0700 MST"
	longestErrorMessage = 500
)

// Status is the content of that ConfigMap.
type Status struct {
	Time             string        `json:"time"`
	AutoscalerStatus string        `json:"autoscalerStatus"`
	ClusterWide      ClusterStatus `json:"clusterWide"`
	NodeGroups       []GroupStatus `json:"nodeGroups,omitempty"`
}

// ClusterStatus is about all groups together.
type ClusterStatus struct {
	Health    Health    `json:"health"`
	ScaleUp   ScaleUp   `json:"scaleUp"`
	ScaleDown ScaleDown `json:"scaleDown"`
}

// GroupStatus is about one group.
type GroupStatus struct {
	Name      string      `json:"name"`
	Health    GroupHealth `json:"health"`
	ScaleUp   ScaleUp     `json:"scaleUp"`
	ScaleDown ScaleDown   `json:"scaleDown"`
}

// Probe says when a status was last checked, and when it last changed.
type Probe struct {
	LastProbeTime      string `json:"lastProbeTime"`
	LastTransitionTime string `json:"lastTransitionTime"`
}

// Health counts nodes.
type Health struct {
	Status     string     `json:"status"`
	NodeCounts NodeCounts `json:"nodeCounts"`
	Probe
}

// GroupHealth is the health of a group, with its sizes.
type GroupHealth struct {
	Status              string     `json:"status"`
	NodeCounts          NodeCounts `json:"nodeCounts"`
	CloudProviderTarget int64      `json:"cloudProviderTarget"`
	MinSize             int64      `json:"minSize"`
	MaxSize             int64      `json:"maxSize"`
	Probe
}

// NodeCounts are instances with a node, and instances without one; LongUnregistered have had no node for
// too long.
type NodeCounts struct {
	Registered       RegisteredCounts `json:"registered"`
	LongUnregistered int64            `json:"longUnregistered"`
	Unregistered     int64            `json:"unregistered"`
}

// RegisteredCounts are nodes.
type RegisteredCounts struct {
	Total        int64         `json:"total"`
	Ready        int64         `json:"ready"`
	NotStarted   int64         `json:"notStarted"`
	BeingDeleted int64         `json:"beingDeleted,omitempty"`
	Unready      UnreadyCounts `json:"unready,omitzero"`
}

// UnreadyCounts are nodes that are not Ready.
type UnreadyCounts struct {
	Total           int64 `json:"total"`
	ResourceUnready int64 `json:"resourceUnready"`
}

// ScaleUp says whether instances are expected.
type ScaleUp struct {
	Status      string       `json:"status"`
	BackoffInfo *BackoffInfo `json:"backoffInfo,omitempty"`
	Probe
}

// BackoffInfo says why no instances are requested.
type BackoffInfo struct {
	ErrorCode    string `json:"errorCode"`
	ErrorMessage string `json:"errorMessage"`
}

// ScaleDown counts unneeded nodes.
type ScaleDown struct {
	Status     string `json:"status"`
	Candidates int64  `json:"candidates,omitempty"`
	Probe
}

// Facts are what the status of a group is made from.
type Facts struct {
	Name                  string
	Min, Max, Desired     int64
	Counts                NodeCounts
	Candidates            int64
	Healthy, BackedOff    bool
	BackoffCode, BackedBy string
}

// NewStatus is the status of groups at a time. A status that is the same as before keeps its time of
// transition.
func NewStatus(groups []Facts, before *Status, now time.Time) Status {
	out := Status{Time: now.UTC().Format(statusTime), AutoscalerStatus: "Running"}
	was := map[string]GroupStatus{}
	if before != nil {
		out.ClusterWide = before.ClusterWide
		for _, g := range before.NodeGroups {
			was[g.Name] = g
		}
	}
	c, healthy, growing, candidates := NodeCounts{}, true, false, int64(0)
	for _, g := range groups {
		s := statusOf(g, was[g.Name], now)
		out.NodeGroups = append(out.NodeGroups, s)
		c.Add(g.Counts)
		healthy, growing, candidates = healthy && g.Healthy, growing || s.ScaleUp.Status == "InProgress", candidates+g.Candidates
	}
	wide := &out.ClusterWide
	wide.Health.NodeCounts = c
	wide.Health.Probe = wide.Health.turn(&wide.Health.Status, health(healthy), now)
	wide.ScaleUp.Probe = wide.ScaleUp.turn(&wide.ScaleUp.Status, activity(growing), now)
	wide.ScaleDown.Candidates = candidates
	wide.ScaleDown.Probe = wide.ScaleDown.turn(&wide.ScaleDown.Status, presence(candidates), now)
	return out
}

func statusOf(g Facts, s GroupStatus, now time.Time) GroupStatus {
	s.Name = g.Name
	s.Health.NodeCounts, s.Health.CloudProviderTarget, s.Health.MinSize, s.Health.MaxSize = g.Counts, g.Desired, g.Min, g.Max
	s.Health.Probe = s.Health.turn(&s.Health.Status, health(g.Healthy), now)
	up := activity(g.Desired > g.Counts.Registered.Ready+g.Counts.Registered.Unready.Total)
	s.ScaleUp.BackoffInfo = nil
	switch {
	case g.BackedOff:
		up = "Backoff"
		s.ScaleUp.BackoffInfo = &BackoffInfo{ErrorCode: g.BackoffCode, ErrorMessage: g.BackedBy[:min(len(g.BackedBy), longestErrorMessage)]}
	case !g.Healthy:
		up = "Unhealthy"
	}
	s.ScaleUp.Probe = s.ScaleUp.turn(&s.ScaleUp.Status, up, now)
	s.ScaleDown.Candidates = g.Candidates
	s.ScaleDown.Probe = s.ScaleDown.turn(&s.ScaleDown.Status, presence(g.Candidates), now)
	return s
}

// turn sets a status, and returns its probe.
func (p Probe) turn(status *string, to string, now time.Time) Probe {
	p.LastProbeTime = now.UTC().Format(time.RFC3339Nano)
	if *status != to || p.LastTransitionTime == "" {
		*status, p.LastTransitionTime = to, p.LastProbeTime
	}
	return p
}

// Add adds the counts of another group.
func (c *NodeCounts) Add(o NodeCounts) {
	c.LongUnregistered += o.LongUnregistered
	c.Unregistered += o.Unregistered
	c.Registered.Total += o.Registered.Total
	c.Registered.Ready += o.Registered.Ready
	c.Registered.NotStarted += o.Registered.NotStarted
	c.Registered.BeingDeleted += o.Registered.BeingDeleted
	c.Registered.Unready.Total += o.Registered.Unready.Total
}

func health(healthy bool) string {
	if healthy {
		return "Healthy"
	}
	return "Unhealthy"
}

func activity(growing bool) string {
	if growing {
		return "InProgress"
	}
	return "NoActivity"
}

func presence(candidates int64) string {
	if candidates > 0 {
		return "CandidatesPresent"
	}
	return "NoCandidates"
}

// ReadStatus reads the text of the ConfigMap.
func ReadStatus(text string) (*Status, error) {
	var s Status
	if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("read the status of Cluster Autoscaler: %w", err)
	}
	return &s, nil
}

// Text is the text of the ConfigMap.
func (s Status) Text() (string, error) {
	text, err := yaml.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("write the status of Cluster Autoscaler: %w", err)
	}
	return string(text), nil
}
