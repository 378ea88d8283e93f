package memorycloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/requirement"
)

// book keeps a cloud in a file. A purchase is answered only after it is written: a real cloud does not
// forget its instances when the client crashes.
type book struct {
	path string
	far  *memory.Cloud

	mu      sync.Mutex
	turn    *sync.Cond
	asked   int // how many writes were requested
	written int // how many of them are done
	writing bool
	err     error // of the last write
}

func newBook(path string, far *memory.Cloud) *book {
	b := &book{path: path, far: far}
	b.turn = sync.NewCond(&b.mu)
	return b
}

// save returns when all earlier changes are in the file. Callers that arrive during a write share the next
// one.
func (b *book) save() error {
	if b.path == "" {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	mine := b.asked
	for b.written < mine {
		if b.writing {
			b.turn.Wait()
			continue
		}
		b.write()
	}
	return b.err
}

// write is called with the lock held, and releases it while it writes.
func (b *book) write() {
	upTo := b.asked
	b.writing = true
	b.mu.Unlock()
	err := replace(b.path, b.far.State())
	b.mu.Lock()
	b.writing, b.written, b.err = false, upTo, err
	b.turn.Broadcast()
}

// replace writes the file as a whole, so that a crash leaves either the old or the new content.
func replace(path string, state memory.State) error {
	text, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("write the cloud: %w", err)
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Read returns the cloud in a file; without a file it is a cloud without instances.
func Read(path string) (memory.State, error) {
	var state memory.State
	if path == "" {
		return state, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		return state, fmt.Errorf("read the cloud from %s: %w", path, err)
	}
	return state, nil
}

// counter is a provider that writes purchases and returns to the file before it answers them.
type counter struct {
	*memory.Provider
	book *book
}

// Create implements cloud.Instances.
func (c counter) Create(ctx context.Context, claim cloud.Claim) (cloud.Instance, error) {
	claim.Requirements = shared(claim.Requirements)
	bought, err := c.Provider.Create(ctx, claim)
	return bought, errors.Join(err, c.book.save())
}

// Delete implements cloud.Instances.
func (c counter) Delete(ctx context.Context, providerID string) error {
	return errors.Join(c.Provider.Delete(ctx, providerID), c.book.save())
}

// shared adds shared tenancy, EC2's default, unless the claim excludes it.
func shared(asked requirement.Set) requirement.Set {
	tenancy := requirement.New(awsv1.LabelInstanceTenancy, requirement.In, awsv1.TenancyDefault)
	if !asked.Get(awsv1.LabelInstanceTenancy).Has(awsv1.TenancyDefault) {
		return asked
	}
	return asked.Replaced(tenancy)
}
