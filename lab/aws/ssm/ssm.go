// Package ssm is the wire interface of SSM's parameters, which name the images.
package ssm

import (
	"strings"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/policy"
	"tenon/lab/aws/wire"
)

// Service serves SSM on the given world.
func Service(w *accounts.World) *wire.Service {
	return &wire.Service{
		Name: "ssm", Protocol: wire.JSON11, Target: "AmazonSSM",
		Operations: map[string]wire.Handler{
			"GetParameter":        on(w, one),
			"GetParameters":       on(w, several),
			"GetParametersByPath": on(w, below),
		},
	}
}

func on[In, Out any](w *accounts.World, do func(*accounts.Region, *In) (*Out, error)) wire.Handler {
	return wire.Operation(func(c *wire.Call, in *In) (out *Out, err error) {
		err = w.Do(c.Account, c.Region, func(r *accounts.Region) error {
			out, err = do(r, in)
			return err
		})
		return out, err
	})
}

type item struct {
	ARN      string
	Name     string
	Type     string
	Value    string
	Version  int
	DataType string
	Modified float64 `json:"LastModifiedDate"`
}

func itemOf(r *accounts.Region, p accounts.Parameter) item {
	return item{r.ARN("ssm", "parameter"+p.Name), p.Name, "String", p.Value, p.Version, "text", float64(p.Modified.UnixMilli()) / 1000}
}

type oneInput struct {
	Name           string
	WithDecryption bool
}

type oneOutput struct{ Parameter item }

// Asks returns the action on the parameter; AWS's parameters belong to no account.
func (in *oneInput) Asks(action string, r *accounts.Region) []policy.Request {
	arn := r.ARN("ssm", "parameter"+in.Name)
	if strings.HasPrefix(in.Name, "/aws/service/") {
		arn = strings.Replace(arn, r.Account.ID, "", 1)
	}
	return []policy.Request{{Action: action, Resource: arn}}
}

func one(r *accounts.Region, in *oneInput) (*oneOutput, error) {
	p, err := r.Parameter(in.Name)
	if err != nil {
		return nil, err
	}
	return &oneOutput{itemOf(r, p)}, nil
}

type severalInput struct {
	Names          []string
	WithDecryption bool
}

type severalOutput struct {
	Parameters        []item
	InvalidParameters []string
}

func several(r *accounts.Region, in *severalInput) (*severalOutput, error) {
	if len(in.Names) < 1 || len(in.Names) > 10 {
		return nil, wire.Errorf("ValidationException", "%d names: Member must have length less than or equal to 10", len(in.Names))
	}
	out := &severalOutput{Parameters: []item{}, InvalidParameters: []string{}}
	for _, name := range in.Names {
		p, err := r.Parameter(name)
		if err != nil {
			out.InvalidParameters = append(out.InvalidParameters, name)
			continue
		}
		out.Parameters = append(out.Parameters, itemOf(r, p))
	}
	return out, nil
}

type belowInput struct {
	Path           string
	Recursive      bool
	WithDecryption bool
	MaxResults     *int
	NextToken      string
}

type belowOutput struct {
	Parameters []item
	NextToken  string `json:",omitempty"`
}

func below(r *accounts.Region, in *belowInput) (*belowOutput, error) {
	if !in.Recursive {
		return nil, wire.Errorf("ValidationException", "The emulator lists parameters recursively only.")
	}
	page, next, err := wire.Page(r.Parameters(in.Path), func(p accounts.Parameter) string { return p.Name }, in.MaxResults, in.NextToken, wire.Limits{Min: 1, Max: 10})
	out := &belowOutput{Parameters: []item{}, NextToken: next}
	for _, p := range page {
		out.Parameters = append(out.Parameters, itemOf(r, p))
	}
	return out, err
}
