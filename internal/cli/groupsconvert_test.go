package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"tenon/cloud"
	"tenon/internal/provider"
)

// The objects are the output, and the notes are messages; the status says whether something is lost.
func TestGroupsConvert(t *testing.T) {
	t.Parallel()
	object := func(name string) runtime.Object {
		return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	groups := map[string]cloud.GroupConversion{
		"web":  {Objects: []runtime.Object{object("a"), object("b")}, Notes: []cloud.GroupNote{{Effect: cloud.Kept, Setting: "size", Text: "a limit"}}},
		"pool": {Notes: []cloud.GroupNote{{Effect: cloud.Lost, Setting: "warm pool", Text: "pools have none"}}},
	}
	w := Env{Cloud: provider.Cloud{ConvertGroup: func(_ context.Context, _, group string) (cloud.GroupConversion, error) {
		found, known := groups[group]
		if !known {
			return found, errors.New("there is no group " + group)
		}
		return found, nil
	}}}
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "
	for name, tc := range map[string]struct {
		cloud    provider.Cloud
		status   int
		out, err string
	}{
		"web":  {w.Cloud, 0, text + "a\n---\n" + text + "b\n", "kept     size: a limit\n"},
		"pool": {w.Cloud, 2, "", "lost     warm pool: pools have none\n"},
		"gone": {w.Cloud, 1, "", "error: there is no group gone\n"},
		"none": {provider.Cloud{}, 1, "", "error: the cloud of this program has no node groups\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, said bytes.Buffer
			status := Run(t.Context(), []string{"groups", "convert", name}, Env{Out: &out, Err: &said, Cloud: tc.cloud})
			if status != tc.status || out.String() != tc.out || said.String() != tc.err {
				t.Errorf("status %d, output\n%s\nmessages\n%s", status, out.String(), said.String())
			}
		})
	}
}

// With -o json the objects are a List, as kubectl reads it; other formats are refused.
func TestGroupsConvertAsJSON(t *testing.T) {
	t.Parallel()
	object := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	w := Env{Cloud: provider.Cloud{ConvertGroup: func(context.Context, string, string) (cloud.GroupConversion, error) {
		return cloud.GroupConversion{Objects: []runtime.Object{object}}, nil
	}}}
	for output, want := range map[string]string{
		"json":  `{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}],"kind":"List"}`,
		"yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n",
		"table": "",
	} {
		var out, said bytes.Buffer
		w.Out, w.Err = &out, &said
		status := Run(t.Context(), []string{"groups", "convert", "web", "-o", output}, w)
		got := out.String()
		if output == "json" {
			var short bytes.Buffer
			if err := json.Compact(&short, out.Bytes()); err != nil {
				t.Error(err)
			}
			got = short.String()
		}
		if got != want || (status == 0) != (want != "") {
			t.Errorf("%s: status %d, output\n%s\nmessages %s", output, status, got, said.String())
		}
	}
}
