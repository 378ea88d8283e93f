// Package cloudformation evaluates a CloudFormation template for an account, as CloudFormation does:
// which resources it makes, with every reference resolved. It knows the functions and resources that the
// project's own template uses, and refuses others.
//
// It makes nothing.
package cloudformation

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"
)

// Account says where a stack is made.
type Account struct {
	Partition, Region, ID string
	// Suffix is the suffix of service names: amazonaws.com, except in China.
	Suffix string
}

// Stack is what the template would make, with every reference resolved.
type Stack struct {
	Resources map[string]Resource
	Outputs   map[string]string
}

// Resource is a resource of a stack.
type Resource struct {
	Type       string         `json:"Type"`
	Condition  string         `json:"Condition,omitempty"`
	Properties map[string]any `json:"Properties"`
}

// written is a template as it is written.
type written struct {
	Parameters map[string]struct {
		Default       *string
		AllowedValues []string
	}
	Conditions map[string]any
	Resources  map[string]Resource
	Outputs    map[string]struct{ Value any }
}

// Evaluate evaluates a template. A parameter that the template does not have is an error, and so is one
// without a value.
func Evaluate(template []byte, where Account, parameters map[string]string) (Stack, error) {
	e := evaluation{where: where, parameters: map[string]string{}}
	if err := yaml.Unmarshal(template, &e.template); err != nil {
		return Stack{}, fmt.Errorf("read the template: %w", err)
	}
	if err := e.take(parameters); err != nil {
		return Stack{}, err
	}
	made := Stack{Resources: map[string]Resource{}, Outputs: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(e.template.Resources)) {
		r := e.template.Resources[name]
		if r.Condition != "" {
			if holds, err := e.holds(r.Condition); err != nil || !holds {
				if err != nil {
					return Stack{}, fmt.Errorf("resource %s: %w", name, err)
				}
				continue
			}
		}
		properties, err := e.value(r.Properties)
		if err != nil {
			return Stack{}, fmt.Errorf("resource %s: %w", name, err)
		}
		made.Resources[name] = Resource{Type: r.Type, Properties: properties.(map[string]any)}
	}
	for name, o := range e.template.Outputs {
		text, err := e.text(o.Value)
		if err != nil {
			return Stack{}, fmt.Errorf("output %s: %w", name, err)
		}
		made.Outputs[name] = text
	}
	return made, nil
}

// take sets the given parameters, and the defaults of the rest.
func (e *evaluation) take(given map[string]string) error {
	for name := range given {
		if _, known := e.template.Parameters[name]; !known {
			return fmt.Errorf("the template has no parameter %s", name)
		}
	}
	for name, p := range e.template.Parameters {
		value, has := given[name]
		switch {
		case !has && p.Default == nil:
			return fmt.Errorf("parameter %s has no value", name)
		case !has:
			value = *p.Default
		case p.AllowedValues != nil && !slices.Contains(p.AllowedValues, value):
			return fmt.Errorf("parameter %s is %q, want one of %q", name, value, p.AllowedValues)
		}
		e.parameters[name] = value
	}
	return nil
}

// ControllerPolicies returns the policy documents of the controller's role.
func (s Stack) ControllerPolicies() ([]string, error) {
	role, there := s.Resources["ControllerRole"]
	if !there {
		return nil, errors.New("the stack has no ControllerRole")
	}
	attached, _ := role.Properties["ManagedPolicyArns"].([]any)
	var documents []string
	for _, arn := range attached {
		document, err := s.policy(arn)
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}

func (s Stack) policy(arn any) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(s.Resources)) {
		r := s.Resources[name]
		if text, is := arn.(string); !is || r.Type != managedPolicy || !endsWith(text, r.Properties["ManagedPolicyName"]) {
			continue
		}
		document, is := r.Properties["PolicyDocument"].(string)
		if !is {
			return "", fmt.Errorf("the document of %s is no text", name)
		}
		return document, nil
	}
	return "", fmt.Errorf("the stack has no policy %v", arn)
}
