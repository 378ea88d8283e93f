package arch

// module is the import path of the product's module.
const module = "tenon"

// A pattern names folders of the module: "core/..." is core and everything below it, "core" is
// that folder alone. In lists of imports, "std" is the standard library, "others" is every module
// but ours, "!" takes out again what a pattern before it let in, and SELF stands for the folder of
// the importing file, which its tests import.

// importRule says what a part of the tree may import; what is not listed is forbidden.
type importRule struct {
	name string
	from string
	may  []string
	// tests may import these besides.
	tests []string
	why   string
}

// testLibraries are what tests of pure code are written with.
var testLibraries = []string{"github.com/google/go-cmp/...", "pgregory.net/rapid"}

// importRules is the order of packages, from the inside out. The first rule that matches a
// folder is the one that counts; no folder with Go code may be without a rule.
var importRules = []importRule{
	{
		name: "core knows only core", from: "core/...",
		may: []string{"std", "core/..."}, tests: testLibraries,
		why: "a decision that depends on a library or on the outside cannot be replayed, simulated and checked; ingest turns API objects into core's values",
	},
	{
		name: "api is wire types", from: "api/...",
		may: []string{"std", "others", "api/..."},
		why: "types on the wire outlive every implementation; users and other programs import them without the rest",
	},
	{
		name: "cloud sees values, not machinery", from: "cloud/...",
		may: []string{"std", "others", "api/...", "core/...", "cloud/..."},
		why: "a provider is an extension point: its author needs the contract and core's values, and must not depend on how we run it",
	},
	{
		name: "controllers meet in the API server", from: "internal/controller/...",
		may: []string{"std", "others", "api/...", "core/...", "cloud/...", "internal/...", "!internal/controller/...", "!internal/aws/...", "SELF"},
		why: "a controller that calls another shares its failures and its order of events; what one has to tell the other is in the objects",
	},
	{
		name: "controllers of AWS meet there too", from: "internal/aws/controller/...",
		may: []string{"std", "others", "api/...", "core/...", "cloud/...", "internal/...", "!internal/controller/...", "!internal/aws/...", "internal/aws/metrics", "SELF"},
		why: "a controller that calls another shares its failures and its order of events, whichever cloud it belongs to",
	},
	{
		name: "AWS is one folder", from: "internal/aws",
		may: []string{"std", "others", "api/...", "core/...", "cloud/...", "internal/..."},
		why: "a cloud is wired in one folder; to add or remove one must not change the rest",
	},
	{
		name: "the preflight of AWS calls AWS", from: "internal/aws/preflight",
		may: []string{"std", "others", "api/...", "core/...", "cloud/...", "internal/...", "!internal/controller/...", "!internal/aws/...", "SELF"},
		why: "it answers with the findings of the command, about an account that only the provider's clients reach",
	},
	{
		name: "internal connects", from: "internal/...",
		may: []string{"std", "others", "api/...", "core/...", "cloud/...", "internal/...", "!internal/aws/...", "!cloud/aws/..."}, tests: []string{"cloud/aws/...", "internal/aws"},
		why: "commands are wired in cmd, a cloud comes to the process as data, simulation and measurements use internal; the reverse would put test code into the product",
	},
	{
		name: "simulation drives the product", from: "sim/...",
		may: []string{"std", "others", "api/...", "core/...", "cloud/...", "internal/...", "sim/..."},
		why: "the same controllers run under virtual time, and must not depend on the simulation",
	},
	{
		name: "cmd wires", from: "cmd/...",
		may: []string{"std", "others", "internal/..."},
		why: "main functions connect the process to internal/cli; tests cannot call code in package main from outside",
	},
	{
		name: "examples and documents are read by users", from: "examples/...",
		may: []string{"std", "others", "api/...", "examples/..."},
		why: "users cannot copy an example that imports internal packages",
	},
	{
		name: "examples and documents are read by users", from: "docs/...",
		may: []string{"std", "others", "api/...", "docs/..."},
		why: "users cannot copy an example that imports internal packages",
	},
	{
		name: "charts are installed as they are", from: "charts/...",
		may: []string{"std", "others", "api/...", "charts/..."},
		why: "the tests beside a chart test the chart, not our code",
	},
}

// foreign are modules that the product may not even reach through others.
var foreign = []struct{ path, why string }{
	{"k8s.io/kubernetes", "the control plane belongs to the lab: as a library it is not stable, and it would drag 200 modules into the product"},
	{"sigs.k8s.io/karpenter", "peers belong to bench, which measures them beside us; the product is written from scratch"},
	{"github.com/aws/karpenter-provider-aws", "peers belong to bench, which measures them beside us; the product is written from scratch"},
	{"k8s.io/autoscaler", "peers belong to bench, which measures them beside us; the product is written from scratch"},
	{"sigs.k8s.io/kwok", "simulated kubelets belong to the lab"},
	{"go.etcd.io/etcd/server/v3", "the control plane belongs to the lab"},
}

