package class

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/cloud"
)

// Print is what tells two states of a class apart for the nodes that are made by it: its spec, and what was
// found for that, such as images and subnets. Conditions, labels and the order of what was found do not
// count: subnets are ordered by their free addresses, which every new machine changes. A missing class has
// an empty print.
func (r Reader) Print(ctx context.Context, ref cloud.ClassRef) (string, error) {
	for _, kind := range r.Kinds {
		if kind.Group != ref.Group || kind.Kind != ref.Kind {
			continue
		}
		object := r.object(kind)
		err := r.Client.Get(ctx, client.ObjectKey{Name: ref.Name}, object)
		switch {
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
			return "", nil
		case err != nil:
			return "", fmt.Errorf("read node class %s: %w", ref, err)
		}
		return printOf(object)
	}
	return "", nil
}

func printOf(object client.Object) (string, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return "", fmt.Errorf("read node class %s: %w", object.GetName(), err)
	}
	found := map[string]any{}
	if status, ok := fields["status"].(map[string]any); ok {
		for key, value := range status { // in a map again, which is written in order
			if key != "conditions" {
				found[key] = unordered(value)
			}
		}
	}
	sum := fnv.New64a()
	sum.Write([]byte(text([]any{fields["spec"], found})))
	return strconv.FormatUint(sum.Sum64(), 36), nil
}

// unordered is a value whose lists are in the order of what is in them.
func unordered(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, each := range v {
			out[key] = unordered(each)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, each := range v {
			out[i] = unordered(each)
		}
		slices.SortFunc(out, func(a, b any) int { return strings.Compare(text(a), text(b)) })
		return out
	}
	return value
}

func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil { // it came from JSON
		panic(err)
	}
	return string(data)
}
