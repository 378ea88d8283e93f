package ami

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"
	clocktesting "k8s.io/utils/clock/testing"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
)

// partial has parameters for x86_64 and arm64; reading the one for x86_64 fails.
type partial struct {
	api.EC2Images
	api.SSM
	err error
}

func (p partial) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	if strings.Contains(*in.Name, "arm64/standard") {
		return &ssm.GetParameterOutput{Parameter: &types.Parameter{Value: aws.String("ami-arm")}}, nil
	}
	return nil, p.err
}

func (partial) DescribeImages(context.Context, *ec2.DescribeImagesInput, ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	return &ec2.DescribeImagesOutput{Images: []ec2types.Image{found("arm", "arm64", 1, 0).Image}}, nil
}

// The finder skips a parameter that does not exist. A parameter that it cannot read is an error: the
// remaining images would make nodes with the missing image drift.
func TestAParameterThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err   error
		fails bool
	}{
		"it does not exist":  {&smithy.GenericAPIError{Code: "ParameterNotFound"}, false},
		"too many calls":     {&smithy.GenericAPIError{Code: "ThrottlingException"}, true},
		"it is forbidden":    {&smithy.GenericAPIError{Code: "AccessDeniedException"}, true},
		"there is no answer": {errors.New("connection reset"), true},
	} {
		aws := partial{err: tc.err}
		f := New(aws, aws, clocktesting.NewFakePassiveClock(now), time.Minute, func(context.Context) (string, error) { return "1.34", nil })
		class := &awsv1.EC2NodeClass{Spec: awsv1.EC2NodeClassSpec{AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}}}
		images, err := f.Find(t.Context(), class)
		if (err != nil) != tc.fails || !tc.fails && len(images) != 1 {
			t.Errorf("%s: images %v, error %v", name, images, err)
		}
	}
}
