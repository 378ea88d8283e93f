package cloudformation

import (
	"fmt"
	"regexp"
	"strings"
)

// Kinds of resources that others refer to.
const (
	role          = "AWS::IAM::Role"
	managedPolicy = "AWS::IAM::ManagedPolicy"
	queue         = "AWS::SQS::Queue"
)

// evaluation is a template with the inputs of its evaluation.
type evaluation struct {
	template   written
	where      Account
	parameters map[string]string
}

// value evaluates the functions in a value. A function that is not modelled is an error.
func (e *evaluation) value(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		made := make([]any, len(v))
		for i, one := range v {
			var err error
			if made[i], err = e.value(one); err != nil {
				return nil, err
			}
		}
		return made, nil
	case map[string]any:
		if name, argument, is := called(v); is {
			return e.call(name, argument)
		}
		made := map[string]any{}
		for key, one := range v {
			var err error
			if made[key], err = e.value(one); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
		return made, nil
	}
	return v, nil
}

// called returns the only key of an object, if it is the name of a function.
func called(object map[string]any) (name string, argument any, is bool) {
	for name, argument = range object {
		is = len(object) == 1 && (name == "Ref" || strings.HasPrefix(name, "Fn::"))
	}
	return name, argument, is
}

func (e *evaluation) call(name string, argument any) (any, error) {
	list, _ := argument.([]any)
	switch {
	case name == "Ref":
		return e.reference(fmt.Sprint(argument))
	case name == "Fn::Sub":
		return e.substitute(fmt.Sprint(argument))
	case name == "Fn::GetAtt" && len(list) == 2:
		return e.attribute(fmt.Sprint(list[0]), fmt.Sprint(list[1]))
	case name == "Fn::If" && len(list) == 3:
		holds, err := e.holds(fmt.Sprint(list[0]))
		if err != nil {
			return nil, err
		}
		if holds {
			return e.value(list[1])
		}
		return e.value(list[2])
	case name == "Fn::Equals" && len(list) == 2:
		a, err := e.text(list[0])
		if err != nil {
			return nil, err
		}
		b, err := e.text(list[1])
		return a == b, err
	case name == "Fn::Not" && len(list) == 1:
		inner, err := e.value(list[0])
		return inner == false, err
	}
	return nil, fmt.Errorf("%s of %v is not modelled", name, argument)
}

func (e *evaluation) text(v any) (string, error) {
	made, err := e.value(v)
	return fmt.Sprint(made), err
}

func (e *evaluation) holds(condition string) (bool, error) {
	written, there := e.template.Conditions[condition]
	if !there {
		return false, fmt.Errorf("the template has no condition %s", condition)
	}
	made, err := e.value(written)
	return made == true, err
}

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

func (e *evaluation) substitute(text string) (string, error) {
	var failed error
	made := variable.ReplaceAllStringFunc(text, func(found string) string {
		name, attribute, dotted := strings.Cut(strings.Trim(found, "${}"), ".")
		value, err := "", error(nil)
		if dotted {
			value, err = e.attribute(name, attribute)
		} else {
			value, err = e.reference(name)
		}
		if err != nil {
			failed = err
		}
		return value
	})
	return made, failed
}

// reference returns the value of Ref: a parameter, a pseudo parameter, or the name of a resource.
func (e *evaluation) reference(name string) (string, error) {
	if value, is := e.parameters[name]; is {
		return value, nil
	}
	switch name {
	case "AWS::Partition":
		return e.where.Partition, nil
	case "AWS::Region":
		return e.where.Region, nil
	case "AWS::AccountId":
		return e.where.ID, nil
	case "AWS::URLSuffix":
		return e.where.Suffix, nil
	}
	switch e.template.Resources[name].Type {
	case role:
		return e.property(name, "RoleName")
	case managedPolicy:
		policy, err := e.property(name, "ManagedPolicyName")
		return fmt.Sprintf("arn:%s:iam::%s:policy/%s", e.where.Partition, e.where.ID, policy), err
	case queue:
		named, err := e.property(name, "QueueName")
		return fmt.Sprintf("https://sqs.%s.%s/%s/%s", e.where.Region, e.where.Suffix, e.where.ID, named), err
	}
	return "", fmt.Errorf("a reference to %q leads nowhere", name)
}

func (e *evaluation) attribute(name, attribute string) (string, error) {
	switch e.template.Resources[name].Type + "." + attribute {
	case role + ".Arn":
		named, err := e.property(name, "RoleName")
		return fmt.Sprintf("arn:%s:iam::%s:role/%s", e.where.Partition, e.where.ID, named), err
	case queue + ".Arn":
		named, err := e.property(name, "QueueName")
		return fmt.Sprintf("arn:%s:sqs:%s:%s:%s", e.where.Partition, e.where.Region, e.where.ID, named), err
	case queue + ".QueueName":
		return e.property(name, "QueueName")
	}
	return "", fmt.Errorf("attribute %s of %q leads nowhere", attribute, name)
}

func (e *evaluation) property(name, property string) (string, error) {
	return e.text(e.template.Resources[name].Properties[property])
}

// endsWith reports whether an ARN belongs to the policy with a name.
func endsWith(arn string, name any) bool {
	text, is := name.(string)
	return is && strings.HasSuffix(arn, ":policy/"+text)
}
