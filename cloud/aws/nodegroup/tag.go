package nodegroup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"tenon/api/scalar"
	"tenon/cloud"
	"tenon/core/model"
	"tenon/core/order"
)

// Prefixes of tags, with the names that Cluster Autoscaler gives them.
const (
	tagTemplate = "k8s.io/cluster-autoscaler/node-template/"
	tagLabel    = tagTemplate + "label/"
	tagTaint    = tagTemplate + "taint/"
	tagResource = tagTemplate + "resources/"
	tagOption   = tagTemplate + "autoscaling-options/"
	tagEKS      = "eks:"

	eksCluster = "cluster-name"
	eksGroup   = "nodegroup-name"
)

// tags is what the tags of a group, or of a managed node group, say about its nodes.
type tags struct {
	labels    map[string]string
	taints    []model.Taint
	resources model.Resources
	options   map[string]string
	problems  []cloud.GroupProblem
}

// tagsOf reads the tags of a group.
func tagsOf(list []types.TagDescription) tags {
	all := map[string]string{}
	for _, t := range list {
		all[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return readTags(all)
}

// readTags reads tags sorted by key, so that its reports are the same each time.
func readTags(all map[string]string) tags {
	out := tags{labels: map[string]string{}, options: map[string]string{}}
	var amounts []model.Amount
	for _, key := range order.Keys(all) {
		value := all[key]
		if name, is := strings.CutPrefix(key, tagLabel); is && name != "" {
			out.labels[name] = value
		} else if name, is := strings.CutPrefix(key, tagTaint); is && name != "" {
			out.taint(key, name, value)
		} else if name, is := strings.CutPrefix(key, tagResource); is && name != "" {
			if a, fits := out.amount(key, name, value); fits {
				amounts = append(amounts, a)
			}
		} else if name, is := strings.CutPrefix(key, tagOption); is && name != "" {
			out.option(key, name, value)
		} else if name, is := strings.CutPrefix(key, tagEKS); is && name != "" {
			if _, set := out.labels[name]; !set {
				out.labels[name] = value
			}
		}
	}
	out.resources = model.NewResources(amounts...)
	return out
}

// unclear reports a tag with an invalid value: the next node may differ from its description.
func (t *tags) unclear(key, what, want string) {
	t.problems = append(t.problems, cloud.GroupProblem{
		Effect: cloud.Hindered, Reason: "InvalidTag", Message: fmt.Sprintf("the tag %s %s, and is left out", key, what), Remedy: want,
	})
}

var effects = []string{"NoSchedule", "NoExecute", "PreferNoSchedule"}

func (t *tags) taint(key, name, text string) {
	value, effect, _ := strings.Cut(text, ":")
	if !slices.Contains(effects, effect) {
		t.unclear(key, fmt.Sprintf("has the value %q, which is no taint", text), "write <value>:<effect>, where the effect is NoSchedule, NoExecute or PreferNoSchedule")
		return
	}
	t.taints = append(t.taints, model.Taint{Key: name, Value: value, Effect: model.Effect(effect)})
}

func (t *tags) amount(key, name, text string) (model.Amount, bool) {
	q, err := scalar.ParseQuantity(text)
	if err != nil || q.Sign() < 0 {
		t.unclear(key, fmt.Sprintf("has the value %q, which is no quantity", text), "write a quantity of Kubernetes, such as 4 or 100Gi")
		return model.Amount{}, false
	}
	if name == model.CPU {
		return model.Amount{Name: name, Value: min(scalar.MilliAmount(q), scalar.MaxAmount)}, true
	}
	return model.Amount{Name: name, Value: scalar.Amount(q)}, true
}

// knownOptions maps the options that groups can have to the functions that check their values.
var knownOptions = map[string]func(string) error{
	"scaledownutilizationthreshold":    fraction,
	"scaledowngpuutilizationthreshold": fraction,
	"scaledownunneededtime":            duration,
	"scaledownunreadytime":             duration,
	"ignoredaemonsetsutilization":      boolean,
	"maxnodeprovisiontime":             duration,
	"maxnodestartuptime":               duration,
}

func fraction(text string) error {
	_, err := strconv.ParseFloat(text, 64)
	return err
}

func duration(text string) error {
	_, err := time.ParseDuration(text)
	return err
}

func boolean(text string) error {
	_, err := strconv.ParseBool(text)
	return err
}

func (t *tags) option(key, name, text string) {
	read, known := knownOptions[name]
	switch {
	case !known:
		t.unclear(key, "names an option that there is not", "the options are "+strings.Join(order.Keys(knownOptions), ", "))
	case read(text) != nil:
		t.unclear(key, fmt.Sprintf("has the value %q, which cannot be read", text), "write a number such as 0.5, a duration such as 10m, or true or false")
	default:
		t.options[name] = text
	}
}
