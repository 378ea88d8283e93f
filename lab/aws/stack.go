package aws

import (
	"fmt"
	"slices"

	"tenon/cloud/aws/stack"
	"tenon/lab/aws/cloudformation"
	"tenon/lab/aws/policy"
)

// Documented returns the policies of the controller's role after the documented CloudFormation template
// has been applied in an account.
func Documented(account, region, cluster, nodeRole string) ([]policy.Document, error) {
	files, err := stack.Files()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(files, func(f stack.File) bool { return f.Path == stack.CloudFormation })
	made, err := cloudformation.Evaluate([]byte(files[at].Text),
		cloudformation.Account{Partition: "aws", Region: region, ID: account, Suffix: "amazonaws.com"},
		map[string]string{"ClusterName": cluster, "NodeRoleName": nodeRole},
	)
	if err != nil {
		return nil, fmt.Errorf("work out the CloudFormation template: %w", err)
	}
	texts, err := made.ControllerPolicies()
	if err != nil {
		return nil, fmt.Errorf("policies of the CloudFormation template: %w", err)
	}
	var documents []policy.Document
	for _, text := range texts {
		document, err := policy.Parse([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("policy of the CloudFormation template: %w", err)
		}
		documents = append(documents, document)
	}
	return documents, nil
}
