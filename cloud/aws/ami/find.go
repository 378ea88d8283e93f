package ami

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/network"
)

// How long the Finder keeps the values of parameters. (As in Karpenter.)
const (
	parameterHolds = 24 * time.Hour
	namedHolds     = 5 * time.Minute
)

// Finder finds images, and remembers them for a while.
type Finder struct {
	ec2        api.EC2Images
	ssm        api.SSM
	clock      clock.PassiveClock
	kubernetes func(context.Context) (string, error)
	images     *api.Cache[revision, []awsv1.AMI]
	parameters *api.Cache[asked, string]
}

// revision identifies a class as its user last changed it, on a version of Kubernetes.
type revision struct {
	uid        string
	generation int64
	kubernetes string
}

// asked is a parameter that the Finder has read; it says whether the parameter follows new releases.
type asked struct {
	name  string
	moves bool
}

// New makes a finder that remembers images for a time. It asks for the cluster's version,
// such as 1.34, when a class has an alias.
func New(ec2 api.EC2Images, ssm api.SSM, c clock.PassiveClock, hold time.Duration, kubernetes func(context.Context) (string, error)) *Finder {
	return &Finder{
		ec2: ec2, ssm: ssm, clock: c, kubernetes: kubernetes,
		images:     api.NewCache[revision, []awsv1.AMI](c, hold),
		parameters: api.NewCache[asked, string](c, parameterHolds),
	}
}

// Find returns the images that a class selects, in the form of the class's status.
func (f *Finder) Find(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.AMI, error) {
	key := revision{uid: string(class.UID), generation: class.Generation}
	alias, aliased, err := class.Spec.Alias()
	if err == nil && aliased {
		key.kubernetes, err = f.kubernetes(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("find the images of class %s: %w", class.Name, err)
	}
	return f.images.Get(ctx, key, func(ctx context.Context) ([]awsv1.AMI, error) {
		found, err := f.ask(ctx, class.Spec.AMISelectorTerms, alias, aliased, key.kubernetes)
		if err != nil {
			return nil, fmt.Errorf("find the images of class %s: %w", class.Name, err)
		}
		return reduce(found, f.clock.Now()), nil
	})
}

func (f *Finder) ask(ctx context.Context, terms []awsv1.AMISelectorTerm, alias awsv1.Alias, aliased bool, kubernetes string) ([]image, error) {
	kinds := map[string][][]corev1.NodeSelectorRequirement{} // by ID of the image
	if aliased {
		if err := f.askAlias(ctx, alias, kubernetes, kinds); err != nil {
			return nil, err
		}
	}
	queries, err := f.queries(ctx, terms, kinds)
	if err != nil {
		return nil, err
	}
	var found []image
	for _, q := range queries {
		answer, err := f.describe(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, i := range answer {
			found = append(found, image{Image: i, kinds: kinds[aws.ToString(i.ImageId)]})
		}
	}
	return found, nil
}

// askAlias notes the images of an alias. Some variants do not exist for every release, so it skips a
// parameter that does not exist, as long as others do. A parameter that it cannot read is an error: without
// that parameter's image, the nodes that run it would seem to have drifted.
func (f *Finder) askAlias(ctx context.Context, alias awsv1.Alias, kubernetes string, kinds map[string][][]corev1.NodeSelectorRequirement) error {
	var failed []error
	for _, p := range parametersOf(alias, kubernetes) {
		id, err := f.parameter(ctx, asked{p.name, p.moves}, parameterHolds)
		switch {
		case api.IsNotFound(err):
			failed = append(failed, err)
			continue
		case err != nil:
			return err
		}
		kinds[id] = append(kinds[id], p.kinds...)
	}
	if len(kinds) == 0 {
		return fmt.Errorf("failed to discover any AMIs for alias: %w", errors.Join(failed...))
	}
	return nil
}

func (f *Finder) parameter(ctx context.Context, p asked, hold time.Duration) (string, error) {
	if value, known := f.parameters.Peek(p); known {
		return value, nil
	}
	answer, err := f.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(p.name)})
	if err != nil {
		return "", fmt.Errorf("read parameter %s: %w", p.name, err)
	}
	if answer.Parameter == nil {
		return "", fmt.Errorf("read parameter %s: it has no value", p.name)
	}
	value := aws.ToString(answer.Parameter.Value)
	f.parameters.PutFor(p, value, hold)
	return value, nil
}

