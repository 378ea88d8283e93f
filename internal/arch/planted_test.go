package arch

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// planted is a small tree for each way to break a rule, and what must be said about it. Trees in
// which want is empty look alike and must pass.
var planted = map[string]struct {
	files map[string]string
	want  []string // parts of the violations, in order; as many as there are violations
}{
	// The order.
	"core imports a library": {
		files: map[string]string{"core/pack/pack.go": `import "k8s.io/api/core/v1"`},
		want:  []string{"core knows only core"},
	},
	"core imports wire types": {
		files: map[string]string{"core/pack/pack.go": `import "tenon/api/karpenter/v1"`},
		want:  []string{"core/pack imports tenon/api/karpenter/v1"},
	},
	"core imports core and the standard library": {
		files: map[string]string{"core/pack/pack.go": `import ("cmp"; "encoding/json"; "tenon/core/plan")`},
	},
	"core's tests use the test libraries": {
		files: map[string]string{"core/pack/pack_test.go": `import ("testing"; "os"; "github.com/google/go-cmp/cmp"; "pgregory.net/rapid")`},
	},
	"core's tests use a client": {
		files: map[string]string{"core/pack/pack_test.go": `import "k8s.io/client-go/kubernetes"`},
		want:  []string{"core knows only core"},
	},
	"core itself uses a test library": {
		files: map[string]string{"core/pack/pack.go": `import "pgregory.net/rapid"`},
		want:  []string{"core knows only core"},
	},
	"api imports core":         {files: map[string]string{"api/aws/v1/x.go": `import "tenon/core/model"`}, want: []string{"api is wire types"}},
	"api imports internal":     {files: map[string]string{"api/aws/v1/x_test.go": `import "tenon/internal/settings"`}, want: []string{"api is wire types"}},
	"a provider uses the loop": {files: map[string]string{"cloud/aws/x.go": `import "tenon/internal/controller/provisioner"`}, want: []string{"cloud sees values"}},
	"a provider uses its SDK, the contract and values": {
		files: map[string]string{"cloud/aws/x.go": `import ("github.com/aws/aws-sdk-go-v2/aws"; "tenon/cloud"; "tenon/core/catalog"; "tenon/api/aws/v1")`},
	},
	"a controller imports another": {
		files: map[string]string{"internal/controller/claim/x.go": `import "tenon/internal/controller/pool"`},
		want:  []string{"controllers meet in the API server"},
	},
	"a controller imports one of the same kind": {
		files: map[string]string{"internal/controller/claim/launch/x.go": `import "tenon/internal/controller/claim"`},
		want:  []string{"controllers meet in the API server"},
	},
	"a controller imports the machinery, and its test the controller": {
		files: map[string]string{
			"internal/controller/claim/x.go":      `import ("tenon/internal/world"; "tenon/core/plan")`,
			"internal/controller/claim/x_test.go": `import "tenon/internal/controller/claim"`,
		},
	},
	"a controller of AWS imports a common one": {
		files: map[string]string{"internal/aws/controller/claim/x.go": `import "tenon/internal/controller/claim"`},
		want:  []string{"controllers of AWS meet there too"},
	},
	"AWS imports its controllers, and others AWS": {
		files: map[string]string{
			"internal/aws/x.go":   `import ("tenon/internal/aws/controller/claim"; "tenon/internal/controller/pool")`,
			"internal/world/x.go": `import "tenon/internal/aws"`,
			"internal/cli/x.go":   `import "tenon/cloud/aws/facts"`,
		},
		want: []string{"internal/cli imports tenon/cloud/aws/facts", "internal/world imports tenon/internal/aws"},
	},
	"a test of the process buys at AWS": {files: map[string]string{"internal/cli/x_test.go": `import ("tenon/internal/aws"; "tenon/cloud/aws/facts")`}},
	"the preflight of AWS imports a controller": {
		files: map[string]string{"internal/aws/preflight/x.go": `import ("tenon/cloud/aws/api"; "tenon/internal/aws/controller/claim")`},
		want:  []string{"the preflight of AWS calls AWS"},
	},
	"AWS imports cmd": {files: map[string]string{"internal/aws/x.go": `import "tenon/cmd/tenon"`}, want: []string{"AWS is one folder"}},
	"the process imports every controller": {
		files: map[string]string{"internal/manager/x.go": `import ("tenon/internal/controller/claim"; "tenon/internal/controller/pool")`},
	},
	"internal imports cmd":          {files: map[string]string{"internal/cli/x.go": `import "tenon/cmd/tenon"`}, want: []string{"internal connects"}},
	"internal imports simulation":   {files: map[string]string{"internal/world/x_test.go": `import "tenon/sim/store"`}, want: []string{"internal connects"}},
	"internal imports the lab":      {files: map[string]string{"internal/world/x_test.go": `import "tenon/lab/labtest"`}, want: []string{"internal connects"}},
	"simulation imports cmd":        {files: map[string]string{"sim/store/x.go": `import "tenon/cmd/tenon"`}, want: []string{"simulation drives the product"}},
	"cmd decides":                   {files: map[string]string{"cmd/tenon/main.go": `import "tenon/core/pack"`}, want: []string{"cmd wires"}},
	"an example uses our internals": {files: map[string]string{"examples/provider/x.go": `import "tenon/internal/world"`}, want: []string{"read by users"}},
	"a document uses our internals": {files: map[string]string{"docs/x_test.go": `import "tenon/core/plan"`}, want: []string{"read by users"}},
	"a chart uses our internals":    {files: map[string]string{"charts/tenon/x_test.go": `import "tenon/internal/settings"`}, want: []string{"charts are installed"}},
	"a folder without a rule":       {files: map[string]string{"pkg/x/x.go": ``}, want: []string{"folder pkg/x has no rule"}},
	"Go code at the root":           {files: map[string]string{"x.go": ``}, want: []string{"no Go code at the root"}},
	"the product imports the control plane": {
		files: map[string]string{"internal/world/x.go": `import "k8s.io/kubernetes/pkg/scheduler"`},
		want:  []string{"control planes and peers stay out"},
	},
	"a test imports a peer": {
		files: map[string]string{"internal/world/x_test.go": `import "sigs.k8s.io/karpenter/pkg/apis"`},
		want:  []string{"control planes and peers stay out"},
	},
	"a module that only begins like a peer": {files: map[string]string{"internal/world/x.go": `import "sigs.k8s.io/karpenter-like/x"`}},

	// Purity.
	"core reads the clock":               {files: core(`import "time"; var now = time.Now()`), want: []string{"uses time.Now"}},
	"core keeps the clock for later":     {files: core(`import "time"; var clock = time.Now`), want: []string{"core has no clock"}},
	"core reads the clock by a nickname": {files: core(`import t "time"; func f() { t.Sleep(1); _ = t.Since }`), want: []string{"uses t.Sleep", "uses t.Since"}},
	"core asks where it is":              {files: core(`import "time"; var here = time.Local`), want: []string{"core has no clock"}},
	"core computes with time":            {files: core(`import "time"; func f(t time.Time) time.Time { return t.Add(time.Hour) }`)},
	"core rolls dice":                    {files: core(`import "math/rand/v2"; var n = rand.IntN(6)`), want: []string{"uses rand.IntN"}},
	"core shuffles":                      {files: core(`import dice "math/rand/v2"; func f() { dice.Shuffle(1, nil) }`), want: []string{"core has no hidden chance"}},
	"core multiplies and adds":           {files: core(`func f(x float64) float64 { return x*x + 1 }`), want: []string{"the same bytes everywhere"}},
	"core rounds before it adds":         {files: core(`func f(x float64) float64 { return float64(x*x) + 1 }`)},
	"core takes a logarithm":             {files: core(`import "math"; var x = math.Log2(3)`), want: []string{"uses math.Log2"}},
	"core rolls dice that it was given":  {files: core(`import "math/rand/v2"; func f(r *rand.Rand) int { return r.IntN(6) }; var r = rand.New(rand.NewPCG(1, 2))`)},
	"core uses the old dice":             {files: core(`import "math/rand"`), want: []string{"core has no hidden chance"}},
	"core asks the kernel for dice":      {files: core(`import "crypto/rand"`), want: []string{"core has no hidden chance"}},
	"core hashes with a hidden seed":     {files: core(`import "hash/maphash"`), want: []string{"core has no hidden chance"}},
	"core hashes":                        {files: core(`import "crypto/sha256"; var _ = sha256.Size`)},
	"core reads a file":                  {files: core(`import "os"`), want: []string{"core does no I/O"}},
	"core runs a program":                {files: core(`import "os/exec"`), want: []string{"core does no I/O"}},
	"core opens a connection":            {files: core(`import "net/http"`), want: []string{"core does no I/O"}},
	"core writes where it was told to":   {files: core(`import ("fmt"; "io"); func f(w io.Writer) { fmt.Fprintln(w) }`)},
	"core logs":                          {files: core(`import "log/slog"`), want: []string{"core does not log"}},
	"core logs the old way":              {files: core(`import "log"`), want: []string{"core does not log"}},
	"core prints":                        {files: core(`import "fmt"; func f() { fmt.Println(1) }`), want: []string{"uses fmt.Println"}},
	"core prints for its author":         {files: core(`func f() { println(1) }`), want: []string{"calls println"}},
	"core starts a goroutine":            {files: core(`func f() { go f() }`), want: []string{"starts a goroutine"}},
	"core waits":                         {files: core(`func f(c chan int) { select { case <-c: default: } }`), want: []string{"waits for channels"}},
	"core locks":                         {files: core(`import "sync"`), want: []string{"core starts nothing"}},
	"core counts with others":            {files: core(`import "sync/atomic"`), want: []string{"core starts nothing"}},
	"core can be cancelled":              {files: core(`import "context"`), want: []string{"core starts nothing"}},
	"core counts processors":             {files: core(`import "runtime"`), want: []string{"core does not see the machine"}},
	"core goes around the language":      {files: core(`import "unsafe"`), want: []string{"core does not see the machine"}},
	"core hides where a name is from":    {files: core(`import . "strings"`), want: []string{"dot import of strings"}},
	"core does things at start-up":       {files: core(`func init() {}`), want: []string{"has an init function"}},
	"a method called init":               {files: core(`type t int; func (t) init() {}`)},
	"tests of core do as they like":      {files: map[string]string{"core/x/x_test.go": `import ("os"; "time"; "sync"); var _ = time.Now; func init() { go println(os.Args, sync.OnceFunc) }`}},
	"others have clocks":                 {files: map[string]string{"internal/x/x.go": `import "time"; var _ = time.Now`}},

	// Names.
	"a drawer":                        {files: map[string]string{"internal/util/x.go": ``}, want: []string{"the name util"}},
	"a drawer with a prefix":          {files: map[string]string{"internal/x/x.go": "// Package string_helpers is.\npackage string_helpers"}, want: []string{"the name string_helpers"}},
	"a file for types":                {files: map[string]string{"internal/x/types.go": ``}, want: []string{"the name types"}},
	"a file of help for tests":        {files: map[string]string{"internal/x/x.go": ``, "internal/x/test_helpers_test.go": ``}, want: []string{"the name test_helpers"}},
	"a word that contains another":    {files: map[string]string{"internal/x/utility.go": ``}},
	"no introduction":                 {files: map[string]string{"internal/x/x.go": `package x`}, want: []string{"package internal/x has no comment"}},
	"an introduction of another":      {files: map[string]string{"internal/x/x.go": "// Package y is.\npackage x"}, want: []string{"packages introduce themselves"}},
	"an introduction by a generator":  {files: map[string]string{"internal/x/x.go": "// Code generated by hand. DO NOT EDIT.\n\n// Package x is.\npackage x"}, want: []string{"packages introduce themselves"}},
	"an introduction in another file": {files: map[string]string{"internal/x/a.go": `package x`, "internal/x/b.go": ``}},
	"a command without introduction":  {files: map[string]string{"cmd/x/main.go": "// Package main is.\npackage main"}, want: []string{"packages introduce themselves"}},
	"a command":                       {files: map[string]string{"cmd/x/main.go": "// Command x does.\npackage main"}},
	"a command by its name":           {files: map[string]string{"cmd/refine/main.go": "// Refine completes.\npackage main"}},
	"two packages of one name in a file": {
		files: map[string]string{"internal/x/x.go": `import ("tenon/core/plan"; other "tenon/internal/plan")`},
		want:  []string{"imports tenon/core/plan and tenon/internal/plan"},
	},
	"one of another module and ours":  {files: map[string]string{"internal/x/x.go": `import (v "k8s.io/apimachinery/pkg/version"; "tenon/internal/version")`}},
	"one name in two files":           {files: map[string]string{"internal/x/x.go": `import "tenon/core/plan"`, "internal/x/y.go": `import "tenon/internal/plan"`}},
	"one version of two groups":       {files: map[string]string{"internal/x/x.go": `import ("tenon/api/aws/v1"; "tenon/api/karpenter/v1")`}},
	"one version of one group, twice": {files: map[string]string{"internal/x/x.go": `import ("tenon/api/aws/v1"; "tenon/internal/x/aws/v1")`}, want: []string{"tenon/api/aws/v1 and tenon/internal/x/aws/v1"}},
	"a comment without a subject": {
		files: map[string]string{"internal/x/x.go": "// Package x is planted.\npackage x\n\n// Nobody knows.\nvar x = 1 // for whoever asks"},
		want:  []string{"a comment says Nobody", "a comment says whoever"},
	},
	"a text without a subject": {files: map[string]string{"internal/x/x.go": `var x = "nobody knows"`}, want: []string{"a text says nobody"}},
	"a test without a subject": {files: map[string]string{"internal/x/x_test.go": `func TestItHarmsNobody() {}`}, want: []string{"the name TestItHarmsNobody"}},
	"a test's made-up name":    {files: map[string]string{"internal/x/x_test.go": `var x = "nobody"`}},
	"a riddle":                 {files: map[string]string{"internal/desk/x.go": ``, "internal/desk/y.go": ``}, want: []string{"the name desk of internal/desk"}},
	"a controller in another folder": {
		files: map[string]string{"internal/controller/pool/x.go": `var c = reconcile.Controller{Name: "nodepool.hash", Reconcile: nil}`},
		want:  []string{"internal/controller/pool has the controller nodepool.hash"},
	},
	"controllers where the log says": {
		files: map[string]string{
			"internal/controller/pool/hash/x.go": `var c = reconcile.Controller{Name: "pool.hash", Reconcile: nil}; var k = key{Name: "all"}`,
			"internal/aws/controller/pool/x.go":  `var c = []reconcile.Controller{{Name: "node.pool", Reconcile: nil}, {Name: "pool-queue", Reconcile: nil}}`,
		},
	},
	"what the go command ignores": {files: map[string]string{"core/x/x.go": ``, "core/x/testdata/util.go": `go`, ".git/x.go": `go`, "lab/go.mod": ``, "lab/util/x.go": `go`}},
}

