package pages

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/lab/labtest"
)

// later is what the commands of a page print that shows something else than plans.
var later = map[string][]Want{
	"interruption": {{Command: "kubectl get events", Prints: "SpotInterrupted"}},
}

// prepared are manifests that need something of the reader's account, or a change that the manifest asks for, with how they are applied.
var prepared = map[string]func(t *testing.T, s *Shell) (apply string){
	"custom-image": func(t *testing.T, s *Shell) string {
		ownImage(t, s, map[string]string{"team": "platform", "image": "hardened-1.36"})
		return "kubectl apply -f examples/how-to/custom-image.yaml"
	},
	"volumes": func(*testing.T, *Shell) string {
		return `sed 's|, annotations: {pv.kubernetes.io/bind-completed: "yes"}||' examples/how-to/volumes.yaml | kubectl apply -f -`
	},
}

// Each manifest of a how-to page does what its page plans: applied to a cluster, all its pods get nodes. The page's other
// commands are run then. What "tenon plan" prints is compared by the tests of internal/cli in every run.
func TestHowTo(t *testing.T) {
	byHand(t)
	root, err := labtest.Repository()
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := filepath.Glob(filepath.Join(root, "examples", "how-to", "*.yaml"))
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	for _, path := range manifests {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := beside(t, labtest.Start(t))
			apply := "kubectl apply -f examples/how-to/" + name + ".yaml"
			if prepare, is := prepared[name]; is {
				apply = prepare(t, s)
			}
			if !strings.Contains(string(text), "not to be applied") {
				s.Run([]Step{{Command: apply}, {Command: "kubectl get nodeclaims -w"}},
					Want{Command: "kubectl get nodeclaims -w", Prints: " True "})
			}
			s.Run(unplanned(t, "docs/how-to/"+name+".md"), later[name]...)
		})
	}
}

// ownImage copies the newest image of AL2023 into the reader's account, and gives it tags.
func ownImage(t *testing.T, s *Shell, tags map[string]string) {
	t.Helper()
	url, _ := s.Do("echo $AWS_ENDPOINT_URL")
	client := ec2.New(ec2.Options{Region: "us-west-2", BaseEndpoint: sdk.String(strings.TrimSpace(url)), Credentials: credentials.NewStaticCredentialsProvider("000000000001", "lab", "")})
	found, err := client.DescribeImages(t.Context(), &ec2.DescribeImagesInput{
		Owners: []string{"amazon"}, Filters: []types.Filter{{Name: sdk.String("name"), Values: []string{"amazon-eks-node-al2023-x86_64-standard-*"}}},
	})
	if err != nil || len(found.Images) == 0 {
		t.Fatalf("no image to copy: %v", err)
	}
	newest := slices.MaxFunc(found.Images, func(a, b types.Image) int {
		return cmp.Compare(sdk.ToString(a.CreationDate), sdk.ToString(b.CreationDate))
	})
	specification := types.TagSpecification{ResourceType: types.ResourceTypeImage}
	for key, value := range tags {
		specification.Tags = append(specification.Tags, types.Tag{Key: &key, Value: &value})
	}
	_, err = client.CopyImage(t.Context(), &ec2.CopyImageInput{
		Name: sdk.String("own"), SourceImageId: newest.ImageId, SourceRegion: sdk.String("us-west-2"), TagSpecifications: []types.TagSpecification{specification},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// unplanned are the steps of a page that are no plans.
func unplanned(t *testing.T, page string) []Step {
	t.Helper()
	all, err := Read(page)
	if err != nil {
		t.Fatal(err)
	}
	var steps []Step
	for _, s := range all {
		if !strings.HasPrefix(s.Command, "bin/tenon plan -f examples/how-to/") {
			steps = append(steps, s)
		}
	}
	return steps
}

// looks are pages whose commands look at a cluster, or prepare an account, and what they print there.
var looks = map[string][]Want{
	"README.md": {
		{Command: "bin/tenon plan -f examples/basic.yaml -f examples/spot", Prints: "Pods without a place", Status: 2},
		{Command: "bin/tenon plan -f examples/basic.yaml -f examples/inflate.yaml --scale", Prints: "New nodes", Status: 2},
	},
	"docs/aws.md":                             nil,
	"docs/reference/buffers.md":               nil,
	"docs/reference/provisioning-requests.md": nil,
	"docs/reference/rollouts.md":              nil,
	"docs/reference/staying.md":               nil,
}

// The commands of these pages do what they say in a cluster that has the basic example.
func TestPagesThatLook(t *testing.T) {
	lab := labtest.Start(t)
	s := beside(t, lab)
	s.Run([]Step{{Command: "kubectl apply -f examples/how-to/basic-pool.yaml"}, {Command: "kubectl get nodeclaims -w"}})
	for name, wants := range looks {
		t.Run(name, func(t *testing.T) {
			steps := read(t, name)
			for i := range steps {
				steps[i].Shown = nil // what a page about something else shows is an example
			}
			beside(t, lab).Run(steps, wants...)
		})
	}
}

// beside is the shell of a reader who has a lab running in .lab.
func beside(t *testing.T, lab *labtest.Lab) *Shell {
	t.Helper()
	environment := []string{"KUBECONFIG=" + lab.Directory.Kubeconfig()}
	text, err := os.ReadFile(lab.Directory.Environment())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "AWS_") {
			environment = append(environment, strings.TrimSpace(line))
		}
	}
	s := NewShell(t, environment...)
	if err := os.Symlink(string(lab.Directory), s.path(".lab")); err != nil {
		t.Fatal(err)
	}
	return s
}
