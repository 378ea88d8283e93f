package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"sigs.k8s.io/yaml"

	"tenon/lab/aws/cloudformation"
)

// AccountEnv names the file in which the players keep what the page has made in the account.
const AccountEnv = "PAGES_ACCOUNT"

// registry is what the page has made in the account, beyond what the emulated AWS has.
type registry struct {
	Account, Region string
	Stacks          map[string]cloudformation.Stack `json:",omitempty"`
	Clusters        []string                        `json:",omitempty"`
	Repositories    []string                        `json:",omitempty"`
}

func (r registry) host() string { return r.Account + ".dkr.ecr." + r.Region + ".amazonaws.com" }

// Left says what the page has made in the account and not deleted.
func Left(path string) ([]string, error) {
	r, err := registryAt(path)
	if err != nil {
		return nil, err
	}
	left := append(r.Clusters, r.Repositories...)
	for name := range r.Stacks {
		left = append(left, name)
	}
	return left, nil
}

// readRegistry begins with an account in which there is nothing.
func readRegistry() (registry, error) {
	r, err := registryAt(os.Getenv(AccountEnv))
	if !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	ctx := context.Background()
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return r, err
	}
	answer, err := sts.NewFromConfig(settings).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return r, err
	}
	r.Account, r.Region = sdk.ToString(answer.Account), settings.Region
	return r, nil
}

func registryAt(path string) (registry, error) {
	r := registry{Stacks: map[string]cloudformation.Stack{}}
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

func (r registry) write() error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(os.Getenv(AccountEnv), text, 0o600)
}

// call is a command of AWS's command line: two words, and options with their values.
type call struct {
	words   string
	options map[string][]string
}

func parse(args []string) call {
	c := call{options: map[string][]string{}}
	option := ""
	for i, a := range args {
		switch {
		case i < 2:
			c.words = strings.TrimSpace(c.words + " " + a)
		case strings.HasPrefix(a, "--"):
			option = a
			c.options[option] = []string{}
		default:
			c.options[option] = append(c.options[option], a)
		}
	}
	return c
}

// one is the value of an option that has to be there.
func (c call) one(option string) (string, error) {
	if len(c.options[option]) != 1 || c.options[option][0] == "" {
		return "", fmt.Errorf("%s: option %s has %q, want one value", c.words, option, c.options[option])
	}
	return c.options[option][0], nil
}

// only refuses options that the command does not have.
func (c call) only(options ...string) error {
	for o := range c.options {
		if !slices.Contains(options, o) {
			return fmt.Errorf("%s: no option %s is played", c.words, o)
		}
	}
	return nil
}

// account plays AWS's command line. The number of the account comes from the emulated AWS.
func account(args []string) error {
	c := parse(args)
	r, err := readRegistry()
	if err != nil {
		return err
	}
	switch c.words {
	case "sts get-caller-identity":
		if query := c.options["--query"]; len(query) != 1 || query[0] != "Account" {
			return fmt.Errorf("query %q: %w", query, errUnplayed)
		}
		fmt.Println(r.Account)
	case "cloudformation deploy":
		err = r.deploy(c)
	case "cloudformation delete-stack":
		err = r.deleteStack(c)
	case "iam create-service-linked-role":
		if name := c.options["--aws-service-name"]; len(name) != 1 || name[0] != "spot.amazonaws.com" {
			return fmt.Errorf("service %q: %w", name, errUnplayed)
		}
	case "ecr create-repository":
		var name string
		name, err = c.one("--repository-name")
		r.Repositories = append(r.Repositories, name)
	case "ecr delete-repository":
		err = r.deleteRepository(c)
	case "ecr get-login-password":
		fmt.Println("secret")
		return nil // its neighbour in the pipe reads the file
	default:
		return fmt.Errorf("%q: %w", args, errUnplayed)
	}
	if err != nil {
		return err
	}
	return r.write()
}

