package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	kubejson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"
)

// The outputs of commands that list something which kubectl has too, besides json and yaml.
const (
	outputWide = "wide"
	outputName = "name"
	outputPath = "jsonpath="
)

// checkOutput refuses outputs that are not known, and templates that cannot be read. A known output that ends in = takes a
// template.
func checkOutput(output string, known ...string) error {
	if template, found := strings.CutPrefix(output, outputPath); found && slices.Contains(known, outputPath) {
		_, err := templateOf(template)
		return err
	}
	if output == outputPath || !slices.Contains(known, output) {
		return fmt.Errorf("unknown output format %q; use %s", output, outputsText(known))
	}
	return nil
}

// outputsText lists outputs for people.
func outputsText(known []string) string {
	texts := slices.Clone(known)
	for i, name := range texts {
		if name == outputPath {
			texts[i] += "TEMPLATE"
		}
	}
	if last := len(texts) - 1; last > 0 {
		return strings.Join(texts[:last], ", ") + " or " + texts[last]
	}
	return strings.Join(texts, "")
}

// templateOf reads a template. As in kubectl, a field that an object does not have is empty.
func templateOf(template string) (*jsonpath.JSONPath, error) {
	if template == "" {
		return nil, errors.New("-o jsonpath= needs a template, such as -o jsonpath='{.items[*].name}'")
	}
	path := jsonpath.New("output").AllowMissingKeys(true)
	if err := path.Parse(template); err != nil {
		return nil, fmt.Errorf("-o jsonpath=%s: %w", template, err)
	}
	return path, nil
}

// writeTemplate fills in a template from a document as -o json has it. Fields without a value are missing.
func writeTemplate(to io.Writer, template string, document any) error {
	path, err := templateOf(template)
	if err != nil {
		return err
	}
	text, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	var plain any
	if err := kubejson.Unmarshal(text, &plain); err != nil { // whole numbers stay whole in it
		return fmt.Errorf("write: %w", err)
	}
	if err := path.Execute(to, withoutNull(plain)); err != nil {
		return fmt.Errorf("-o jsonpath=%s: %w", template, err)
	}
	return nil
}

// withoutNull removes the fields of objects that have no value.
func withoutNull(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if field == nil {
				delete(v, name)
			} else {
				v[name] = withoutNull(field)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNull(v[i])
		}
	}
	return value
}