// core is a tree with one file of pure code.
func core(source string) map[string]string { return map[string]string{"core/x/x.go": source} }

// tree parses planted files. A source without a package clause gets one, with an introduction.
func tree(t *testing.T, files map[string]string) Tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, source := range files {
		if strings.HasSuffix(name, ".go") && !strings.Contains(source, "package ") {
			folders := strings.Split("x/"+name, "/")
			word := folders[len(folders)-2]
			source = "// Package " + word + " is planted.\npackage " + word + "\n" + source
		}
		fsys[name] = &fstest.MapFile{Data: []byte(source)}
	}
	parsed, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// planted packages have short names of their own.
const plantedGlossary = `| **x**, **y** | planted |
| **util**, **claim**, **pool**, **plan**, **world**, **provider**, **docs** | planted |
`

func all(t Tree) []Violation {
	return slices.Concat(Imports(t), Purity(t), Floats(t), Names(t), Words(t, plantedGlossary), Controllers(t), Plain(t))
}

func TestPlantedViolationsAreFound(t *testing.T) {
	t.Parallel()
	for name, tc := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := all(tree(t, tc.files))
			if len(found) != len(tc.want) {
				t.Fatalf("%d violations, want %d: %v", len(found), len(tc.want), found)
			}
			for i, v := range found {
				if !strings.Contains(v.String(), tc.want[i]) || v.Why == "" || !strings.Contains(v.At, ":") {
					t.Errorf("violation %q lacks %q, a reason or a place", v, tc.want[i])
				}
			}
		})
	}
}

