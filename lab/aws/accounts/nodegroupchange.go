package accounts

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tenon/lab/aws/wire"
)

// NodeGroupChange says what UpdateNodegroupConfig changes.
type NodeGroupChange struct {
	Labels struct {
		Put    map[string]string `json:"addOrUpdateLabels"`
		Remove []string          `json:"removeLabels"`
	} `json:"labels"`
	Taints struct {
		Put    []NodeGroupTaint `json:"addOrUpdateTaints"`
		Remove []NodeGroupTaint `json:"removeTaints"`
	} `json:"taints"`
	Scaling *NodeGroupScaling `json:"scalingConfig"`
	Update  *NodeGroupUpdate  `json:"updateConfig"`
	Token   string            `json:"clientRequestToken"`
}

// UpdateNodeGroup changes labels, taints and sizes of a node group. Existing nodes stay as they are.
func (r *Region) UpdateNodeGroup(name string, c NodeGroupChange) (*NodeGroup, error) {
	g, err := r.NodeGroup(name)
	switch {
	case err != nil:
		return nil, err
	case g.deleting:
		return nil, wire.StatusErrorf(409, "ResourceInUseException", "Nodegroup %s is being deleted.", name)
	}
	next := g.Spec
	next.Labels, next.Taints = changedLabels(g.Spec.Labels, c), changedTaints(g.Spec.Taints, c)
	if s := c.Scaling; s != nil {
		now := g.Sizes()
		next.Scaling = &NodeGroupScaling{or(s.Min, now.Min), or(s.Max, now.Max), or(s.Desired, now.Desired)}
	}
	if c.Update != nil {
		next.Update = c.Update
	}
	if err := r.checkNodeGroup(next, Spec{ImageID: map[bool]string{true: "own"}[next.AMIType == customImage]}); err != nil {
		return nil, err
	}
	rewritten := !maps.Equal(next.Labels, g.Spec.Labels) || !slices.Equal(next.Taints, g.Spec.Taints)
	g.Spec, g.Modified = next, r.Now()
	if rewritten && g.Spec.AMIType != customImage {
		if err := r.rewriteTemplate(g); err != nil {
			return nil, err
		}
	}
	s := g.Spec.Scaling
	if c.Scaling == nil {
		s = &NodeGroupScaling{}
	}
	change := GroupSpec{Min: s.Min, Max: s.Max, Desired: s.Desired}
	if rewritten {
		change.Mixed = g.scalingSpec().Mixed
	}
	if err := r.UpdateScalingGroup(g.Scaling.Name, change); err != nil {
		return nil, wire.Errorf("InvalidRequestException", "%s", messageOf(err))
	}
	return g, nil
}

func or(a, b *int) *int {
	if a != nil {
		return a
	}
	return b
}

// rewriteTemplate makes a new version of the group's launch template with its present labels and taints.
func (r *Region) rewriteTemplate(g *NodeGroup) error {
	latest := g.template.Versions[len(g.template.Versions)-1].Spec
	written := Spec{UserData: base64.StdEncoding.EncodeToString([]byte(r.nodeGroupUserData(g, imagesOfTypes[g.Spec.AMIType].family, latest.ImageID)))}
	_, err := r.AddVersion(TemplateRef{ID: g.template.ID, Version: "$Latest"}, written, "")
	return err
}

func changedLabels(labels map[string]string, c NodeGroupChange) map[string]string {
	next := map[string]string{}
	maps.Copy(next, labels)
	maps.Copy(next, c.Labels.Put)
	for _, key := range c.Labels.Remove {
		delete(next, key)
	}
	return next
}

// changedTaints replaces those with the same key and effect.
func changedTaints(taints []NodeGroupTaint, c NodeGroupChange) []NodeGroupTaint {
	next := slices.Clone(taints)
	for _, t := range slices.Concat(c.Taints.Remove, c.Taints.Put) {
		next = slices.DeleteFunc(next, func(have NodeGroupTaint) bool { return have.Key == t.Key && have.Effect == t.Effect })
	}
	return append(next, c.Taints.Put...)
}

// DeleteNodeGroup ends a node group with everything that EKS made for it.
func (r *Region) DeleteNodeGroup(name string) (*NodeGroup, error) {
	g, err := r.NodeGroup(name)
	if err != nil {
		return nil, err
	}
	if g.deleting {
		return g, nil
	}
	g.deleting, g.Modified = true, r.Now()
	if _, err := r.ScalingGroup(g.Scaling.Name); err == nil {
		if err := r.DeleteScalingGroup(g.Scaling.Name, true); err != nil {
			return nil, err
		}
	}
	r.dissolveNodeGroups()
	return g, nil
}

