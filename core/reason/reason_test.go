package reason

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tenon/core/model"
)

func TestQuantity(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name            string
		value           int64
		exact, readable string
	}{
		{model.CPU, 1930, "1930m", "1.93"},
		{model.CPU, 2000, "2", "2"},
		{model.CPU, 0, "0", "0"},
		{model.Memory, 7244 << 20, "7244Mi", "7.07Gi"},
		{model.Memory, 3 << 30, "3Gi", "3Gi"},
		{model.Memory, 1000, "1000", "1000"},
		{model.Memory, -1 << 30, "-1Gi", "-1Gi"},
		{model.EphemeralStorage, 20<<30 + 1, "21474836481", "20Gi"},
		{"hugepages-2Mi", 2 << 20, "2Mi", "2Mi"},
		{model.Pods, 29, "29", "29"},
		{"nvidia.com/gpu", 1024, "1024", "1024"},
	}
	for _, tc := range cases {
		if got := Quantity(tc.name, tc.value); got != tc.exact {
			t.Errorf("Quantity(%s, %d) = %s, want %s", tc.name, tc.value, got, tc.exact)
		}
		if got := Readable(tc.name, tc.value); got != tc.readable {
			t.Errorf("Readable(%s, %d) = %s, want %s", tc.name, tc.value, got, tc.readable)
		}
	}
}

func TestComparedAmountsNeverLookAlike(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{model.CPU, model.Memory, model.Pods}).Draw(t, "name")
		a := rapid.Int64Range(0, 1<<50).Draw(t, "a")
		b := a + rapid.Int64Range(1, 1<<20).Draw(t, "more")
		first, second := Compared(name, a, b)
		if first == second {
			t.Fatalf("%d and %d of %s both read %s", a, b, name, first)
		}
	})
}

// The sentences are those of spec texts that users search for.
func TestMetSaysWhatNoTypeCouldMeet(t *testing.T) {
	t.Parallel()
	type answer struct{ labels, room, offer bool }
	cases := map[string][]answer{
		"no instance type met the scheduling requirements or had enough resources or had a required offering":         {{}},
		"no instance type met the scheduling requirements or had enough resources":                                    {{false, false, true}},
		"no instance type met the scheduling requirements or had a required offering":                                 {{false, true, false}},
		"no instance type had enough resources or had a required offering":                                            {{true, false, false}},
		"no instance type met all requirements":                                                                       {{false, true, true}},
		"no instance type has enough resources":                                                                       {{true, false, true}},
		"no instance type has the required offering":                                                                  {{true, true, false}},
		"no instance type which met the scheduling requirements and had enough resources, had a required offering":    {{true, true, false}, {false, false, true}},
		"no instance type which had enough resources and the required offering met the scheduling requirements":       {{false, true, true}, {true, false, false}},
		"no instance type which met the scheduling requirements and the required offering had the required resources": {{true, false, true}, {false, true, false}},
		"no instance type met the requirements/resources/offering tuple":                                              {{true, false, false}, {false, true, false}, {false, false, true}},
	}
	for want, types := range cases {
		var m Met
		for _, a := range types {
			m.Add(a.labels, a.room, a.offer)
		}
		if got := m.sentence(); got != want {
			t.Errorf("%v:\n got %s\nwant %s", types, got, want)
		}
	}
}

