package cloudformation

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

var (
	account = Account{Partition: "aws", Region: "us-west-2", ID: "000000000001", Suffix: "amazonaws.com"}
	demo    = map[string]string{"ClusterName": "demo"}
)

// template returns the template that users apply.
func template(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/aws/cloudformation/tenon.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func stackOf(t *testing.T, parameters map[string]string) Stack {
	t.Helper()
	made, err := Evaluate(template(t), account, parameters)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// AWS's resource specification allows every resource; each has the required properties and no unknown
// ones, whether or not the cluster exists.
func TestResourcesMatchTheSpecification(t *testing.T) {
	t.Parallel()
	for there, want := range map[string]int{"yes": 17, "no": 15} {
		made := stackOf(t, map[string]string{"ClusterName": "demo", "ClusterIsThere": there})
		if len(made.Resources) != want {
			t.Errorf("cluster there: %s: %d resources, want %d", there, len(made.Resources), want)
		}
		for name, r := range made.Resources {
			schema, err := jsonschema.NewCompiler().Compile("testdata/cloudformation.schema.json#/definitions/" + r.Type)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(generic(t, r)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// generic returns a resource as JSON has it, with documents as objects instead of text, as CloudFormation
// takes them.
func generic(t *testing.T, r Resource) any {
	t.Helper()
	properties := maps.Clone(r.Properties)
	for key, value := range properties {
		if text, is := value.(string); is && strings.HasSuffix(key, "Document") {
			properties[key] = object(t, text)
		}
	}
	text, err := json.Marshal(Resource{Type: r.Type, Properties: properties})
	if err != nil {
		t.Fatal(err)
	}
	return object(t, string(text))
}

func object(t *testing.T, text string) any {
	t.Helper()
	var made any
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return made
}

// The check finds a property that the specification does not know, so the test above can fail.
func TestTheSpecificationRefuses(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("testdata/cloudformation.schema.json#/definitions/AWS::SQS::Queue")
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(generic(t, Resource{Type: queue, Properties: map[string]any{"QueueNames": "demo"}})) == nil {
		t.Error("a queue with QueueNames is accepted")
	}
}

// The outputs of a stack are the values that the chart and classes need.
func TestOutputs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		parameters map[string]string
		want       map[string]string
	}{
		"as it is": {demo, map[string]string{
			"ControllerRoleArn": "arn:aws:iam::000000000001:role/demo-tenon", "NodeRoleName": "KarpenterNodeRole-demo", "InterruptionQueueName": "demo",
		}},
		"a role with a name": {map[string]string{"ClusterName": "demo", "NodeRoleName": "nodes"}, map[string]string{
			"ControllerRoleArn": "arn:aws:iam::000000000001:role/demo-tenon", "NodeRoleName": "nodes", "InterruptionQueueName": "demo",
		}},
	} {
		if diff := cmp.Diff(tc.want, stackOf(t, tc.parameters).Outputs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The error about a wrong parameter names it.
func TestWrongParameters(t *testing.T) {
	t.Parallel()
	for want, parameters := range map[string]map[string]string{
		"parameter ClusterName has no value":                            nil,
		"the template has no parameter Cluster":                         {"Cluster": "demo"},
		`parameter ClusterIsThere is "maybe", want one of ["yes" "no"]`: {"ClusterName": "demo", "ClusterIsThere": "maybe"},
	} {
		if _, err := Evaluate(template(t), account, parameters); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// eksctl gives the cluster what the stack would give it if the cluster were there.
func TestEksctlSaysTheSame(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/aws/eksctl/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shell := map[string]string{"AWS_PARTITION": account.Partition, "AWS_REGION": account.Region, "AWS_ACCOUNT_ID": account.ID, "CLUSTER_NAME": "demo"}
	var cluster struct {
		Metadata struct{ Name, Region string }
		IAM      struct {
			PodIdentityAssociations []struct{ Namespace, ServiceAccountName, RoleARN string }
		}
		AccessConfig struct {
			AccessEntries []struct{ PrincipalARN, Type string }
		}
	}
	if err := yaml.Unmarshal([]byte(os.Expand(string(text), func(name string) string { return shell[name] })), &cluster); err != nil {
		t.Fatal(err)
	}
	made := stackOf(t, demo)
	identity, access := made.Resources["ControllerIdentity"].Properties, made.Resources["NodeAccess"].Properties
	got := []string{cluster.Metadata.Name}
	for _, a := range cluster.IAM.PodIdentityAssociations {
		got = append(got, a.Namespace, a.ServiceAccountName, a.RoleARN)
	}
	for _, a := range cluster.AccessConfig.AccessEntries {
		got = append(got, a.PrincipalARN, a.Type)
	}
	want := []any{"demo", identity["Namespace"], identity["ServiceAccount"], identity["RoleArn"], access["PrincipalArn"], access["Type"]}
	if !slices.EqualFunc(got, want, func(a string, b any) bool { return a == b }) {
		t.Errorf("eksctl has %q, the stack %q", got, want)
	}
}
