package aws_test

import (
	"testing"
	"time"

	"tenon/cloud"
)

// An instance that is ended moments after its purchase is ended by one or two calls, however often its
// end is requested, and is known to be gone as soon as EC2 says so.
func TestAYoungInstanceEndsInAFewCalls(t *testing.T) {
	t.Parallel()
	for name, hidden := range map[string]string{
		"seen at once":      "",
		"seen after a time": `{"kind":"eventual-consistency","resources":["instance"],"delay":"20s"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			n := newNear(t, classOf("ready", "al2023@latest"))
			p := n.connect()
			n.ready(p, "ready")
			n.pass(time.Hour)
			if hidden != "" {
				n.cause(hidden)
			}
			bought := got(p.Create(ctx, request("1")))(t)
			n.Calls().Reset()
			var after time.Duration
			for ; after < 5*time.Minute; after += time.Second {
				err := p.Delete(ctx, bought.ProviderID)
				if cloud.IsNotFound(err) {
					break
				}
				if err != nil {
					t.Fatalf("after %s: %v", after, err)
				}
				n.pass(time.Second)
			}
			if calls := n.Calls().Count("ec2:TerminateInstances"); calls > 6 {
				t.Errorf("%d calls end one instance", calls)
			}
			if after > time.Minute {
				t.Errorf("it is gone after %s", after)
			}
			t.Logf("%d calls, gone after %s", n.Calls().Count("ec2:TerminateInstances"), after)
		})
	}
}
