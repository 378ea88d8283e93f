package pages

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"tenon/lab/labtest"
)

// realKubectl is what the real one is called in the folder of tools.
const realKubectl = "kubectl-itself"

// ControllerEnv names a file with the environment of the controller, as NAME=VALUE: "kubectl exec" starts a program with it, for
// the machines of the lab run no images.
const ControllerEnv = "PAGES_CONTROLLER"

// kubectl is the real one, but for two things: a watch ends when what is watched has come to rest, as a reader ends it, and
// what is executed in the controller's pod runs beside the cluster.
func kubectl(args []string) error {
	program, err := exec.LookPath(realKubectl)
	if err != nil {
		return err
	}
	if at := slices.Index(args, "--"); args[0] == "exec" && at > 0 && at+1 < len(args) {
		return inController(args[at+1], args[at+2:])
	}
	if at := slices.Index(args, "-w"); at >= 0 {
		if err := awaitRest(program); err != nil {
			return err
		}
		args = slices.Delete(args, at, at+1)
	}
	return replace(program, args, os.Environ())
}

func inController(program string, args []string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(os.Getenv(ControllerEnv))
	if err != nil {
		return fmt.Errorf("no controller has started: %w", err)
	}
	return replace(path, args, append(os.Environ(), strings.Split(strings.TrimSpace(string(text)), "\n")...))
}

const pollEvery = 300 * time.Millisecond

// object is what a watch looks at.
type object struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct{ Replicas *int }
	Status   struct {
		ReadyReplicas int
		Conditions    []struct{ Type, Status string }
	}
}

// awaitRest waits until every Deployment of the reader has the pods that it wants, and every claim is Ready; without
// pods there is no claim.
func awaitRest(program string) error {
	limit := time.Now().Add(2 * labtest.Within)
	for {
		text, err := exec.Command(program, "get", "deployments,nodeclaims", "-o", "json").Output()
		if err != nil {
			return fmt.Errorf("look at the cluster: %w", err)
		}
		var found struct{ Items []object }
		if err := json.Unmarshal(text, &found); err != nil {
			return fmt.Errorf("read what is in the cluster: %w", err)
		}
		unrest := unrestOf(found.Items)
		if unrest == "" {
			return nil
		}
		if time.Now().After(limit) {
			return errors.New("the cluster does not come to rest: " + unrest)
		}
		time.Sleep(pollEvery)
	}
}

func unrestOf(objects []object) string {
	wanted, claims := 0, 0
	for _, o := range objects {
		switch o.Kind {
		case "Deployment":
			replicas := 1
			if o.Spec.Replicas != nil {
				replicas = *o.Spec.Replicas
			}
			wanted += replicas
			if o.Status.ReadyReplicas != replicas {
				return fmt.Sprintf("%s has %d of %d pods", o.Metadata.Name, o.Status.ReadyReplicas, replicas)
			}
		case "NodeClaim":
			claims++
			if !slices.Contains(o.Status.Conditions, struct{ Type, Status string }{"Ready", "True"}) {
				return o.Metadata.Name + " is not Ready"
			}
		}
	}
	if wanted == 0 && claims > 0 {
		return fmt.Sprintf("%d claims are left", claims)
	}
	return ""
}
