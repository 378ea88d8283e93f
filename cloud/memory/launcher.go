package memory

import "sync"

// Launcher simulates machines, for the lab's simulated kubelets or a simulation. One goroutine at a time
// calls it with the events of every machine, in order and soon after they happened. It may call the cloud
// and its providers.
type Launcher interface {
	// Launch starts a machine, which joins at its time.
	Launch(Machine)
	// Terminate stops it, whether or not it was launched here.
	Terminate(providerID string)
}

// outbox holds what the Launcher has yet to be told, so that no function is called under a
// lock and nothing overtakes anything. Messages are put in under the lock of the cloud.
type outbox struct {
	launcher Launcher

	post       sync.Mutex
	messages   []func(Launcher)
	delivering bool
}

func (b *outbox) launch(m Machine) { b.put(func(l Launcher) { l.Launch(m) }) }

func (b *outbox) terminate(providerID string) {
	b.put(func(l Launcher) { l.Terminate(providerID) })
}

func (b *outbox) put(message func(Launcher)) {
	if b.launcher == nil {
		return
	}
	b.post.Lock()
	defer b.post.Unlock()
	b.messages = append(b.messages, message)
}

// deliver tells all there is to tell, unless another call is doing so already: then that one
// goes on with what is new.
func (b *outbox) deliver() {
	if !b.begin() {
		return
	}
	for message := b.take(); message != nil; message = b.take() {
		message(b.launcher)
	}
}

func (b *outbox) begin() bool {
	b.post.Lock()
	defer b.post.Unlock()
	if b.delivering || len(b.messages) == 0 {
		return false
	}
	b.delivering = true
	return true
}

func (b *outbox) take() func(Launcher) {
	b.post.Lock()
	defer b.post.Unlock()
	if len(b.messages) == 0 {
		b.delivering = false
		return nil
	}
	message := b.messages[0]
	b.messages = b.messages[1:]
	return message
}
