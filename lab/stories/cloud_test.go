package stories

import (
	"fmt"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/lab/memorycloud"
)

// cloudEnv selects the cloud: "aws", or otherwise the cloud in memory.
const cloudEnv = "STORIES_CLOUD"

func onAWS() bool { return os.Getenv(cloudEnv) == "aws" }

// controller returns Tenon's name among the components of the lab.
func controller() string {
	if onAWS() {
		return "tenon"
	}
	return "tenon-on-memory"
}

// machines returns the story's machines that the cloud has not ended: their claims by their provider IDs.
func (s *story) machines() map[string]string {
	s.Helper()
	if onAWS() {
		return s.machinesAtAWS()
	}
	books, err := memorycloud.Read(s.Lab.Directory.Cloud())
	if err != nil {
		s.Fatal(err)
	}
	running := map[string]string{}
	for _, r := range books.Records {
		if r.Machine.Labels[teamLabel] == s.Namespace && r.Deleted.IsZero() {
			running[r.Machine.Instance.ProviderID] = r.Machine.Instance.ClaimName
		}
	}
	return running
}

// machinesAtAWS finds the story's machines by the names of their pools or, without one, of their claims.
func (s *story) machinesAtAWS() map[string]string {
	s.Helper()
	running := map[string]string{}
	for _, i := range s.Lab.AWS(s).Instances(s) {
		mine := strings.HasSuffix(i.Pool, s.named("")) || i.Pool == "" && strings.HasSuffix(i.Claim, s.named(""))
		if mine && i.Alive() {
			running[i.ProviderID] = i.Claim
		}
	}
	return running
}

func (s *story) machineGone(providerID string) {
	s.Helper()
	if claim, runs := s.machines()[providerID]; runs {
		s.Errorf("the machine %s of %s still runs in the cloud", providerID, claim)
	}
}

// awaitClass waits until nodes can be launched with a class. With the cloud in memory, every class is
// ready. (Like the reference, Tenon gives up a claim that was made too early, and without a pool no claim
// replaces it.)
func (s *story) awaitClass(name string) {
	s.Helper()
	if onAWS() {
		s.AwaitCondition(&awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: s.named(name)}}, "Ready", metav1.ConditionTrue)
	}
}

// breakBoots makes machines of some types at AWS never join, until the story ends.
func (s *story) breakBoots(types string) {
	s.Helper()
	if !onAWS() {
		return
	}
	aws := s.Lab.AWS(s)
	aws.Cause(s, fmt.Sprintf(`{"kind":"boot-never-finishes","instanceTypes":[%q]}`, types))
	s.Cleanup(func() { aws.Mend(s) })
}