// A rule that no planted tree breaks may have stopped to work without being noticed.
func TestEveryRuleIsShownToFail(t *testing.T) {
	t.Parallel()
	broken := map[string]bool{}
	for _, tc := range planted {
		for _, v := range all(tree(t, tc.files)) {
			broken[v.Rule] = true
		}
	}
	rules := []string{ruleOrdered, ruleForeign, ruleDotImport, ruleGoroutine, ruleComment, ruleWords, ruleDistinct, ruleKnown, rulePlain, ruleController, ruleOneRoot, ruleBuiltin, ruleInitFunction}
	for _, r := range importRules {
		rules = append(rules, r.name)
	}
	for _, r := range impureImports {
		rules = append(rules, r.rule)
	}
	for _, r := range impureNames {
		rules = append(rules, r.rule)
	}
	for _, rule := range rules {
		if !broken[rule] {
			t.Errorf("no planted tree breaks the rule %q", rule)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(broken)) {
		if !slices.Contains(rules, rule) {
			t.Errorf("the rule %q is not in the list of rules", rule)
		}
	}
}

func TestModulesThatDoNotBelongAreFoundInGoMod(t *testing.T) {
	t.Parallel()
	text := "module tenon\n\nrequire (\n\tk8s.io/api v0.36.3 // not k8s.io/kubernetes\n\tsigs.k8s.io/karpenter v1.14.0 // indirect\n)\n" +
		"replace k8s.io/kubernetes => ../kubernetes\n"
	found := Modules("go.mod", text)
	if len(found) != 2 || found[0].At != "go.mod:5" || found[1].At != "go.mod:7" {
		t.Errorf("violations: %v", found)
	}
	for _, module := range foreign {
		if got := Modules("go.mod", "require "+module.path+" v1.0.0"); len(got) != 1 {
			t.Errorf("%s passes: %v", module.path, got)
		}
	}
}

func TestASourceThatDoesNotParseIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := Load(fstest.MapFS{"core/x/x.go": {Data: []byte("package")}}); err == nil || !strings.Contains(err.Error(), "core/x/x.go") {
		t.Errorf("error %v", err)
	}
}
