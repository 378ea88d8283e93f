package settings

import (
	"fmt"
	"strings"
)

//go:generate go test . -run ^TestReferencePageIsCurrent$ -rewrite

// Reference is the page docs/reference/settings.md. It is generated, so that what people read is
// what the program does; a test holds the two together.
func Reference() string {
	var page strings.Builder
	page.WriteString(referenceHead)
	for _, group := range Groups() {
		fmt.Fprintf(&page, "\n## %s\n\n| flag | environment | default | kind | meaning |\n| --- | --- | --- | --- | --- |\n", group)
		for _, o := range Options() {
			if o.Group == group {
				page.WriteString(row(o))
			}
		}
	}
	page.WriteString(referenceTail)
	return page.String()
}

func row(o Option) string {
	usage := o.Usage
	if o.Own {
		usage += " *(Tenon's own)*"
	}
	shown := "–"
	if o.Default != "" {
		shown = "`" + strings.ReplaceAll(o.Default, ",", "`, `") + "`"
	}
	return fmt.Sprintf("| `--%s` | `%s` | %s | %s | %s |\n", o.Flag, o.Env, shown, strings.ReplaceAll(o.Kind(), "|", `\|`), usage)
}

const referenceHead = `<!-- Generated from internal/settings by "make generate"; do not edit. -->
# Settings of ` + "`tenon controller`" + `

A flag beats the environment variable, which beats the default. Names and defaults are Karpenter's, so a chart's
values keep working; what Karpenter does not have is marked.

- Boolean flags are exactly ` + "`true` or `false`" + `. In the environment ` + "`1`, `t`, `TRUE`, `0`, `f`, `FALSE`" + ` are understood too.
- A boolean, number, fraction, byte count or duration in the environment that cannot be read is ignored with a warning in the log, and the
  default is used. On the command line it is an error.
- Every other wrong value stops the start, with a message that names the setting, the value and the remedy. All of
  them are reported at once.
`

const referenceTail = `
## Also read

| environment | by |
| --- | --- |
| ` + "`AWS_REGION`, `AWS_ENDPOINT_URL` and the rest of the AWS SDK's variables" + ` | the AWS provider, through the SDK |
| ` + "`KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT`" + ` | set by the kubelet; how a pod finds its API server |
| ` + "`KUBERNETES_MIN_VERSION`, `SYSTEM_NAMESPACE`" + ` | nobody: charts set them, they are accepted and have no effect |
`
