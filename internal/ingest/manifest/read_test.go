package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/internal/ingest"
)

// write writes files into a new directory and returns its path.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func podYAML(name string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\nspec:\n  containers:\n  - name: c\n    resources:\n      requests: {cpu: 100m}\n"
}

func names(o *ingest.Objects) string {
	var all []string
	for _, pod := range o.Pods {
		all = append(all, pod.Namespace+"/"+pod.Name)
	}
	return strings.Join(all, " ")
}

// "each file holds any number of Kubernetes objects, YAML documents or JSON, Lists
// included"
func TestReadForms(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		files map[string]string
		want  string
	}{
		"one object":             {map[string]string{"a.yaml": podYAML("a")}, "default/a"},
		"documents":              {map[string]string{"a.yaml": "# all pods\n---\n" + podYAML("a") + "---\n# none\n---\n" + podYAML("b") + "---\n"}, "default/a default/b"},
		"windows line ends":      {map[string]string{"a.yaml": strings.ReplaceAll(podYAML("a")+"---\n"+podYAML("b"), "\n", "\r\n")}, "default/a default/b"},
		"byte order mark":        {map[string]string{"a.yaml": "\xef\xbb\xbf" + podYAML("a")}, "default/a"},
		"JSON":                   {map[string]string{"a.json": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"x"}}`}, "x/a"},
		"several JSON values":    {map[string]string{"a.json": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}} {"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}`}, "default/a default/b"},
		"flow style YAML":        {map[string]string{"a.yaml": `{apiVersion: v1, kind: Pod, metadata: {name: a}}`}, "default/a"},
		"a list":                 {map[string]string{"a.yaml": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b}\n"}, "default/a default/b"},
		"a typed list":           {map[string]string{"a.json": `{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`}, "default/a default/b"},
		"a list in a list":       {map[string]string{"a.json": `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"}}]}]}`}, "default/a"},
		"directories, by name":   {map[string]string{"b.yml": podYAML("b"), "a/z.json": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"z"}}`, "c.txt": "not read"}, "default/z default/b"},
		"generated names":        {map[string]string{"a.yaml": strings.Repeat("---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: job-}\n", 2)}, "default/job-0 default/job-1"},
		"the same object twice":  {map[string]string{"a.yaml": podYAML("a"), "b.yaml": podYAML("a")}, "default/a"},
		"anchors and aliases":    {map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: &n a\n  labels: {app: *n}\n"}, "default/a"},
		"objects, content first": {map[string]string{"a.yaml": "metadata:\n  name: a\nkind: Pod\napiVersion: v1\n"}, "default/a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, report, err := Read([]string{write(t, tc.files)}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := names(objects); got != tc.want {
				t.Errorf("pods: %q, want %q", got, tc.want)
			}
			if len(report.Warnings) > 0 {
				t.Errorf("warnings: %q", report.Warnings)
			}
		})
	}
}

func TestReadStdin(t *testing.T) {
	t.Parallel()
	objects, _, err := Read([]string{Stdin}, Options{Stdin: strings.NewReader(podYAML("a"))})
	if err != nil || names(objects) != "default/a" {
		t.Errorf("got %q, %v", names(objects), err)
	}
}

// "Kinds that do not matter are skipped, with a count."
func TestReadSkips(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.yaml": strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", 3) +
		"---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\n---\n" + podYAML("a")})
	objects, report, err := Read([]string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(names(objects), report.Skipped, report.Objects, report.Files); got != "default/amap[ConfigMap.v1:3 CronJob.batch/v1:1] 1 1" {
		t.Errorf("got %s", got)
	}
}

// "1: the input was wrong, with file, document and field in the message"
func TestReadProblems(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, want string }{
		"no mapping":         {"- a\n- b\n", "a.yaml: document 1: want a Kubernetes object, a mapping with apiVersion and kind"},
		"no kind":            {"apiVersion: v1\n", "a.yaml: document 1: kind: is missing"},
		"no name":            {"apiVersion: v1\nkind: Pod\nspec: {}\n", "a.yaml: document 1: Pod: metadata.name: is missing"},
		"malformed YAML":     {podYAML("a") + "---\na: [\n", "a.yaml: document 2: line"},
		"malformed JSON":     {`{"apiVersion": "v1", "kind": }`, "a.yaml: document 1: "},
		"wrong type":         {podYAML("a") + "  priority: high\n", "a.yaml: document 1: Pod a: spec.priority: want an integer, not string"},
		"a list expected":    {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: {name: x}\n", "Pod a: spec.containers: want a list, not object"},
		"wrong quantity":     {podYAML("a") + "  - resources:\n      requests: {memory: 4 GB}\n", "Pod a: spec.containers[1].resources.requests.memory: quantities must match"},
		"wrong duration":     {pool("expireAfter: soon"), `NodePool default: spec.template.spec.expireAfter: duration "soon"`},
		"a typing error":     {pool("requirement: []"), `NodePool default: unknown field "spec.template.spec.requirement"`},
		"an older version":   {strings.Replace(pool(""), "karpenter.sh/v1", "karpenter.sh/v1beta1", 1), "NodePool: apiVersion: NodePool of karpenter.sh/v1beta1 is not known here: NodePool and NodeClaim are of karpenter.sh/v1"},
		"two different ones": {podYAML("a") + "---\n" + strings.Replace(podYAML("a"), "100m", "200m", 1), "document 2: Pod default/a: was given before with other content, in"},
		"in a list":          {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n- apiVersion: v1\n  kind: Pod\n", "a.yaml: document 1, item 2: Pod: metadata.name: is missing"},
		"many":               {strings.Repeat("---\nkind: Pod\n", 25), "and 15 more problems"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Read([]string{write(t, map[string]string{"a.yaml": tc.text})}, Options{})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestReadNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none.yaml")} {
		if _, _, err := Read([]string{path}, Options{}); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

// Fields of a newer cluster are no reason to refuse the output of kubectl.
func TestReadWarnsOfUnknownFields(t *testing.T) {
	t.Parallel()
	newer := "\n  fromTheFuture: 1\n"
	dir := write(t, map[string]string{"a.yaml": podYAML("a") + newer + "---\n" + podYAML("b") + newer})
	objects, report, err := Read([]string{dir}, Options{})
	if err != nil || len(objects.Pods) != 2 {
		t.Fatalf("got %q, %v", names(objects), err)
	}
	want := filepath.Join(dir, "a.yaml") + `: document 1: Pod: unknown field "spec.fromTheFuture" is ignored (and 1 more like it)`
	if len(report.Warnings) != 1 || report.Warnings[0] != want {
		t.Errorf("got  %q\nwant %q", report.Warnings, want)
	}
}

// Of two states of one object of a cluster the newer counts, whichever comes first.
func TestReadTwoStates(t *testing.T) {
	t.Parallel()
	state := func(version, node string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: u, resourceVersion: '" + version + "'}\nspec: {nodeName: " + node + "}\n"
	}
	for _, text := range []string{state("9", "old") + "---\n" + state("10", "new"), state("10", "new") + "---\n" + state("9", "old")} {
		objects, _, err := Read([]string{write(t, map[string]string{"a.yaml": text})}, Options{})
		if err != nil || len(objects.Pods) != 1 || objects.Pods[0].Spec.NodeName != "new" {
			t.Errorf("got %v, %v", objects, err)
		}
	}
}

func pool(more string) string {
	return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: default\nspec:\n  template:\n    spec:\n      nodeClassRef: {group: g, kind: K, name: default}\n      requirements: []\n      " + more + "\n"
}

// The check is for objects that users wrote; those that a cluster has accepted are not checked.
func TestReadChecks(t *testing.T) {
	t.Parallel()
	refuse := Options{Check: func(o metav1.Object) error { return errors.New("no " + o.GetName()) }}
	_, _, err := Read([]string{write(t, map[string]string{"a.yaml": pool("")})}, refuse)
	if err == nil || !strings.HasSuffix(err.Error(), "a.yaml: document 1: NodePool default: no default") {
		t.Errorf("written by a user: got %v", err)
	}
	stored := strings.Replace(pool(""), "name: default", "name: default\n  uid: u", 1)
	if _, _, err := Read([]string{write(t, map[string]string{"a.yaml": stored})}, refuse); err != nil {
		t.Errorf("from a cluster: got %v", err)
	}
}

// Big lists are cut into items before they are decoded; the outcome is the same.
func TestReadBigLists(t *testing.T) {
	t.Parallel()
	const n = 3000
	for name, form := range map[string]func(extra string) string{
		"YAML as kubectl writes it": func(extra string) string { return yamlList(n, "", extra) },
		"YAML with indented items":  func(extra string) string { return yamlList(n, "  ", extra) },
		"JSON": func(string) string {
			items := make([]string, n)
			for i := range items {
				items[i] = fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d"}}`, i)
			}
			return `{"kind":"List","apiVersion":"v1","items":[` + strings.Join(items, ",") + "]}"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, report, err := Read([]string{write(t, map[string]string{"a.yaml": form("")})}, Options{})
			if err != nil || len(objects.Pods) != n || report.Objects != n {
				t.Fatalf("%d pods, %v", len(objects.Pods), err)
			}
			if objects.Pods[17].Name != "p17" || objects.Pods[n-1].Name != fmt.Sprintf("p%d", n-1) {
				t.Error("the order is lost")
			}
		})
	}
	t.Run("an alias across items", func(t *testing.T) {
		t.Parallel()
		text := yamlList(n, "", "- apiVersion: v1\n  kind: Pod\n  metadata: {name: &x special}\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: last, labels: {app: *x}}\n")
		objects, _, err := Read([]string{write(t, map[string]string{"a.yaml": text})}, Options{})
		if err != nil || len(objects.Pods) != n+2 || objects.Pods[n+1].Labels["app"] != "special" {
			t.Fatalf("%d pods, %v", len(objects.Pods), err)
		}
	})
	t.Run("an item that is wrong", func(t *testing.T) {
		t.Parallel()
		text := yamlList(n, "", "- apiVersion: v1\n  kind: Pod\n")
		_, _, err := Read([]string{write(t, map[string]string{"a.yaml": text})}, Options{})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("document 1, item %d: Pod: metadata.name: is missing", n+1)) {
			t.Fatal(err)
		}
	})
}

