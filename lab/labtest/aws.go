package labtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// AWS is the emulated AWS of a lab, reached through its control API.
type AWS struct{ url string }

// AWSCall is a recorded call.
type AWSCall struct {
	Time      time.Time `json:"time"`
	Service   string    `json:"service"`
	Operation string    `json:"operation"`
	Resource  string    `json:"resource"` // the Auto Scaling group or the instance that the call names alone
	Code      string    `json:"code"`     // of the error
}

// AWSInstance is an instance that exists or existed.
type AWSInstance struct {
	ID           string `json:"id"`
	Type         string `json:"type"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	State        string `json:"state"`
	ProviderID   string `json:"providerID"`
	Node         string `json:"node"`
	Image        string `json:"image"`
	Console      string `json:"console"`
	Why          string `json:"why"`
	Pool         string `json:"pool"`
	Claim        string `json:"claim"`
}

// Alive reports whether AWS charges for the instance.
func (i AWSInstance) Alive() bool { return i.State == "pending" || i.State == "running" }

// AWS returns the emulated AWS of the lab.
func (l *Lab) AWS(t testing.TB) AWS {
	t.Helper()
	text, err := os.ReadFile(l.Directory.Environment())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if url, found := strings.CutPrefix(strings.TrimSpace(line), "AWS_ENDPOINT_URL="); found {
			return AWS{url}
		}
	}
	t.Fatalf("no AWS in %s", text)
	return AWS{}
}

// Cause adds a fault, in the form of POST /lab/faults, and returns what it affected at once.
func (a AWS) Cause(t testing.TB, fault string) []string {
	t.Helper()
	var made struct {
		Struck []string `json:"struck"`
	}
	a.ask(t, http.MethodPost, "/lab/faults", fault, &made)
	return made.Struck
}

// Mend ends all faults.
func (a AWS) Mend(t testing.TB) {
	t.Helper()
	a.ask(t, http.MethodDelete, "/lab/faults", "", nil)
}

// Calls returns the latest calls, the oldest first.
func (a AWS) Calls(t testing.TB) (list []AWSCall) {
	t.Helper()
	a.ask(t, http.MethodGet, "/lab/calls?all", "", &list)
	return list
}

// ForgetCalls clears the record of calls.
func (a AWS) ForgetCalls(t testing.TB) {
	t.Helper()
	a.ask(t, http.MethodDelete, "/lab/calls", "", nil)
}

// Denied returns the actions that the controller's IAM policies have denied; none if they are not enforced.
func (a AWS) Denied(t testing.TB) (actions []string) {
	t.Helper()
	var permissions map[string]struct{ Denied int }
	a.ask(t, http.MethodGet, "/lab/permissions", "", &permissions)
	for action, p := range permissions {
		if p.Denied > 0 {
			actions = append(actions, action)
		}
	}
	slices.Sort(actions)
	return actions
}

// Instances returns all instances that exist or existed, in the order of their launches.
func (a AWS) Instances(t testing.TB) (list []AWSInstance) {
	t.Helper()
	a.ask(t, http.MethodGet, "/lab/instances", "", &list)
	return list
}

func (a AWS) ask(t testing.TB, method, path, body string, into any) {
	t.Helper()
	if err := a.try(method, path, body, into); err != nil {
		t.Fatal(err)
	}
}

// try does not use the context of the test, because it also cleans up after the test.
func (a AWS) try(method, path, body string, into any) error {
	request, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the emulated AWS: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err // its text contains the URL
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s says %s: %s %v", method, path, response.Status, text, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}