// pure is the part of the tree in which the purity rules below hold, outside of tests.
const pure = "core/..."

// impureImports are packages of the standard library that pure code may not have at all.
var impureImports = []struct {
	rule  string
	paths []string // "os" and "os/..." both are needed to mean both
	why   string
}{
	{"core does no I/O", []string{"os", "os/...", "net", "net/...", "io/fs", "io/ioutil", "path/filepath", "syscall", "plugin", "database/...", "embed"},
		"what a decision depends on is in the snapshot, or it cannot be replayed"},
	{"core does not log", []string{"log", "log/...", "expvar"},
		"decisions return a trace; telemetry turns it into lines, events and metrics"},
	{"core has no hidden chance", []string{"math/rand", "crypto/rand", "hash/maphash"},
		"the same snapshot and seed give the same plan; chance comes as a *rand.Rand of math/rand/v2 made from the seed"},
	{"core starts nothing", []string{"sync", "sync/...", "context"},
		"effort is bounded in steps and the caller waits for the answer; there is nothing to lock, to signal or to cancel"},
	{"core does not see the machine", []string{"runtime", "runtime/...", "unsafe", "C", "flag"},
		"a plan that depends on the number of processors or on a flag differs between the controller and tenon plan"},
}

// impureNames are single functions and variables of packages that pure code may otherwise use.
var impureNames = []struct {
	rule  string
	path  string
	names []string
	// except turns the list around: everything but the names is forbidden.
	except bool
	why    string
}{
	{rule: "core has no clock", path: "time",
		names: []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTicker", "NewTimer", "Local", "LoadLocation"},
		why:   "time is a value in the snapshot, so that a decision can be replayed and a week be simulated in a second"},
	{rule: "core has no hidden chance", path: "math/rand/v2", except: true,
		names: []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf"},
		why:   "the functions of the package draw from a source without a fixed seed; chance comes from a *rand.Rand that is passed in"},
	{rule: ruleRounded, path: "math", except: true,
		names: []string{
			"Abs", "Ceil", "Floor", "Frexp", "Inf", "IsInf", "IsNaN", "Max", "Min", "Mod", "NaN", "Round", "Signbit", "Sqrt", "Trunc",
			"Ln2", "Sqrt2", "MaxInt", "MaxInt32", "MaxInt64", "MinInt64", "MaxFloat64",
		},
		why: "other functions of the package are only approximations, which differ between architectures; these are exact"},
	{rule: "core does not log", path: "fmt",
		names: []string{"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		why:   "decisions return a trace; code that prints writes to an io.Writer that is passed in"},
}

// impureBuiltins print to standard error, where no caller can redirect them.
var impureBuiltins = []string{"print", "println"}

// forbiddenWords say nothing about what is inside.
var forbiddenWords = []string{"util", "utils", "common", "helper", "helpers", "types", "misc"}

// The rules that are not lists. Their names and reasons stand here with the others.
const (
	ruleOrdered      = "every folder has a place in the order"
	whyOrdered       = "a folder without a rule can import anything; add it to importRules with its reason"
	ruleForeign      = "control planes and peers stay out"
	ruleDotImport    = "core names where things come from"
	whyDotImport     = "a dot import hides calls of the clock and of random numbers from readers and from these rules"
	ruleGoroutine    = "core starts nothing"
	whyGoroutine     = "a goroutine's order is not in the snapshot, and one that outlives the call has no owner"
	ruleReasons      = "no file forgets a disruption reason"
	whyReasons       = "the compiler does not find code that forgets a new reason; handle the reason there, or say in someReasons that it needs nothing"
	ruleComment      = "packages introduce themselves"
	whyComment       = "a newcomer reads the package comment first: what it is for and what it must not do"
	ruleWords        = "names say what is inside"
	whyWords         = "a package called util or types collects unrelated code; name it for its idea"
	ruleDistinct     = "one name, one package in a file"
	whyDistinct      = "two packages of one name in a file need an alias, and readers guess wrong; split the file or name one of them for its idea"
	ruleKnown        = "packages have names that their readers know"
	whyKnown         = "a newcomer looks for the words of Kubernetes, AWS, Go and the glossary; take one of knownWords, or explain the word in docs/glossary.md"
	rulePlain        = "comments and texts name their subjects"
	whyPlain         = "a reader wants to know who acts: name the caller, the controller or the user"
	ruleController   = "a controller's folder is its name in the log"
	whyController    = "a reader of the log finds a controller's code by its name"
	ruleOneRoot      = "no Go code at the root"
	whyOneRoot       = "the root is what people see first: documents and folders"
	whyBuiltin       = "print and println write to the standard error of the calling program; return the text instead"
	ruleBuiltin      = "core does not log"
	ruleInitFunction = "core has no start-up"
	whyInitFunction  = "init runs in every program that imports the package, whether the program needs it or not; make a value and pass it"
)
