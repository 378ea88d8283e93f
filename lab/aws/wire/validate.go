package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tenon/core/order"
	"tenon/lab/aws/model"
)

// validate refuses a call that AWS's model of the operation refuses: a required parameter is missing, or a value is not among
// those of its enumeration. Services without a model are not checked.
func (c *Call) validate() error {
	service := model.Find(c.Service.Name)
	if service == nil || service.Operations[c.Operation] == nil {
		return nil
	}
	v := validation{c, service.Operations[c.Operation]}
	input := v.model.Shape(v.model.Input)
	if input == nil {
		return nil
	}
	if c.form != nil {
		return v.form(c.form, input, "")
	}
	parameters := map[string]any{}
	if len(bytes.TrimSpace(c.body)) > 0 && json.Unmarshal(c.body, &parameters) != nil {
		return nil // the operation says what is wrong when it decodes them
	}
	return v.json(parameters, input, "")
}

type validation struct {
	call  *Call
	model *model.Operation
}

// form checks parameters of the query protocols.
func (v validation) form(t *tree, shape *model.Shape, path string) error {
	switch shape.Type {
	case "structure":
		for _, name := range order.Keys(shape.Members) {
			m := shape.Members[name]
			at := within(path, m.In)
			child := t.children[m.In]
			if child == nil {
				if slices.Contains(shape.Required, name) {
					return v.missing(at)
				}
				continue
			}
			if err := v.form(child, v.model.Shape(m.Shape), at); err != nil {
				return err
			}
		}
	case "list":
		for i, item := range t.items() {
			if err := v.form(item, v.model.Shape(shape.Item), fmt.Sprintf("%s.%d", path, i+1)); err != nil {
				return err
			}
		}
	case "string":
		return v.enumeration(t.value, shape, path)
	}
	return nil
}

// json checks parameters of the JSON protocols, with those in the query of a REST API.
func (v validation) json(value any, shape *model.Shape, path string) error {
	switch shape.Type {
	case "structure":
		values, is := value.(map[string]any)
		if !is {
			return nil // the operation says so when it decodes them
		}
		for _, name := range order.Keys(shape.Members) {
			m := shape.Members[name]
			at, child := within(path, m.Out), values[m.Out]
			switch {
			case m.Location == "uri" || m.Location == "header":
				continue
			case m.Location == "querystring" && v.call.HTTP.URL.Query().Has(m.Out):
				child = v.call.HTTP.URL.Query().Get(m.Out)
			}
			if child == nil {
				if slices.Contains(shape.Required, name) {
					return v.missing(at)
				}
				continue
			}
			if err := v.json(child, v.model.Shape(m.Shape), at); err != nil {
				return err
			}
		}
	case "list":
		items, _ := value.([]any)
		for i, item := range items {
			if err := v.json(item, v.model.Shape(shape.Item), fmt.Sprintf("%s.%d", path, i+1)); err != nil {
				return err
			}
		}
	case "string":
		if text, is := value.(string); is {
			return v.enumeration(text, shape, path)
		}
	}
	return nil
}

func within(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// growing is the length from which on an enumeration, such as that of instance types, counts as one that
// grows with every release of the model.
const growing = 100

func (v validation) enumeration(value string, shape *model.Shape, path string) error {
	if len(shape.Enum) == 0 || len(shape.Enum) >= growing || slices.Contains(shape.Enum, value) {
		return nil
	}
	if v.plain() {
		return Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid. Valid values are: %s.", value, path, strings.Join(shape.Enum, ", "))
	}
	return v.constraint(path, "Member must satisfy enum value set: ["+strings.Join(shape.Enum, ", ")+"]")
}

func (v validation) missing(path string) error {
	if v.plain() {
		return Errorf("MissingParameter", "The request must contain the parameter %s", path)
	}
	return v.constraint(path, "Member must not be null")
}

// plain reports whether the service has EC2's codes for wrong parameters.
func (v validation) plain() bool {
	return v.call.Service.Protocol == EC2Query || v.call.Service.Protocol == QueryOrJSON
}

func (v validation) constraint(path, what string) error {
	code := "ValidationException"
	if v.call.protocol == Query {
		code = "ValidationError"
	}
	for _, own := range []string{"InvalidParameterException", "IllegalArgumentException"} {
		if slices.Contains(v.model.Errors, own) {
			code = own
		}
	}
	return Errorf(code, "1 validation error detected: Value at '%s' failed to satisfy constraint: %s", path, what)
}
