// Package sarif writes findings in the Static Analysis Results Interchange Format 2.1.0, which code
// hosts show beside the lines of a change. It judges nothing.
package sarif

import (
	"encoding/json"
	"io"
	"path/filepath"

	"tenon/core/order"
	"tenon/internal/validate"
)

type log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool    tool     `json:"tool"`
	Results []result `json:"results"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name    string                `json:"name"`
	Version string                `json:"version"`
	Rules   []reportingDescriptor `json:"rules"`
}

type reportingDescriptor struct {
	ID               string `json:"id"`
	ShortDescription text   `json:"shortDescription"`
}

type text struct {
	Text string `json:"text"`
}

type result struct {
	RuleID    string     `json:"ruleId"`
	Level     string     `json:"level"`
	Message   text       `json:"message"`
	Locations []location `json:"locations"`
}

type location struct {
	Physical physical `json:"physicalLocation"`
}

type physical struct {
	Artifact artifact `json:"artifactLocation"`
	Region   region   `json:"region"`
}

type artifact struct {
	URI string `json:"uri"`
}

type region struct {
	StartLine int `json:"startLine"`
}

// Write writes the findings, with all rules that there are.
func Write(w io.Writer, version string, findings []validate.Finding) error {
	rules := validate.Rules()
	r := run{Tool: tool{driver{Name: "tenon validate", Version: version}}, Results: []result{}}
	for _, name := range order.Keys(rules) {
		r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, reportingDescriptor{ID: name, ShortDescription: text{rules[name]}})
	}
	for _, f := range findings {
		r.Results = append(r.Results, result{
			RuleID: f.Rule, Level: string(f.Level), Message: text{f.Text()},
			Locations: []location{{physical{artifact{filepath.ToSlash(f.File)}, region{max(f.Line, 1)}}}},
		})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(log{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []run{r}})
}
