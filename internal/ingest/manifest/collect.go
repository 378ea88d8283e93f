package manifest

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/internal/ingest"
)

// collector combines the results of the workers, in the order of the files.
type collector struct {
	options  Options
	objects  *ingest.Objects
	report   Report
	problems []error

	seen      map[identity]placed
	generated map[identity]int // how many names were made of a generateName
	warned    map[string]int   // index into report.Warnings
	counts    []int            // of the warnings

	staged []found // of a list that was cut without parsing it
}

// identity identifies an object. Two objects cannot have the same.
type identity struct{ group, kind, namespace, name string }

type placed struct {
	object metav1.Object
	where  document
}

func newCollector(options Options, files int) *collector {
	return &collector{
		options:   options,
		objects:   &ingest.Objects{},
		report:    Report{Progress: Progress{AllFiles: files}, Skipped: map[string]int{}},
		seen:      map[identity]placed{},
		generated: map[identity]int{},
		warned:    map[string]int{},
	}
}

// add adds the results of a batch.
func (c *collector) add(b *batch) {
	if b.err != nil {
		c.problems = append(c.problems, b.err)
	}
	for _, f := range b.found {
		if len(c.staged) > 0 && c.staged[0].where.whole != f.where.whole {
			c.release()
		}
		if f.where.whole != nil {
			c.staged = append(c.staged, f)
			continue
		}
		c.take(f)
	}
	c.report.Bytes += int64(b.bytes)
	if b.ends {
		c.report.Files++
	}
	if c.options.Progress != nil {
		c.options.Progress(c.report.Progress)
	}
}

// release adds the items of a list that was cut without parsing it or, if some item could not be
// read, reads the list again as a whole.
func (c *collector) release() {
	staged := c.staged
	c.staged = nil
	for _, f := range staged {
		if f.err != nil {
			staged = decode(*f.where.whole)
			break
		}
	}
	for _, f := range staged {
		c.take(f)
	}
}

func (c *collector) flush() {
	c.release()
	for i, n := range c.counts {
		if n > 1 {
			c.report.Warnings[i] += fmt.Sprintf(" (and %d more like it)", n-1)
		}
	}
}

func (c *collector) take(f found) {
	for _, warning := range f.warnings {
		c.warn(f, warning)
	}
	switch {
	case f.err != nil:
		c.problems = append(c.problems, f.err)
	case f.object == nil:
		c.report.Skipped[f.what.String()]++
	default:
		c.keep(f)
	}
}

var inBrackets = regexp.MustCompile(`\[\d+\]`)

// warn records an unknown field once for each kind and path.
func (c *collector) warn(f found, warning string) {
	same := f.what.String() + inBrackets.ReplaceAllString(warning, "[]")
	if i, told := c.warned[same]; told {
		c.counts[i]++
		return
	}
	c.warned[same] = len(c.report.Warnings)
	c.counts = append(c.counts, 1)
	where := f.where.problem(f.what.Kind, "", fmt.Errorf("%s is ignored", warning))
	c.report.Warnings = append(c.report.Warnings, where.Error())
}

// keep adds an object, unless it was added before.
func (c *collector) keep(f found) {
	k := kinds[f.what]
	id := identity{f.what.group(), f.what.Kind, f.object.GetNamespace(), f.object.GetName()}
	if id.name == "" {
		id.name = c.generate(f, id)
		f.object.SetName(id.name)
	}
	if before, twice := c.seen[id]; twice {
		c.reconcile(f, k, before)
		return
	}
	c.seen[id] = placed{f.object, f.where}
	if c.options.Check != nil && f.object.GetUID() == "" {
		if err := c.options.Check(f.object); err != nil {
			c.problems = append(c.problems, f.where.problem(f.what.Kind+" "+nameOf(f.object, k), "", err))
		}
	}
	c.report.Objects++
	if k.class {
		c.objects.AddNodeClass(f.what.group(), f.what.Kind, f.object)
		return
	}
	c.objects.Add(f.object)
}

// generate returns the name that the API server would generate, with a number instead of the random
// part.
func (c *collector) generate(f found, id identity) string {
	id.name = f.object.GetGenerateName()
	for {
		c.generated[id]++
		name := id.name + strconv.Itoa(c.generated[id]-1)
		if _, taken := c.seen[identity{id.group, id.kind, id.namespace, name}]; !taken {
			return name
		}
	}
}

// reconcile handles an object that was given before. The same content twice, as from a directory and a
// file in it, is accepted. A newer state of an object of a cluster replaces the older. Anything else is
// a contradiction.
func (c *collector) reconcile(f found, k kind, before placed) {
	if equality.Semantic.DeepEqual(f.object, before.object) {
		return
	}
	newer, comparable := isNewer(f.object, before.object)
	if !comparable {
		err := fmt.Errorf("was given before with other content, in %s document %d", before.where.file, before.where.number)
		c.problems = append(c.problems, f.where.problem(f.what.Kind+" "+nameOf(f.object, k), "", err))
		return
	}
	if newer {
		overwrite(before.object, f.object)
	}
}

// isNewer compares the resource versions of two states of one object.
func isNewer(a, b metav1.Object) (newer, comparable bool) {
	left, errLeft := strconv.ParseUint(a.GetResourceVersion(), 10, 64)
	right, errRight := strconv.ParseUint(b.GetResourceVersion(), 10, 64)
	if errLeft != nil || errRight != nil || a.GetUID() != b.GetUID() {
		return false, false
	}
	return left > right, true
}

// overwrite replaces the content of an object in the lists by the newer one.
func overwrite(older, newer metav1.Object) {
	reflect.ValueOf(older).Elem().Set(reflect.ValueOf(newer).Elem())
}
