package policy_test

import (
	"fmt"
	"testing"

	"tenon/lab/aws/policy"
)

// IAM User Guide, "Policy evaluation logic": "an explicit deny overrides any allows", "by default, all
// requests are implicitly denied". "IAM JSON policy elements: Condition operators": "If the key that you
// specify in a policy condition is not present in the request context, the values do not match";
// "...IfExists": "If the key is not present, evaluate the condition element as true"; ForAllValues
// "returns true if there are no context keys in the request".
func TestAllows(t *testing.T) {
	t.Parallel()
	keys := func(pairs ...string) map[string][]string {
		m := map[string][]string{}
		for i := 0; i+1 < len(pairs); i += 2 {
			m[pairs[i]] = append(m[pairs[i]], pairs[i+1])
		}
		return m
	}
	const instance = "arn:aws:ec2:us-west-2:000000000001:instance/i-1"
	cases := map[string]struct {
		condition string
		more      string // further statements
		ask       policy.Request
		want      bool
	}{
		"allowed":                       {"", "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance}, true},
		"case of actions":               {"", "", policy.Request{Action: "EC2:terminateinstances", Resource: instance}, true},
		"another action":                {"", "", policy.Request{Action: "ec2:StopInstances", Resource: instance}, false},
		"another kind of resource":      {"", "", policy.Request{Action: "ec2:TerminateInstances", Resource: "arn:aws:ec2:us-west-2:000000000001:volume/v"}, false},
		"another region":                {"", "", policy.Request{Action: "ec2:TerminateInstances", Resource: "arn:aws:ec2:eu-west-1:000000000001:instance/i-1"}, false},
		"a deny goes before":            {"", `,{"Effect":"Deny","Action":"ec2:*","Resource":"*"}`, policy.Request{Action: "ec2:TerminateInstances", Resource: instance}, false},
		"a deny of something else":      {"", `,{"Effect":"Deny","Action":"ec2:Run*","Resource":"*"}`, policy.Request{Action: "ec2:TerminateInstances", Resource: instance}, true},
		"the key has the value":         {`"StringEquals":{"aws:ResourceTag/a":"1"}`, "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance, Keys: keys("aws:resourcetag/a", "1")}, true},
		"the key has another":           {`"StringEquals":{"aws:ResourceTag/a":["1","2"]}`, "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance, Keys: keys("aws:ResourceTag/a", "3")}, false},
		"the key is missing":            {`"StringLike":{"aws:ResourceTag/a":"*"}`, "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance}, false},
		"both conditions":               {`"StringEquals":{"aws:ResourceTag/a":"1"},"StringLike":{"aws:ResourceTag/b":"x*"}`, "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance, Keys: keys("aws:ResourceTag/a", "1", "aws:ResourceTag/b", "y")}, false},
		"a negated one without the key": {`"StringNotEquals":{"k":"1"}`, "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance}, true},
		"if it exists, and does not":    {`"StringEqualsIfExists":{"k":"1"}`, "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance}, true},
		"if it exists, and differs":     {`"StringEqualsIfExists":{"k":"1"}`, "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance, Keys: keys("k", "2")}, false},
		"all values are among":          {`"ForAllValues:StringEquals":{"k":["1","2"]}`, "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance, Keys: keys("k", "1", "k", "2")}, true},
		"one value is not":              {`"ForAllValues:StringEquals":{"k":["1"]}`, "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance, Keys: keys("k", "1", "k", "2")}, false},
		"no value at all":               {`"ForAllValues:StringEquals":{"k":["1"]}`, "", policy.Request{Action: "ec2:TerminateInstances", Resource: instance}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:TerminateInstances"],"Resource":"arn:aws:ec2:us-west-2:*:instance/*","Condition":{%s}}%s]}`, tc.condition, tc.more)
			d, err := policy.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if got := policy.Allows([]policy.Document{d}, tc.ask); got != tc.want {
				t.Errorf("allowed: %t, want %t", got, tc.want)
			}
		})
	}
}

// Parse refuses what is not modelled.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"Statement":[{"Effect":"Allow","NotAction":"a:b","Resource":"*"}]}`,
		`{"Statement":[{"Effect":"Allow","Action":"a:b","Resource":"*","Condition":{"DateGreaterThan":{"k":"1"}}}]}`,
		`{"Statement":[{"Effect":"Perhaps","Action":"a:b","Resource":"*"}]}`, `{`,
	} {
		if _, err := policy.Parse([]byte(text)); err == nil {
			t.Errorf("read: %s", text)
		}
	}
}