func yamlList(n int, indent, extra string) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nitems:\n")
	for i := range n {
		fmt.Fprintf(&b, "%s- apiVersion: v1\n%s  kind: Pod\n%s  metadata:\n%s    name: p%d\n", indent, indent, indent, indent, i)
	}
	b.WriteString(extra + "kind: List\nmetadata:\n  resourceVersion: \"\"\n")
	return b.String()
}

func TestReadReportsProgress(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 10 {
		files[fmt.Sprintf("%02d.yaml", i)] = podYAML(fmt.Sprint("p", i))
	}
	var last Progress
	calls := 0
	_, _, err := Read([]string{write(t, files)}, Options{Progress: func(p Progress) {
		if p.Objects < last.Objects || p.Files < last.Files {
			t.Errorf("progress goes back: %+v after %+v", p, last)
		}
		last = p
		calls++
	}})
	if err != nil || last.Files != 10 || last.AllFiles != 10 || last.Objects != 10 || calls < 10 {
		t.Errorf("got %+v after %d calls, %v", last, calls, err)
	}
}

// Fields that no decision reads are not kept.
func TestReadKeepsLittle(t *testing.T) {
	t.Parallel()
	objects, _, err := Read([]string{write(t, map[string]string{"a.yaml": liveLike(1)})}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	pod := objects.Pods[0]
	if c := pod.Spec.Containers[0]; len(c.Env) > 0 || c.Image != "" || len(pod.Spec.Volumes) > 0 {
		t.Errorf("kept: %+v", pod.Spec)
	}
	if c := pod.Spec.Containers[0]; c.Resources.Requests.Cpu().String() != "1" || len(pod.Spec.Tolerations) != 2 || len(pod.Status.Conditions) != 1 {
		t.Errorf("lost: %+v", pod)
	}
}

// Volumes that are lost with the node stay, because rules of groups ask for them, but without their details.
func TestReadKeepsLocalVolumes(t *testing.T) {
	t.Parallel()
	text := "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {volumes: [{name: host, hostPath: {path: /var}}, {name: empty, emptyDir: {medium: Memory, sizeLimit: 1Gi}}, {name: config, configMap: {name: web}}]}\n"
	objects, _, err := Read([]string{write(t, map[string]string{"a.yaml": text})}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	volumes := objects.Pods[0].Spec.Volumes
	if len(volumes) != 2 || volumes[0].HostPath == nil || volumes[0].HostPath.Path != "" || volumes[1].EmptyDir == nil || volumes[1].EmptyDir.Medium != "Memory" || volumes[1].EmptyDir.SizeLimit != nil {
		t.Errorf("volumes %+v", volumes)
	}
}
