package whatif

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tenon/core/snapshot"
)

// Object names an object to remove. Without a namespace it may be in any.
type Object struct{ Kind, Namespace, Name string }

// String is how users write it.
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind + "/" + o.Name
	}
	return o.Kind + "/" + o.Namespace + "/" + o.Name
}

// Scale is a number of replicas of a workload.
type Scale struct {
	Object
	Replicas int
}

// kinds are the kinds that can be named, by the names that users write.
var kinds = map[string]string{
	"nodepool": "NodePool", "node": "Node", "no": "Node", "nodeclaim": "NodeClaim", "pod": "Pod", "po": "Pod",
	"deployment": "Deployment", "deploy": "Deployment", "statefulset": "StatefulSet", "sts": "StatefulSet",
	"replicaset": "ReplicaSet", "rs": "ReplicaSet", "replicationcontroller": "ReplicationController", "rc": "ReplicationController",
	"job": "Job", "daemonset": "DaemonSet", "ds": "DaemonSet", "poddisruptionbudget": "PodDisruptionBudget", "pdb": "PodDisruptionBudget",
}

// scaled are the kinds that have a number of replicas.
var scaled = []string{"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"}

// ParseObject reads KIND/NAME or KIND/NAMESPACE/NAME.
func ParseObject(text string) (Object, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return Object{}, fmt.Errorf("%q is neither KIND/NAME nor KIND/NAMESPACE/NAME", text)
	}
	kind, known := kinds[strings.ToLower(parts[0])]
	if !known {
		kind, known = kinds[strings.TrimSuffix(strings.ToLower(parts[0]), "s")]
	}
	if !known {
		return Object{}, fmt.Errorf("%q is of a kind that cannot be taken out or scaled: name a pool, node, claim, pod, workload, DaemonSet or PodDisruptionBudget", text)
	}
	o := Object{Kind: kind, Name: parts[len(parts)-1]}
	if len(parts) == 3 {
		o.Namespace = parts[1]
	}
	return o, nil
}

// maxReplicas limits the number of replicas, so that a typing error does not exhaust the memory.
const maxReplicas = 1_000_000

// ParseScale reads KIND/NAME=REPLICAS.
func ParseScale(text string) (Scale, error) {
	name, number, ok := strings.Cut(text, "=")
	replicas, err := strconv.Atoi(number)
	if !ok || err != nil || replicas < 0 || replicas > maxReplicas {
		return Scale{}, fmt.Errorf("%q is not a number of replicas such as deployment/web=500", text)
	}
	o, err := ParseObject(name)
	if err != nil {
		return Scale{}, err
	}
	if !slices.Contains(scaled, o.Kind) {
		return Scale{}, fmt.Errorf("%q: a %s has no replicas; name one of %s", text, o.Kind, strings.Join(scaled, ", "))
	}
	return Scale{o, replicas}, nil
}

// without removes an object, with everything that depends on it.
func (c *attempt) without(o Object) error {
	s, found := c.out, false
	switch o.Kind {
	case "NodePool":
		before := len(s.Pools)
		s.Pools = slices.DeleteFunc(s.Pools, func(p snapshot.Pool) bool { return p.Name == o.Name })
		found = c.lose(func(n *snapshot.Node) bool { return n.Pool == o.Name }) > 0 || len(s.Pools) < before
	case "Node":
		found = c.lose(func(n *snapshot.Node) bool { return n.Name == o.Name }) > 0
	case "NodeClaim":
		found = c.lose(func(n *snapshot.Node) bool { return n.Claim == o.Name }) > 0
	case "PodDisruptionBudget":
		found = c.withoutBudget(o)
	case "DaemonSet":
		before := len(s.Daemons)
		s.Daemons = slices.DeleteFunc(s.Daemons, func(d snapshot.Daemon) bool { return d.Name == o.Name && o.in(d.Namespace) })
		found = c.withoutPods(o) || len(s.Daemons) < before
	default:
		found = c.withoutPods(o)
	}
	if !found {
		return fmt.Errorf("there is no %s to take out", o)
	}
	return nil
}

func (o Object) in(namespace string) bool { return o.Namespace == "" || o.Namespace == namespace }

// withoutPods removes a pod, or all pods of a workload.
func (c *attempt) withoutPods(o Object) bool {
	before := len(c.out.Pods)
	c.out.Pods = slices.DeleteFunc(c.out.Pods, func(p snapshot.Pod) bool { return c.belongs(&p, o) })
	return len(c.out.Pods) < before
}

// belongs reports whether a pod is the object, or one of its pods.
func (c *attempt) belongs(p *snapshot.Pod, o Object) bool {
	if !o.in(p.Namespace) {
		return false
	}
	if o.Kind == "Pod" {
		return p.Name == o.Name
	}
	return c.out.Templates[p.Template].Owner == o.Kind+"/"+o.Name
}

func (c *attempt) withoutBudget(o Object) bool {
	before := len(c.out.Budgets)
	is := func(namespace, name string) bool { return name == o.Name && o.in(namespace) }
	c.out.Budgets = slices.DeleteFunc(c.out.Budgets, func(b snapshot.Budget) bool { return is(b.Namespace, b.Name) })
	for i := range c.out.Pods {
		p := &c.out.Pods[i]
		p.Tie.Budgets = slices.DeleteFunc(slices.Clone(p.Tie.Budgets), func(name string) bool { return is(p.Namespace, name) })
	}
	return len(c.out.Budgets) < before
}
