package stopwatch_test

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"tenon/lab/labtest"
	"tenon/lab/stopwatch"
)

// Tenon buys nodes for two hundred mixed pods, which are then scaled down to sixty. The fleet costs nearly
// what tenon plan proves, and after scaling down far less than before. The log has the amounts. Such small
// fleets vary from run to run by the price of a node or two and, until they have settled, by events that a
// busy machine lets pass between two checks.
func TestTheLiveFleetIsNearItsPlan(t *testing.T) {
	t.Parallel()
	log.SetLogger(logr.Discard()) // the libraries' log lines are not part of the result
	program, err := labtest.Program()
	if err != nil {
		t.Fatal(err)
	}
	result, err := stopwatch.Live(t.Context(), stopwatch.LivePlan{
		Plan:     stopwatch.Plan{Program: program, Say: t.Logf},
		Workload: "mixed", Seed: 1, Scale: 0.1, Share: 0.3, Quiet: 25 * time.Second, Longest: 5 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	up, down := result.Up, result.Down
	t.Logf("up: %.2f $/h when all run (%.3f of the bound), %.2f at rest (%.3f); %d landed, %d strayed", up.First, up.FirstRatio, up.Price, up.Ratio, up.Landed, up.Strayed)
	t.Logf("down: %.2f $/h at rest (%.3f of the bound) after %s, %d claims bought", down.Price, down.Ratio, down.Rest, down.Claims)
	if up.Bound <= 0 || up.Ratio < 1 || up.Ratio > 1.15 {
		t.Errorf("at rest the fleet costs %.3f of the bound", up.Ratio)
	}
	if up.FirstRatio > 1.5 {
		t.Errorf("when all run the fleet costs %.3f of the bound", up.FirstRatio)
	}
	if up.Landed == 0 {
		t.Error("no pod landed on its planned node")
	}
	if down.Price > up.Price*2/3 {
		t.Errorf("with 30 %% of the pods the fleet costs %.2f of %.2f $/h", down.Price, up.Price)
	}
}
