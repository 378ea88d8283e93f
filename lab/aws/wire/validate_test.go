package wire

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"tenon/lab/aws/model"
)

// TestValidate: calls that AWS's models refuse, in every protocol, and what the services answer.
func TestValidate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		service, operation string
		protocol           Protocol
		form               string
		body, query        string
		want               string
	}{
		"EC2, complete":               {"ec2", "TerminateInstances", EC2Query, "InstanceId.1=i-1", "", "", ""},
		"EC2, a list that is missing": {"ec2", "TerminateInstances", EC2Query, "", "", "", "MissingParameter: The request must contain the parameter InstanceId"},
		"EC2, within an element of a list": {"ec2", "CreateFleet", EC2Query, "LaunchTemplateConfigs.1.Overrides.1.InstanceType=m5.large&TargetCapacitySpecification.DefaultTargetCapacityType=spot", "", "",
			"MissingParameter: The request must contain the parameter TargetCapacitySpecification.TotalTargetCapacity"},
		"EC2, a value": {"ec2", "CreateFleet", EC2Query, "Type=sometimes&LaunchTemplateConfigs.1.Version=1&TargetCapacitySpecification.TotalTargetCapacity=1", "", "",
			"InvalidParameterValue: Value (sometimes) for parameter Type is invalid. Valid values are: request, maintain, instant."},
		"EC2, an instance type that the model does not know": {"ec2", "RunInstances", EC2Query, "InstanceType=m99.large&MinCount=1&MaxCount=1", "", "", ""},
		"IAM":                          {"iam", "GetRole", Query, "", "", "", "ValidationError: 1 validation error detected: Value at 'RoleName' failed to satisfy constraint: Member must not be null"},
		"SSM":                          {"ssm", "GetParameter", JSON11, "", "{}", "", "ValidationException: 1 validation error detected: Value at 'Name' failed to satisfy constraint: Member must not be null"},
		"SSM, null":                    {"ssm", "GetParameter", JSON11, "", `{"Name": null}`, "", "ValidationException: 1 validation error detected: Value at 'Name' failed to satisfy constraint: Member must not be null"},
		"SSM, complete":                {"ssm", "GetParameter", JSON11, "", `{"Name": "/a"}`, "", ""},
		"SQS":                          {"sqs", "ReceiveMessage", QueryOrJSON, "", "{}", "", "MissingParameter: The request must contain the parameter QueueUrl"},
		"pricing has its own":          {"pricing", "GetProducts", JSON11, "", "{}", "", "InvalidParameterException: 1 validation error detected: Value at 'ServiceCode' failed to satisfy constraint: Member must not be null"},
		"EKS, a part of a path":        {"eks", "DescribeCluster", RESTJSON, "", "", "", ""},
		"EKS, a value":                 {"eks", "CreateNodegroup", RESTJSON, "", `{"nodegroupName": "a", "subnets": [], "nodeRole": "r", "capacityType": "CHEAP"}`, "", "InvalidParameterException: 1 validation error detected: Value at 'capacityType' failed to satisfy constraint: Member must satisfy enum value set: [ON_DEMAND, SPOT, CAPACITY_BLOCK]"},
		"what the model does not know": {"ec2", "Dance", EC2Query, "", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &Call{Service: &Service{Name: tc.service, Protocol: tc.protocol}, Operation: tc.operation, protocol: tc.protocol, body: []byte(tc.body),
				HTTP: httptest.NewRequest(http.MethodPost, "/?"+tc.query, strings.NewReader(""))}
			if tc.body == "" && tc.protocol <= Query {
				form, err := url.ParseQuery(tc.form)
				if err != nil {
					t.Fatal(err)
				}
				c.form = parseForm(form)
			}
			got := ""
			if err := c.validate(); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestEveryRequiredParameterIsAskedFor: an operation whose model requires parameters refuses a call without any.
func TestEveryRequiredParameterIsAskedFor(t *testing.T) {
	t.Parallel()
	asked := 0
	for name, s := range model.Services() {
		for operation, o := range s.Operations {
			input := o.Shape(o.Input)
			if input == nil {
				continue
			}
			for _, required := range input.Required {
				if m := input.Members[required]; m.Location == "uri" || m.Location == "header" {
					continue
				}
				c := &Call{Service: &Service{Name: name}, Operation: operation, protocol: JSON11, body: []byte("{}"), HTTP: httptest.NewRequest(http.MethodPost, "/", nil)}
				if s.Protocol == "ec2" || s.Protocol == "query" {
					c.form = parseForm(nil)
				}
				if asked++; c.validate() == nil {
					t.Errorf("%s.%s does not ask for %s", name, operation, required)
				}
			}
		}
	}
	if asked < 50 {
		t.Errorf("only %d required parameters: the models are not what they were", asked)
	}
}
