// Package fidelity sends the requests of sim/fidelity to a real API server. It checks that the server
// gives the answers recorded there, which the simulation's store gives as well.
package fidelity

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/rand"

	"tenon/lab/labtest"
	"tenon/sim/fidelity"
)

func TestMain(m *testing.M) { labtest.Main(m, labtest.Options{}) }

// A real server gives the recorded answer in every case. With FIDELITY_OUT the answers go to that folder,
// to be compared and copied.
func TestARealServerAnswersTheSame(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	for _, c := range fidelity.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			want, err := c.Want()
			if err != nil {
				t.Fatal(err)
			}
			got := c.Run(t.Context(), fidelity.Server{
				Client: lab.Client, Namespace: lab.Namespace(t), Prefix: "fidelity-" + rand.String(6) + "-",
				Idle: func() { time.Sleep(50 * time.Millisecond) },
			})
			if folder := os.Getenv("FIDELITY_OUT"); folder != "" {
				if err := os.WriteFile(filepath.Join(folder, filepath.Base(c.File())), []byte(got), 0o644); err != nil {
					t.Error(err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}
