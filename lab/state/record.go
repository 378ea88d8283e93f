package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"tenon/lab/process"
)

// Record is what the supervisor saves about its lab. `tenon-lab status -o json` prints the same JSON, with
// the memory filled in.
type Record struct {
	Directory  Directory   `json:"directory"`
	Pid        int         `json:"pid"`
	Birth      string      `json:"birth"`
	Started    time.Time   `json:"started"`
	Ready      bool        `json:"ready"`
	Server     string      `json:"server"`
	Components []Component `json:"components"`
}

// Component is one component of a running lab.
type Component struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`
	Pid      int       `json:"pid"`
	Birth    string    `json:"birth"`
	Started  time.Time `json:"started"`
	Restarts int       `json:"restarts"`
	Ports    []Port    `json:"ports"`
	Log      string    `json:"log"`
	// ResidentBytes is measured by status; the supervisor leaves it empty.
	ResidentBytes int64 `json:"residentBytes,omitempty"`
}

// Port is a port on the loopback address that a component serves.
type Port struct {
	Name   string `json:"name"`
	Number int    `json:"number"`
}

// Save writes the record.
func (d Directory) Save(record Record) error {
	text, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return WriteFile(d.Path("state.json"), append(text, '\n'))
}

// Load reads the record. It returns false without one: no lab was started here, or it was cleaned up.
func (d Directory) Load() (Record, bool, error) {
	text, err := os.ReadFile(d.Path("state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("read record: %w", err)
	}
	var record Record
	if err := json.Unmarshal(text, &record); err != nil {
		return Record{}, false, fmt.Errorf("read record: %w", err)
	}
	return record, true, nil
}

// EndLeftovers ends components that outlived a killed supervisor, and returns their names. On Linux there
// are none, because the kernel ends them.
func (r Record) EndLeftovers() []string {
	var ended []string
	for _, component := range r.Components {
		if process.Alive(component.Pid, component.Birth) {
			process.Kill(component.Pid, component.Birth)
			ended = append(ended, component.Name)
		}
	}
	return ended
}

// Find returns the component with the given name.
func (r Record) Find(name string) (Component, bool) {
	for _, component := range r.Components {
		if component.Name == name {
			return component, true
		}
	}
	return Component{}, false
}
