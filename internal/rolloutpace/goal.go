package rolloutpace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
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

// failures are the replacements of a command that did not come up, each with what its claim says of that,
// or with why the command was given up if the claim is gone or says nothing. There are none if the command
// was given up although they did: then the roll-out is not the cause.
func (r *Rollouts) failures(ctx context.Context, record command.Record, failed string) ([]Failure, error) {
	var out []Failure
	for _, member := range record.Replacements {
		claim := &karpenterv1.NodeClaim{}
		err := r.kit.Client.Get(ctx, client.ObjectKey{Name: member.Claim}, claim)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read claim %s: %w", member.Claim, err)
		}
		why, up := "", false
		if err == nil {
			why, up = trouble(claim)
		}
		if !up {
			out = append(out, Failure{member.Claim, short(cmp.Or(why, failed))})
		}
	}
	return out, nil
}

// trouble is what a claim says of why its node is not in service; up if it was, even if it
// is being deleted now.
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
	return "", true
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
