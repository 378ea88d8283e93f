// Package fidelity is a table of requests to an API server. This package's test sends the requests to the
// store in memory, and lab/fidelity sends them to a real API server. The answers are recorded and must be
// the same in both, so that the store stays true to a real server.
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

// Case is a series of requests about one subject.
type Case struct {
	Name string
	run  func(*Session)
}

// Server is the server that a case uses.
type Server struct {
	Client client.Client
	// Namespace is used by this case only. Prefix begins the names of objects without a namespace.
	Namespace, Prefix string
	// Idle lets the server's own controllers do their work.
	Idle func()
}

// Run sends the requests, and returns the answers as text in which names, versions and times that differ
// between servers are replaced. It leaves no objects behind.
func (c Case) Run(ctx context.Context, server Server) string {
	t := &Session{ctx: ctx, Server: server}
	c.run(t)
	t.clean()
	return t.text.String()
}

// Session is a running case.
type Session struct {
	Server
	ctx  context.Context
	text strings.Builder
	made []client.Object
}

// say records a request and its result.
func (t *Session) say(what string, err error) {
	t.line("%s: %s", what, t.verdict(err, true))
}

// sayCode is the same without the message, where a server's message has too much detail.
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

// make creates an object that the case needs, and records only an error.
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

// fresh reads an object again. The UID of a missing object is empty.
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

// clean removes the objects of the case, including those with finalizers.
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
