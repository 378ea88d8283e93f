package nodegroup

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tenon/core/model"
)

// script is what plain-text user data tells the kubelet: flags of bootstrap.sh, and nodeadm's configuration.
type script struct {
	maxPods int64 // zero if not set
	labels  map[string]string
	taints  []model.Taint
}

var (
	maxPods    = regexp.MustCompile(`(?:--max-pods[= ]|maxPods:\s*|max-pods\s*=\s*)"?(\d{1,4})\b`)
	nodeLabels = regexp.MustCompile(`--node-labels[= ]([^\s"'\\]+)`)
	nodeTaints = regexp.MustCompile(`--register-with-taints[= ]([^\s"'\\]+)`)
)

// decoded returns user data as text. It returns data that is not base64 unchanged.
func decoded(data string) string {
	if text, err := base64.StdEncoding.DecodeString(data); err == nil {
		return string(text)
	}
	return data
}

func readScript(text string) script {
	text = decoded(text)
	s := script{labels: map[string]string{}}
	if found := maxPods.FindStringSubmatch(text); found != nil {
		s.maxPods, _ = strconv.ParseInt(found[1], 10, 64) // four digits at most
	}
	for _, found := range nodeLabels.FindAllStringSubmatch(text, -1) {
		for part := range strings.SplitSeq(found[1], ",") {
			if key, value, is := strings.Cut(part, "="); is && key != "" {
				s.labels[key] = value
			}
		}
	}
	for _, found := range nodeTaints.FindAllStringSubmatch(text, -1) {
		for part := range strings.SplitSeq(found[1], ",") {
			front, effect, _ := strings.Cut(part, ":")
			if key, value, _ := strings.Cut(front, "="); key != "" && slices.Contains(effects, effect) {
				s.taints = append(s.taints, model.Taint{Key: key, Value: value, Effect: model.Effect(effect)})
			}
		}
	}
	return s
}
