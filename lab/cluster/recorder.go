package cluster

import (
	"sync"

	"tenon/lab/state"
)

// recorder keeps the record of the lab, on disk and here.
type recorder struct {
	mu     sync.Mutex
	record state.Record
}

func (r *recorder) begin(record state.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record = record
}

func (r *recorder) components(components []state.Component) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Components = components
	return r.record.Directory.Save(r.record)
}

func (r *recorder) ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Ready = true
	return r.record.Directory.Save(r.record)
}

func (r *recorder) pids() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var pids []int
	for _, component := range r.record.Components {
		pids = append(pids, component.Pid)
	}
	return pids
}
