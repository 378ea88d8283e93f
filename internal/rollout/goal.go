package rollout

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/command"
)

// goalOf tells what the nodes of a pool should be: its template with the requirements, and
// the class that they are made by. Budgets, limits and weights are no part of it.
func goalOf(pool *karpenterv1.NodePool, class string) string {
	text, err := json.Marshal(pool.Spec.Template)
	if err != nil { // it came from JSON
		panic(err)
	}
	sum := fnv.New64a()
	sum.Write(text)
	return strconv.FormatUint(sum.Sum64(), 36) + "-" + class
}

// failures are the replacements of a command that did not come up, each with what its claim
// says of that, or with why the command was given up if the claim is gone or says nothing.
func (r *Rollouts) failures(ctx context.Context, record command.Record, failed string) []Failure {
	var out []Failure
	for _, member := range record.Replacements {
		claim := &karpenterv1.NodeClaim{}
		if err := r.kit.Client.Get(ctx, client.ObjectKey{Name: member.Claim}, claim); err != nil {
			if strings.Contains(failed, member.Claim) { // gone, and it is the one that is meant
				out = append(out, Failure{member.Claim, short(failed)})
			}
			continue
		}
		if why, up := trouble(claim); !up {
			if why == "" {
				why = failed
			}
			out = append(out, Failure{member.Claim, short(why)})
		}
	}
	if len(out) > 0 {
		return out
	}
	names := make([]string, len(record.Replacements))
	for i, member := range record.Replacements {
		names[i] = member.Claim
	}
	return []Failure{{strings.Join(names, ", "), short(failed)}}
}

// trouble is what a claim says of why its node is not in service; up if it is.
func trouble(claim *karpenterv1.NodeClaim) (why string, up bool) {
	says := map[string]metav1.Condition{}
	for _, c := range claim.Status.Conditions {
		says[c.Type] = c
	}
	for _, name := range []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered, karpenterv1.ConditionInitialized} {
		c, said := says[name]
		if said && c.Status == metav1.ConditionTrue {
			continue
		}
		if c.Message == "" || c.Message == c.Reason {
			return c.Reason, false
		}
		return c.Message, false
	}
	return "", claim.DeletionTimestamp == nil
}

// longest is how much of a message is kept, in bytes.
const longest = 300

func short(text string) string {
	if len(text) <= longest {
		return text
	}
	cut := longest
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
