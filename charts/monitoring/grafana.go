package monitoring

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A dashboard is 24 columns wide on every screen.
const (
	columns    = 24
	rowHeight  = 1
	lineHeight = 8
	statHeight = 4
	perRow     = 4
)

// schemaVersion is Grafana 10's: later versions of Grafana read it and convert it.
const schemaVersion = 39

type object = map[string]any

// JSON returns the dashboard as Grafana imports it. The reader chooses the data source.
func (d Dashboard) JSON() ([]byte, error) {
	page := object{
		"uid": "tenon-" + d.Name, "title": d.Title, "description": d.Help, "tags": []string{"tenon"},
		"schemaVersion": schemaVersion, "version": 1, "editable": true, "graphTooltip": 1,
		"timezone": "browser", "refresh": "30s", "time": object{"from": "now-6h", "to": "now"},
		"links": []any{object{
			"title": "Tenon", "type": "dashboards", "tags": []string{"tenon"}, "asDropdown": true, "includeVars": true, "keepTime": true,
			"icon": "external link", "tooltip": "", "url": "", "targetBlank": false,
		}},
		"annotations": object{"list": []any{}},
		"templating":  object{"list": variables()},
		"panels":      d.panels(),
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(page); err != nil {
		return nil, fmt.Errorf("write dashboard %s: %w", d.Name, err)
	}
	return text.Bytes(), nil
}

var source = object{"type": "prometheus", "uid": "${datasource}"}

func variables() []any {
	const pools = "label_values(karpenter_nodepools_usage, nodepool)"
	return []any{
		object{"name": "datasource", "label": "Source", "type": "datasource", "query": "prometheus", "hide": 0},
		object{
			"name": "nodepool", "label": "Pool", "type": "query", "datasource": source, "definition": pools,
			"query": object{"query": pools, "refId": "nodepool"}, "refresh": 2, "sort": 1, "hide": 0,
			"multi": true, "includeAll": true, "allValue": ".*", "current": object{"text": "All", "value": "$__all"},
		},
	}
}

// panels returns the rows' headlines and their panels, placed from left to right and from top to
// bottom.
func (d Dashboard) panels() []any {
	var out []any
	y := 0
	for _, row := range d.Rows {
		out = append(out, object{
			"id": len(out) + 1, "type": "row", "title": row.Title, "collapsed": false, "panels": []any{},
			"gridPos": object{"x": 0, "y": y, "w": columns, "h": rowHeight},
		})
		y += rowHeight
		for first := 0; first < len(row.Panels); first += perRow {
			line := row.Panels[first:min(first+perRow, len(row.Panels))]
			width, height := columns/len(line), lineHeight
			if line[0].Number {
				height = statHeight
			}
			for i, p := range line {
				panel := p.object()
				panel["id"], panel["gridPos"] = len(out)+1, object{"x": i * width, "y": y, "w": width, "h": height}
				out = append(out, panel)
			}
			y += height
		}
	}
	return out
}

func (p Panel) object() object {
	targets := make([]any, len(p.Queries))
	for i, q := range p.Queries {
		targets[i] = object{
			"refId": string(rune('A' + i)), "datasource": source, "expr": q.Expr, "legendFormat": q.Legend,
			"editorMode": "code", "range": !p.Number, "instant": p.Number,
		}
	}
	out := object{
		"title": p.Title, "description": p.Help, "datasource": source, "targets": targets,
		"fieldConfig": object{"defaults": object{"unit": p.Unit, "min": 0}, "overrides": []any{}},
	}
	if p.Number {
		out["type"] = "stat"
		out["options"] = object{
			"reduceOptions": object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
			"colorMode":     "none", "graphMode": "none", "textMode": "value", "justifyMode": "auto", "orientation": "auto",
		}
		return out
	}
	out["type"] = "timeseries"
	out["options"] = object{
		"legend":  object{"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []string{}},
		"tooltip": object{"mode": "multi", "sort": "desc"},
	}
	return out
}
