package iam

import (
	"strings"
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// TokenService serves STS. It hands out credentials for every request: the emulator has no secrets. An
// access key that it hands out is the number of its account.
func TokenService(w *accounts.World) *wire.Service {
	t := tokens{w}
	return &wire.Service{
		Name: "sts", Protocol: wire.Query, Version: "2011-06-15", Namespace: "https://sts.amazonaws.com/doc/2011-06-15/",
		Operations: map[string]wire.Handler{
			"GetCallerIdentity":         wire.Operation(t.identity),
			"AssumeRole":                wire.Operation(t.assume),
			"AssumeRoleWithWebIdentity": wire.Operation(t.assumeByWeb),
		},
		Anonymous: map[string]bool{"AssumeRoleWithWebIdentity": true},
	}
}

type tokens struct{ world *accounts.World }

type identityOutput struct {
	ARN     string `xml:"Arn"`
	User    string `xml:"UserId"`
	Account string `xml:"Account"`
}

func (tokens) identity(c *wire.Call, _ *none) (*identityOutput, error) {
	return &identityOutput{"arn:aws:sts::" + c.Account + ":assumed-role/lab/lab", "AROALAB:lab", c.Account}, nil
}

type assumeInput struct {
	Role     string `query:"RoleArn"`
	Session  string `query:"RoleSessionName"`
	Duration int    `query:"DurationSeconds"`
}

type assumeOutput struct {
	Credentials credentials `xml:"Credentials"`
	User        struct {
		ID  string `xml:"AssumedRoleId"`
		ARN string `xml:"Arn"`
	} `xml:"AssumedRoleUser"`
}

type credentials struct {
	Key     string `xml:"AccessKeyId"`
	Secret  string `xml:"SecretAccessKey"`
	Token   string `xml:"SessionToken"`
	Expires string `xml:"Expiration"`
}

func (t tokens) assume(c *wire.Call, in *assumeInput) (*assumeOutput, error) {
	parts := strings.SplitN(in.Role, ":", 6)
	if len(parts) != 6 || !strings.HasPrefix(parts[5], "role/") || len(parts[4]) != 12 {
		return nil, wire.Errorf("ValidationError", "%s is invalid", in.Role)
	}
	duration := time.Duration(in.Duration) * time.Second
	if duration == 0 {
		duration = time.Hour
	}
	out := &assumeOutput{}
	err := t.world.Do(parts[4], c.Region, func(r *accounts.Region) error {
		out.Credentials = credentials{parts[4], "secret", "token", stamp(r.Now().Add(duration))}
		return nil
	})
	out.User.ID = "AROALAB:" + in.Session
	out.User.ARN = "arn:aws:sts::" + parts[4] + ":assumed-" + parts[5] + "/" + in.Session
	return out, err
}

type webInput struct {
	assumeInput
	Token string `query:"WebIdentityToken"`
}

func (t tokens) assumeByWeb(c *wire.Call, in *webInput) (*assumeOutput, error) {
	if in.Token == "" {
		return nil, wire.Errorf("InvalidIdentityToken", "No token was given.")
	}
	return t.assume(c, &in.assumeInput)
}