// queries returns the calls that find the images of terms: one for each term with a name or tags, and one for
// all IDs.
func (f *Finder) queries(ctx context.Context, terms []awsv1.AMISelectorTerm, aliased map[string][][]corev1.NodeSelectorRequirement) ([]ec2.DescribeImagesInput, error) {
	var queries []ec2.DescribeImagesInput
	var ids []string
	for id := range aliased {
		ids = append(ids, id)
	}
	for _, t := range terms {
		switch {
		case t.Alias != "":
		case t.ID != "":
			ids = append(ids, t.ID)
		case t.SSMParameter != "":
			id, err := f.named(ctx, t.SSMParameter)
			if err != nil {
				return nil, err
			}
			if id != "" {
				ids = append(ids, id)
			}
		default:
			queries = append(queries, queryOf(t))
		}
	}
	if len(ids) > 0 {
		slices.Sort(ids)
		queries = append(queries, ec2.DescribeImagesInput{Filters: []types.Filter{network.Filter("image-id", slices.Compact(ids)...)}})
	}
	return queries, nil
}

// named returns the image in a user's own parameter. If there is none, it logs that and returns an empty ID.
func (f *Finder) named(ctx context.Context, name string) (string, error) {
	id, err := f.parameter(ctx, asked{name: name}, namedHolds)
	switch {
	case api.IsNotFound(err):
		logr.FromContextOrDiscard(ctx).Info("parameter of an amiSelectorTerm does not exist", "parameter", name)
		return "", nil
	case err != nil:
		return "", err
	case !strings.HasPrefix(id, "ami-"):
		logr.FromContextOrDiscard(ctx).Info("parameter of an amiSelectorTerm does not hold the id of an image", "parameter", name, "value", id)
		return "", nil
	}
	return id, nil
}

// queryOf finds images by name and tags. Every account can give an image any name, so a term without an owner
// finds only images of this account and of Amazon.
func queryOf(t awsv1.AMISelectorTerm) ec2.DescribeImagesInput {
	q := ec2.DescribeImagesInput{Filters: network.TagFilters(t.Tags)}
	if t.Owner != "" {
		q.Owners = []string{t.Owner}
	}
	if t.Name != "" {
		q.Filters = append(q.Filters, network.Filter("name", t.Name))
		if t.Owner == "" {
			q.Owners = []string{"self", "amazon"}
		}
	}
	return q
}

func (f *Finder) describe(ctx context.Context, q ec2.DescribeImagesInput) ([]types.Image, error) {
	q.Filters = append(q.Filters, network.Filter("state", "available"))
	q.IncludeDeprecated, q.MaxResults = aws.Bool(true), aws.Int32(1000)
	var found []types.Image
	pages := ec2.NewDescribeImagesPaginator(f.ec2, &q)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, page.Images...)
	}
	return found, nil
}

// Recheck looks at the images of parameters that follow new releases. If an image is deprecated or gone,
// Recheck forgets the parameter, which points to another image by now.
func (f *Finder) Recheck(ctx context.Context) error {
	moving := map[string][]asked{} // by image
	for _, p := range f.parameters.Keys() {
		if id, known := f.parameters.Peek(p); known && p.moves {
			moving[id] = append(moving[id], p)
		}
	}
	if len(moving) == 0 {
		return nil
	}
	var ids []string
	for id := range moving {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	answer, err := f.describe(ctx, ec2.DescribeImagesInput{Filters: []types.Filter{network.Filter("image-id", ids...)}})
	if err != nil {
		return fmt.Errorf("look at the images of parameters: %w", err)
	}
	for _, i := range answer {
		if !deprecated(i, f.clock.Now()) {
			delete(moving, aws.ToString(i.ImageId))
		}
	}
	for _, parameters := range moving {
		for _, p := range parameters {
			f.parameters.Forget(p)
		}
	}
	return nil
}
