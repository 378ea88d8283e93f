package monitoring

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// Page is the path of the page that explains the alerts' remedies, from the folder of the
// documents.
const Page = "reference/dashboards-and-alerts.md"

// Rules returns the alerts as Prometheus reads them from a file. Links begin with the address at
// which the documents are published.
func Rules(documents string) ([]byte, error) {
	rules := make([]object, 0, len(Alerts()))
	for _, a := range Alerts() {
		rules = append(rules, object{
			"alert": a.Name, "expr": a.Expr, "for": a.For, "labels": object{"severity": a.Severity},
			"annotations": object{
				"summary": a.Summary, "description": a.Because, "remedy": strings.Join(a.Remedy, " "),
				"runbook_url": documents + Page + "#" + a.Anchor(),
			},
		})
	}
	text, err := yaml.Marshal(object{"groups": []object{{"name": "tenon", "rules": rules}}})
	if err != nil {
		return nil, fmt.Errorf("write the alerts: %w", err)
	}
	return text, nil
}
