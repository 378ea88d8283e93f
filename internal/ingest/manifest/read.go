package manifest

import (
	"io"
	"runtime"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/internal/ingest"
)

// Options are the parameters of reading besides the files.
type Options struct {
	// Stdin is read for the path "-".
	Stdin io.Reader
	// Progress, if set, is called after every few objects, on the caller's goroutine.
	Progress func(Progress)
	// Check, if set, validates each object that a user wrote (one that no API server has seen yet),
	// beyond its type.
	Check func(metav1.Object) error
}

// Progress says how much has been read.
type Progress struct {
	Files, AllFiles int
	Objects         int
	Bytes           int64
}

// Report says what was read and what was not.
type Report struct {
	Progress
	// Skipped counts the objects that no decision depends on, by kind.
	Skipped map[string]int
	// Warnings are in the order of the files; of equal ones only the first is included, with a count.
	Warnings []string
	// Problems are all mistakes, of which the error of Read names the first few. Each is a *Problem.
	Problems []error
}

// Read reads all objects of the files and directories. If it returns an error, which names the
// first few places, the objects must not be used.
func Read(paths []string, options Options) (*ingest.Objects, Report, error) {
	files, err := Expand(paths)
	if err != nil {
		return nil, Report{}, err
	}
	c := newCollector(options, len(files))
	for b := range start(files, options.Stdin) {
		<-b.done
		c.add(b)
	}
	c.flush()
	c.report.Problems = c.problems
	return c.objects, c.report, joined(c.problems)
}

// batch is a number of documents of one file that are being decoded.
type batch struct {
	docs  []document
	bytes int
	ends  bool  // the file ends with it
	err   error // the file could not be read
	found []found
	done  chan struct{}
}

// A batch is small enough to keep all workers busy and large enough to be worth passing between
// goroutines.
const (
	batchDocuments = 64
	batchBytes     = 256 << 10
)

// start reads and cuts files on one goroutine and decodes them on others. Batches come in the order
// of the files; each is complete when its done is closed. The caller must receive all of them: then
// all goroutines have ended.
func start(files []string, stdin io.Reader) <-chan *batch {
	workers := runtime.GOMAXPROCS(0)
	ordered, work := make(chan *batch, 4*workers), make(chan *batch, 4*workers)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for b := range work {
				b.decode()
			}
		})
	}
	go func() {
		for _, file := range files {
			for _, b := range cut(file, stdin) {
				ordered <- b
				work <- b
			}
		}
		close(work)
		wait.Wait()
		close(ordered)
	}()
	return ordered
}

func (b *batch) decode() {
	for _, d := range b.docs {
		b.found = append(b.found, decode(d)...)
	}
	b.docs = nil
	close(b.done)
}

// cut reads a file and makes at least one batch of it.
func cut(file string, stdin io.Reader) []*batch {
	data, err := Load(file, stdin)
	current := &batch{err: err, done: make(chan struct{})}
	out := []*batch{current}
	for _, d := range split(file, data) {
		items, apart := takeApart(d)
		if !apart {
			items = []document{d}
		}
		for _, item := range items {
			if len(current.docs) == batchDocuments || current.bytes > batchBytes {
				current = &batch{done: make(chan struct{})}
				out = append(out, current)
			}
			current.docs = append(current.docs, item)
			current.bytes += len(item.text)
		}
	}
	current.ends = true
	return out
}