func TestPoolVerdictText(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		v    PoolVerdict
		want string
	}{
		"a taint": {
			PoolVerdict{Listed: 8, Funnel: []Step{{TaintNotTolerated, 0}}, Reason: Reason{Code: TaintNotTolerated, Where: "gpu=true:NoSchedule"}},
			"did not tolerate taint (taint=gpu=true:NoSchedule); of 8 offerings, none with taints that the pod tolerates",
		},
		"too small, because of daemons": {
			PoolVerdict{
				Listed: 100, Met: Met{Labels: true, Offer: true, LabelsOffer: true},
				Funnel: []Step{{TaintNotTolerated, 100}, {LabelsIncompatible, 100}, {TypeIncompatible, 40}, {NoOffering, 40}, {OfferingUnavailable, 30}, {InsufficientRoom, 0}},
				Reason: Reason{Code: InsufficientRoom, Where: "memory", Have: 11 << 30, Want: 12 << 30}, Nearest: "m5.xlarge", Daemons: 1 << 29,
			},
			"no instance type has enough resources; memory: 12Gi wanted, 11Gi free on the nearest, m5.xlarge, where daemons take 512Mi; of 100 offerings, 40 of an instance type that the pod and the pool allow, 30 available now, none large enough",
		},
		"too small for the daemons alone": {
			PoolVerdict{
				Listed: 4, Met: Met{Labels: true, Offer: true, LabelsOffer: true}, Funnel: []Step{{InsufficientRoom, 0}},
				Reason: Reason{Code: InsufficientRoom, Where: "cpu", Have: -1080}, Nearest: "c7a.medium", Daemons: 2000,
			},
			"no instance type has enough resources; cpu: daemons take 2, and the nearest, c7a.medium, has 0.92; of 4 offerings, none large enough",
		},
		"a request that cannot be meant": {
			PoolVerdict{
				Listed: 1, Met: Met{Labels: true, Offer: true, LabelsOffer: true}, Funnel: []Step{{InsufficientRoom, 0}},
				Reason: Reason{Code: InsufficientRoom, Where: "cpu", Have: 4000, Want: 2_000_000_000}, Nearest: "small",
			},
			"no instance type has enough resources (CPU request >= 1 Million, m vs M typo?); cpu: 2000000 wanted, 4 free on the nearest, small; of 1 offerings, none large enough",
		},
		"limits": {
			PoolVerdict{Pool: "p", Listed: 4, Funnel: []Step{{LimitReached, 0}}, Reason: Reason{Code: LimitReached, Where: "cpu", Have: 1000, Want: 4000}, Nearest: "small"},
			"all available instance types exceed limits for nodepool (NodePool=p); cpu: 1 left, and the smallest that would do, small, has 4; of 4 offerings, none within limits",
		},
		"a limit of nodes": {
			PoolVerdict{Pool: "p", Listed: 4, Funnel: []Step{{LimitReached, 0}}, Reason: Reason{Code: LimitReached, Where: "nodes", Have: 0, Want: 1}, Nearest: "small"},
			"node limits have been exhausted for nodepool (NodePool=p); nodes: 0 left, and the smallest that would do, small, has 1; of 4 offerings, none within limits",
		},
		"a spread": {
			PoolVerdict{Listed: 4, Funnel: []Step{{LimitReached, 4}}, Reason: Reason{Code: Spread, Where: "zone", Have: 2, Want: 1}},
			"unsatisfiable topology constraint for topology spread, key=zone (maxSkew 1, would be 2); all 4 offerings would do by themselves",
		},
		"a pool without offerings": {
			PoolVerdict{Reason: Reason{Code: TypeIncompatible}},
			"no instance type met the scheduling requirements or had enough resources or had a required offering; the pool has no offerings",
		},
		"a pool that is not ready":          {PoolVerdict{Reason: Reason{Code: PoolNotReady}, Unready: Unready{Code: PoolDeleted}}, "is being deleted"},
		"a pool whose limits pods wait for": {PoolVerdict{Reason: Reason{Code: PoolLimitsAwaited}, Unready: Unready{Code: PoolLimitsAwaited}}, "pods wait for what its limits leave"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.v.Text(); got != tc.want {
				t.Errorf("\n got %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestEveryCodeHasWords(t *testing.T) {
	t.Parallel()
	codes := []Code{
		PodRefused, NoPools, PoolNotReady, PoolLimitsAwaited, TaintNotTolerated, LabelsIncompatible, VolumeElsewhere, TypeIncompatible, NoOffering,
		OfferingUnavailable, InsufficientRoom, HostPortTaken, MinimumNotMet, LimitReached, Spread, Affinity, AntiAffinity, ReservationTaken, PriceCeiling, None,
	}
	for _, c := range codes {
		v := PoolVerdict{Pool: "p", Listed: 1, Reason: Reason{Code: c, Detail: "detail of it"}, Unready: Unready{Code: PoolDeleted}}
		if text := v.Text(); !strings.Contains(text, " ") || strings.Contains(text, string(c)+";") && c != None {
			t.Errorf("%q reads %q", c, text)
		}
	}
	for _, c := range []Change{Tolerate, AddLabel, DropLabel, WidenPool, RaiseLimit, LowerMinimum, LowerRequest, FreePort, Soften} {
		r := Remedy{Change: c, Pool: "p", Where: "w", InstanceType: "m", Price: 1}
		if text := r.Text(); strings.Contains(text, string(c)+":") || !strings.HasSuffix(text, "0.000001 an hour") {
			t.Errorf("%q reads %q", c, text)
		}
	}
}

// manyPools is a verdict in which every pool has its own reason.
func manyPools(n int) *Verdict {
	v := &Verdict{Sought: true}
	for i := range n {
		reasons := []Reason{
			{Code: TaintNotTolerated, Where: fmt.Sprintf("team-%d=owned:NoSchedule", i)},
			{Code: LabelsIncompatible, Where: "arch", Detail: "key kubernetes.io/arch, kubernetes.io/arch In [arm64] not in kubernetes.io/arch In [amd64]"},
			{Code: InsufficientRoom, Where: "cpu", Have: 15000, Want: 64000},
		}
		r := reasons[i%len(reasons)]
		v.Pools = append(v.Pools, PoolVerdict{
			Pool: fmt.Sprintf("team-with-a-long-name-%03d", i), Listed: 5000, Nearest: "m7i.4xlarge", Reason: r,
			Funnel: []Step{{TaintNotTolerated, 5000}, {r.Code, 0}},
		})
	}
	return v
}

func TestVerdictStaysWithinAnEvent(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5, 60, 200, 5000} {
		v := manyPools(n)
		v.Remedy = &Remedy{Change: Tolerate, Pool: v.Pools[n-1].Pool, Where: "gpu:NoSchedule", InstanceType: "p3.2xlarge", Price: 3_060_000}
		text := v.Text()
		if len(text) > MaxText || !utf8.ValidString(text) {
			t.Errorf("%d pools: %d bytes", n, len(text))
		}
		for _, part := range []string{v.Pools[n-1].Pool + ": ", "smallest change: let the pod tolerate gpu:NoSchedule: then p3.2xlarge"} {
			if !strings.Contains(text, part) {
				t.Errorf("%d pools: %q is missing in %s", n, part, text)
			}
		}
		if n >= 60 && !strings.Contains(text, "more pools ruled out: ") {
			t.Errorf("%d pools: the others are not counted in %s", n, text)
		}
	}
}

func TestTheTextOfEveryVerdictIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := manyPools(rapid.IntRange(0, 300).Draw(t, "pools"))
		long := rapid.StringN(0, 400, 3000)
		for i := range v.Pools {
			if i%7 == 0 {
				v.Pools[i].Reason, v.Pools[i].Unready = Reason{Code: PoolNotReady}, Unready{Code: NotReady, Message: long.Draw(t, "message")}
			}
		}
		if rapid.Bool().Draw(t, "general") {
			v.General = Reason{Code: PodRefused, Detail: long.Draw(t, "refused")}
		}
		if rapid.Bool().Draw(t, "remedy") {
			v.Remedy = &Remedy{Change: DropLabel, Pool: "p", From: long.Draw(t, "from"), InstanceType: "m"}
		}
		if text := v.Text(); len(text) > MaxText {
			t.Fatalf("%d bytes: %s", len(text), text)
		}
	})
}

// TestAPoolThatWouldLetThePodInComesFirst: a pool that is not ready is not looked into further,
// but of two such the one that is not for this pod is counted only.
func TestAPoolThatWouldLetThePodInComesFirst(t *testing.T) {
	t.Parallel()
	v := manyPools(60)
	unready := PoolVerdict{Pool: "strange", Reason: Reason{Code: PoolNotReady}, Unready: Unready{Code: NotReady, Message: "no subnets"}}
	suitable := unready
	suitable.Pool, suitable.Suits = "own", true
	v.Pools = append(v.Pools, unready, suitable)
	text := v.Text()
	if !strings.Contains(text, "pool own: not ready: no subnets") || strings.Contains(text, "pool strange") {
		t.Errorf("got %s", text)
	}
}

func TestSummaryCountsTheMostFrequentFirst(t *testing.T) {
	t.Parallel()
	v := manyPools(8)
	got := Summary(v.Promising()[1:], 1)
	if want := "7 more pools ruled out: 3 by labels, 2 by a taint, 2 by size"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got := Summary(nil, 3); got != "" {
		t.Errorf("no pools: %q", got)
	}
}
