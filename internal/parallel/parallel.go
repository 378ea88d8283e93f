// Package parallel does pieces of work side by side, a few at a time.
//
// With one at a time it starts no goroutine: a simulation steps through the work in one
// order, always the same. It must not decide what is done, and retries nothing.
package parallel

import (
	"errors"
	"sync"
)

// Run does the work on every index from 0 to n, at most so many at the same time, and
// returns when all of it is done.
func Run(atOnce, n int, work func(i int)) {
	if atOnce <= 1 {
		for i := range n {
			work(i)
		}
		return
	}
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			work(i)
		})
	}
	group.Wait()
}

// Try does the work on everything in the list, also after failures, and joins the
// errors in the list's order.
func Try[T any](atOnce int, list []T, work func(T) error) error {
	return TryEach(atOnce, len(list), func(i int) error { return work(list[i]) })
}

// TryEach does the work on every index from 0 to n, also after failures, and joins the errors in that order.
func TryEach(atOnce, n int, work func(i int) error) error {
	trouble := make([]error, n)
	Run(atOnce, n, func(i int) { trouble[i] = work(i) })
	return errors.Join(trouble...)
}
