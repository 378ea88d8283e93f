package planning

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/internal/ingest"
	"tenon/internal/intervention"
)

// interventions are the last changes of objects by hand. A snapshot file, which has no objects, has none.
func interventions(objects *ingest.Objects) map[string]string {
	if objects == nil {
		return nil
	}
	out := map[string]string{}
	add := func(kind string, o metav1.Object) {
		if r, found := intervention.RecordOf(o); found {
			out[kind+"/"+o.GetName()] = r.String()
		}
	}
	for _, o := range objects.Nodes {
		add("node", o)
	}
	for _, o := range objects.NodeClaims {
		add("nodeclaim", o)
	}
	for _, o := range objects.NodePools {
		add("nodepool", o)
	}
	for _, o := range objects.NodeGroups {
		add("nodegroup", o)
	}
	return out
}
