// Package fidelity is a table of requests to an API server. The table is played to the
// store in memory by this package's test, and to a real API server by lab/fidelity; what
// is answered is written down, and must be the same in both. So the store cannot drift
// away from what it stands for.
//
// The package must not know which of the two answers.
package fidelity

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Case is a conversation about one thing.
type Case struct {
	Name string
	run  func(*Session)
}

// Server is whom a case talks to.
type Server struct {
	Client client.Client
	// Namespace is for the case alone. Prefix begins the names of objects that are in
	// none.
	Namespace, Prefix string
	// Idle lets the server's own controllers do their work.
	Idle func()
}

// Run has the conversation, and returns it as text in which names, versions and times
// that differ from one server to another are replaced. It leaves nothing behind.
func (c Case) Run(ctx context.Context, server Server) string {
	t := &Session{ctx: ctx, Server: server}
	c.run(t)
	t.clean()
	return t.text.String()
}

// Session is a conversation under way.
type Session struct {
	Server
	ctx  context.Context
	text strings.Builder
	made []client.Object
}

// say writes down what was done and the result.
func (t *Session) say(what string, err error) {
	t.line("%s: %s", what, t.verdict(err, true))
}

// sayCode is the same without the message, where a server says too much.
func (t *Session) sayCode(what string, err error) {
	t.line("%s: %s", what, t.verdict(err, false))
}

func (t *Session) line(format string, values ...any) {
	fmt.Fprintf(&t.text, "%s\n", t.plain(fmt.Sprintf(format, values...)))
}

func (t *Session) verdict(err error, message bool) string {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return "ok"
	case !errors.As(err, &status):
		return err.Error()
	}
	s := status.Status()
	text := fmt.Sprintf("%d %s", s.Code, s.Reason)
	if message {
		text += ": " + s.Message
		if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
			text += fmt.Sprintf(" (after %ds)", s.Details.RetryAfterSeconds)
		}
	}
	if message && s.Details != nil && s.Code == 429 {
		for _, cause := range s.Details.Causes {
			text += fmt.Sprintf(" [%s: %s]", cause.Type, cause.Message)
		}
	}
	return text
}

var (
	uids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	versions = regexp.MustCompile(`(ResourceVersion in [a-z ]*) \([0-9]+\)`)
)

func (t *Session) plain(text string) string {
	text = strings.ReplaceAll(text, t.Namespace, "NAMESPACE")
	text = strings.ReplaceAll(text, t.Prefix, "")
	text = uids.ReplaceAllString(text, "UID")
	return versions.ReplaceAllString(text, "$1 (VERSION)")
}

// make creates an object that the case needs, and says nothing unless that fails.
func (t *Session) make(object client.Object) {
	if err := t.create(object); err != nil {
		t.say("make "+object.GetName(), err)
	}
}

func (t *Session) create(object client.Object) error {
	err := t.Client.Create(t.ctx, object)
	if err == nil {
		t.made = append(t.made, object.DeepCopyObject().(client.Object))
	}
	return err
}

// fresh reads an object again. What is gone has no UID.
func fresh[T client.Object](t *Session, object T) T {
	read := object.DeepCopyObject().(T)
	if err := t.Client.Get(t.ctx, client.ObjectKeyFromObject(object), read); err != nil {
		read.SetUID("")
	}
	return read
}

// await lets the server work until something holds.
func (t *Session) await(what string, holds func() bool) {
	for range 600 {
		if holds() {
			t.line("%s", what)
			return
		}
		t.Idle()
	}
	t.line("not so: %s", what)
}

// clean removes what the case made, in spite of every finalizer.
func (t *Session) clean() {
	slices.Reverse(t.made)
	for _, object := range t.made {
		now := fresh(t, object)
		if now.GetUID() != object.GetUID() {
			continue
		}
		if len(now.GetFinalizers()) > 0 {
			base := now.DeepCopyObject().(client.Object)
			now.SetFinalizers(nil)
			_ = t.Client.Patch(t.ctx, now, client.MergeFrom(base)) // it may be gone
		}
		_ = t.Client.Delete(t.ctx, now, client.GracePeriodSeconds(0)) // it may be gone
	}
}
