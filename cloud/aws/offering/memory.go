package offering

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/core/order"
)

// memoryKept is how long a figure holds that no node confirms. (As in Karpenter.)
const memoryKept = 60 * 24 * time.Hour

// Memory is how much memory nodes of a type really had. Nodes see less memory than EC2 publishes for their
// type, by an amount that depends on firmware and image. After the first node no estimate is needed. Encode
// and Restore let the figures survive a restart. It may be used by many goroutines.
type Memory struct {
	clock clock.PassiveClock

	mu       sync.Mutex
	images   map[string]map[string]memorySeen // by images and type
	revision uint64
	views    map[string]MemoryView
}

// memorySeen is the least memory that a node of a type had with some images.
type memorySeen struct {
	bytes int64
	until time.Time
}

// NewMemory has seen nothing.
func NewMemory(c clock.PassiveClock) *Memory {
	return &Memory{clock: c, images: map[string]map[string]memorySeen{}, views: map[string]MemoryView{}}
}

// ImagesOf names the images of a class. What was seen with them goes before what was seen
// with others.
func ImagesOf(images []awsv1.AMI) string {
	var ids []string
	for _, i := range images {
		ids = append(ids, i.ID)
	}
	slices.Sort(ids)
	h := fnv.New64a()
	for _, id := range slices.Compact(ids) {
		_, _ = fmt.Fprintln(h, id) // never fails
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// Seen notes the memory of a node, and reports whether that is news. The least figure counts, because a pod
// that fits there fits on every node of the type.
func (m *Memory) Seen(images, instanceType string, bytes int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	known, found := m.images[images][instanceType]
	if found && now.Before(known.until) && bytes > known.bytes {
		return false
	}
	m.put(images, instanceType, memorySeen{bytes, now.Add(memoryKept)})
	if found && bytes == known.bytes && now.Before(known.until) {
		// Renewed, and worth writing down only now and then.
		return known.until.Sub(now) < memoryKept-24*time.Hour
	}
	m.revision++
	clear(m.views)
	return true
}

func (m *Memory) put(images, instanceType string, s memorySeen) {
	if m.images[images] == nil {
		m.images[images] = map[string]memorySeen{}
	}
	m.images[images][instanceType] = s
}

// MemoryView is what was seen with some images, by type. It must not be changed.
type MemoryView struct {
	Revision uint64
	Bytes    map[string]int64
}

// View returns what is known of nodes with some images. For a type that was never seen with them, the least
// figure with other images counts: a new image changes little, and much less than the published memory
// differs from what nodes see.
func (m *Memory) View(images string) MemoryView {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, made := m.views[images]; made {
		return v
	}
	v := MemoryView{Revision: m.revision, Bytes: map[string]int64{}}
	now := m.clock.Now()
	for _, types := range m.images {
		for instanceType, s := range types {
			if least, known := v.Bytes[instanceType]; now.Before(s.until) && (!known || s.bytes < least) {
				v.Bytes[instanceType] = s.bytes
			}
		}
	}
	for instanceType, s := range m.images[images] {
		if now.Before(s.until) {
			v.Bytes[instanceType] = s.bytes
		}
	}
	m.views[images] = v
	return v
}

// Encode is all that was seen, as text by images: a line for each type.
func (m *Memory) Encode() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	texts := map[string]string{}
	for _, images := range order.Keys(m.images) {
		var b strings.Builder
		for _, instanceType := range order.Keys(m.images[images]) {
			if s := m.images[images][instanceType]; now.Before(s.until) {
				fmt.Fprintf(&b, "%s %d %s\n", instanceType, s.bytes, s.until.UTC().Format(time.RFC3339))
			}
		}
		if b.Len() > 0 {
			texts[images] = b.String()
		}
	}
	return texts
}

// Restore merges what Encode wrote into what has been seen since. It skips unreadable lines: later nodes will
// supply those figures again.
func (m *Memory) Restore(texts map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, images := range order.Keys(texts) {
		for line := range strings.Lines(texts[images]) {
			var instanceType, until string
			var bytes int64
			if n, err := fmt.Sscan(line, &instanceType, &bytes, &until); n != 3 || err != nil || bytes <= 0 {
				continue
			}
			at, err := time.Parse(time.RFC3339, until)
			known, found := m.images[images][instanceType]
			if err != nil || found && cmp.Or(cmp.Compare(known.bytes, bytes), at.Compare(known.until)) <= 0 {
				continue
			}
			m.put(images, instanceType, memorySeen{bytes, at})
		}
	}
	m.revision++
	clear(m.views)
}
