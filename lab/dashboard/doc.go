// Package dashboard drives the pages of the dashboard in Chromium, over the objects of a small cluster and
// a journal: what is shown, how it looks, and that nothing beyond this machine is asked for. It is tests
// only.
package dashboard