// dissolveNodeGroups removes node groups that are being deleted once their Auto Scaling group is gone.
func (r *Region) dissolveNodeGroups() {
	r.nodeGroups = slices.DeleteFunc(r.nodeGroups, func(g *NodeGroup) bool {
		if _, err := r.ScalingGroup(g.Scaling.Name); err == nil || !g.deleting {
			return false
		}
		profile := "eks-" + g.ID
		for _, err := range []error{
			r.Account.RemoveRole(profile, g.Spec.Role[strings.LastIndex(g.Spec.Role, "/")+1:]), r.Account.DeleteProfile(profile), r.dropTemplate(g),
		} {
			if err != nil {
				r.world.log.Info("a part of a node group was not there any more", "nodegroup", g.Spec.Name, "err", err)
			}
		}
		return true
	})
}

func (r *Region) dropTemplate(g *NodeGroup) error {
	_, err := r.DeleteTemplate(TemplateRef{ID: g.template.ID})
	return err
}

// Sizes returns the sizes of the Auto Scaling group, which EKS is not alone in changing.
func (g *NodeGroup) Sizes() NodeGroupScaling {
	s := g.Scaling.Spec
	return NodeGroupScaling{s.Min, s.Max, s.Desired}
}

// NodeGroupIssue is a health problem of a node group.
type NodeGroupIssue struct {
	Code      string   `json:"code"`
	Message   string   `json:"message"`
	Resources []string `json:"resourceIds"`
}

// NodeGroupStatus returns the state of a node group and its problems.
func (r *Region) NodeGroupStatus(g *NodeGroup) (string, []NodeGroupIssue) {
	issues := r.nodeGroupIssues(g)
	served := 0
	for _, m := range g.Scaling.Members {
		if m.State == memberInService {
			served++
		}
	}
	g.ready = g.ready || served >= *g.Scaling.Spec.Desired
	switch {
	case g.deleting:
		return "DELETING", issues
	case !g.ready && r.Now().Sub(g.Created) > longCreation && len(issues) > 0:
		return "CREATE_FAILED", issues
	case !g.ready:
		return "CREATING", issues
	case len(issues) > 0:
		return "DEGRADED", issues
	default:
		return "ACTIVE", issues
	}
}

// longCreation is when EKS gives up on a new group.
const longCreation = 20 * time.Minute

// nodeGroupIssues derives the problems from the group's instances and newest activities.
func (r *Region) nodeGroupIssues(g *NodeGroup) []NodeGroupIssue {
	if g.deleting {
		return nil
	}
	name := []string{g.Scaling.Name}
	if _, err := r.ScalingGroup(g.Scaling.Name); err != nil {
		return []NodeGroupIssue{{"AutoScalingGroupNotFound", "We couldn't find the Auto Scaling group associated with the managed node group.", name}}
	}
	var issues []NodeGroupIssue
	if _, err := r.Template(TemplateRef{ID: g.template.ID}); err != nil {
		issues = append(issues, NodeGroupIssue{"Ec2LaunchTemplateNotFound", "We couldn't find the Amazon EC2 launch template for your managed node group.", []string{g.template.ID}})
	}
	if r.Account.roleByARN(g.Spec.Role) == nil {
		issues = append(issues, NodeGroupIssue{"IamNodeRoleNotFound", "We couldn't find the IAM role for your managed node group.", []string{g.Spec.Role}})
	}
	if a := g.Scaling.Activities; len(a) > 0 && a[0].Status == activityFailed && g.Scaling.capacity() < *g.Scaling.Spec.Desired {
		code := "AsgInstanceLaunchFailures"
		if strings.Contains(a[0].Message, "VcpuLimitExceeded") || strings.Contains(a[0].Message, "MaxSpotInstanceCountExceeded") {
			code = "InstanceLimitExceeded"
		}
		issues = append(issues, NodeGroupIssue{code, a[0].Message, name})
	}
	return append(issues, r.strangersOf(g)...)
}

// strangersOf returns an issue for the instances of the group that do not join.
func (r *Region) strangersOf(g *NodeGroup) []NodeGroupIssue {
	var ids []string
	for _, m := range g.Scaling.Members {
		late := r.Now().Sub(m.Instance.Launched) > 15*time.Minute
		if late && m.State == memberInService && !strings.HasPrefix(m.Instance.Console, consoleJoins) {
			ids = append(ids, m.Instance.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return []NodeGroupIssue{{"NodeCreationFailure", "Unhealthy nodes in the kubernetes cluster: " + strconv.Itoa(len(ids)) + " instances did not join", ids}}
}
