package settings

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// LookupEnv answers like os.LookupEnv.
type LookupEnv func(name string) (string, bool)

// Warning is something that an operator should correct, although the process can run.
type Warning struct {
	Flag string
	Env  string
	Text string
}

func (w Warning) String() string { return w.Text }

// Error is one setting that cannot be used. Its text names the setting both ways, so that it can
// be found in a chart as well as on a command line.
type Error struct {
	Flag  string
	Env   string
	Given string // as it was written: --flag=value or NAME=value
	Cause error
}

func (e *Error) Error() string {
	return fmt.Sprintf("invalid setting %s: %s (flag --%s, environment %s)", e.Given, e.Cause, e.Flag, e.Env)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Parse reads a whole command line. It stops at an unknown flag, and otherwise reports every
// setting that is wrong, not only the first. A cloud's own options write to the cloud's own value.
func Parse(args []string, lookup LookupEnv, own ...Option) (Settings, []Warning, error) {
	flags := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	flags.Usage = func() {}
	finish := Register(flags, own...)
	if err := flags.Parse(args); err != nil {
		return Settings{}, nil, err
	}
	if rest := flags.Args(); len(rest) > 0 {
		return Settings{}, nil, fmt.Errorf("unexpected argument %q: settings are given as flags or in the environment", rest[0])
	}
	return finish(lookup)
}

// Register adds every option to the flag set and returns the function that reads them once the
// flags are parsed. A flag beats the environment, which beats the default.
func Register(flags *pflag.FlagSet, own ...Option) func(LookupEnv) (Settings, []Warning, error) {
	s := new(Settings)
	options := s.options(own)
	for _, o := range options {
		flag := flags.VarPF(&rawText{text: o.Default, kind: o.Kind()}, o.Flag, "", o.Usage+" ("+o.Env+")")
		if o.Kind() == "true|false" {
			flag.NoOptDefVal = "true"
		}
	}
	foreign := registerForeign(flags)
	return func(lookup LookupEnv) (Settings, []Warning, error) {
		warnings, err := read(options, func(o Option) (string, origin) { return given(o, flags, lookup) })
		more, refused := readForeign(flags, foreign)
		s.ForPlans = forPlans(options, func(o Option) (string, origin) { return given(o, flags, lookup) })
		s.normalise()
		return *s, append(warnings, more...), errors.Join(err, refused)
	}
}

// forPlans are the texts of settings on which plans depend, where they are not the defaults and can be read. Which cluster
// is planned for is none of them.
func forPlans(options []Option, given func(Option) (string, origin)) map[string]string {
	var out map[string]string
	for _, o := range options {
		text, from := given(o)
		if !o.Plan || o.Flag == flagKubeconfig || text == o.Default {
			continue
		}
		if _, err := o.Value.read(from, text); err != nil { // it was read before, and the default counts
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[o.Flag] = text
	}
	return out
}

// WithPublished looks settings up in the environment, and then among those that a controller publishes, by flag.
func WithPublished(lookup LookupEnv, published map[string]string, own ...Option) LookupEnv {
	flags := map[string]string{}
	for _, o := range Options(own...) {
		if o.Plan {
			flags[o.Env] = o.Flag
		}
	}
	return func(name string) (string, bool) {
		if text, is := lookup(name); is && text != "" {
			return text, true
		}
		text, is := published[flags[name]]
		return text, is
	}
}

// given is the text of an option and where it stands. An empty environment variable counts as
// absent where empty text means nothing, because charts render unset values that way.
func given(o Option, flags *pflag.FlagSet, lookup LookupEnv) (string, origin) {
	if flag := flags.Lookup(o.Flag); flag.Changed {
		return flag.Value.String(), fromFlag
	}
	if text, ok := lookup(o.Env); ok && (text != "" || !o.Value.lenient) {
		return text, fromEnvironment
	}
	return o.Default, fromDefault
}

// read first reads every option and then checks them, because checks may look at each other's.
func read(options []Option, given func(Option) (string, origin)) ([]Warning, error) {
	var (
		warnings []Warning
		problems []error
	)
	failed := map[string]bool{}
	for _, o := range options {
		notes, err := readOne(o, given)
		if err != nil {
			problems = append(problems, err)
			failed[o.Flag] = true
		}
		warnings = append(warnings, notes...)
	}
	for _, o := range options {
		if o.Check == nil || failed[o.Flag] {
			continue
		}
		if err := o.Check(); err != nil {
			problems = append(problems, o.wrong(given, err))
		}
	}
	return append(warnings, notes(options)...), errors.Join(problems...)
}

func readOne(o Option, given func(Option) (string, origin)) ([]Warning, error) {
	text, from := given(o)
	notes, err := o.Value.read(from, text)
	if err != nil && from == fromEnvironment && o.Value.lenient {
		notes = []string{fmt.Sprintf("environment variable %s is ignored: %s; the default %s is used (flag --%s)", o.Env, err, o.Default, o.Flag)}
		_, err = o.Value.read(fromDefault, o.Default)
	}
	if err != nil {
		return nil, o.wrong(given, err)
	}
	warnings := make([]Warning, 0, len(notes))
	for _, note := range notes {
		warnings = append(warnings, Warning{Flag: o.Flag, Env: o.Env, Text: note})
	}
	return warnings, nil
}

func (o Option) wrong(given func(Option) (string, origin), cause error) error {
	text, from := given(o)
	name := "--" + o.Flag
	if from == fromEnvironment {
		name = o.Env
	}
	return &Error{Flag: o.Flag, Env: o.Env, Given: fmt.Sprintf("%s=%q", name, text), Cause: cause}
}

// rawText keeps a flag's text as it was given. Reading waits until flags, environment and
// defaults are together, so that all three go through the same rules.
type rawText struct{ text, kind string }

func (r *rawText) String() string { return r.text }
func (r *rawText) Type() string   { return r.kind }
func (r *rawText) Set(text string) error {
	if r.kind == repeated && r.text != "" {
		text = r.text + separator + text
	}
	r.text = text
	return nil
}

// notes warn of settings that ask for what is not there: their users are told, once at the start.
func notes(options []Option) []Warning {
	var out []Warning
	for _, o := range options {
		if o.Note == nil {
			continue
		}
		if text := o.Note(); text != "" {
			out = append(out, Warning{Flag: o.Flag, Env: o.Env, Text: text})
		}
	}
	return out
}