func (r registry) deploy(c call) error {
	if err := c.only("--stack-name", "--template-file", "--capabilities", "--parameter-overrides"); err != nil {
		return err
	}
	name, err := c.one("--stack-name")
	if err != nil {
		return err
	}
	file, err := c.one("--template-file")
	if err != nil {
		return err
	}
	if !slices.Contains(c.options["--capabilities"], "CAPABILITY_NAMED_IAM") {
		return fmt.Errorf("stack %s: it makes roles with names, which wants --capabilities CAPABILITY_NAMED_IAM", name)
	}
	template, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	parameters := map[string]string{}
	for _, o := range c.options["--parameter-overrides"] {
		key, value, _ := strings.Cut(o, "=")
		parameters[key] = value
	}
	where := cloudformation.Account{Partition: "aws", Region: r.Region, ID: r.Account, Suffix: "amazonaws.com"}
	r.Stacks[name], err = cloudformation.Evaluate(template, where, parameters)
	return err
}

func (r registry) deleteStack(c call) error {
	name, err := c.one("--stack-name")
	if err != nil {
		return err
	}
	if _, there := r.Stacks[name]; !there {
		return fmt.Errorf("there is no stack %s", name)
	}
	if len(r.Clusters) > 0 {
		return fmt.Errorf("the cluster %s still uses the roles of %s", r.Clusters[0], name)
	}
	delete(r.Stacks, name)
	return nil
}

func (r *registry) deleteRepository(c call) error {
	name, err := c.one("--repository-name")
	if err != nil {
		return err
	}
	at := slices.Index(r.Repositories, name)
	if _, force := c.options["--force"]; at < 0 || !force {
		return fmt.Errorf("delete %s with its images: there is %q, and it wants --force", name, r.Repositories)
	}
	r.Repositories = slices.Delete(r.Repositories, at, at+1)
	return nil
}

// eksctl makes a cluster of a file, if the roles that the file names are there, and deletes it.
func eksctl(args []string) error {
	r, err := readRegistry()
	if err != nil {
		return err
	}
	switch command := strings.Join(args, " "); {
	case command == "create cluster -f -":
		err = r.makeCluster()
	case strings.HasPrefix(command, "delete cluster --name ") && slices.Contains(r.Clusters, args[3]):
		r.Clusters = slices.DeleteFunc(r.Clusters, func(name string) bool { return name == args[3] })
	default:
		return fmt.Errorf("%q, with the clusters %q: %w", command, r.Clusters, errUnplayed)
	}
	if err != nil {
		return err
	}
	return r.write()
}

func (r *registry) makeCluster() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var file struct {
		Metadata struct{ Name, Region string }
		IAM      struct {
			PodIdentityAssociations []struct{ RoleARN string }
		}
		AccessConfig struct {
			AccessEntries []struct{ PrincipalARN string }
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return err
	}
	if file.Metadata.Name == "" || file.Metadata.Region != r.Region {
		return fmt.Errorf("cluster %q in region %q, want one in %s", file.Metadata.Name, file.Metadata.Region, r.Region)
	}
	var roles []string
	for _, a := range file.IAM.PodIdentityAssociations {
		roles = append(roles, a.RoleARN)
	}
	for _, e := range file.AccessConfig.AccessEntries {
		roles = append(roles, e.PrincipalARN)
	}
	for _, arn := range roles {
		if !r.hasRole(arn) {
			return fmt.Errorf("no stack has made the role %s", arn)
		}
	}
	r.Clusters = append(r.Clusters, file.Metadata.Name)
	return nil
}

func (r *registry) hasRole(arn string) bool {
	for _, stack := range r.Stacks {
		for _, made := range stack.Resources {
			if made.Type == "AWS::IAM::Role" && arn == fmt.Sprintf("arn:aws:iam::%s:role/%v", r.Account, made.Properties["RoleName"]) {
				return true
			}
		}
	}
	return false
}
