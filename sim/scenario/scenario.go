// Package scenario runs scripts that people can read: the premises, the events, and the observations
// afterwards.
//
//	# Two small pods get one node.
//	given deployment web replicas=2 cpu=500m memory=512Mi
//	when 2m pass
//	see nodes
//	  compute-2 memory-1a spot: web web
//
// The indented lines under a line that begins with see are the observation; -rewrite of the test writes
// them again. Text in braces is YAML, merged into the spec of a pool or a pod:
//
//	given pool default {disruption: {budgets: [{nodes: "0"}]}}
//	given deployment web replicas=2 cpu=500m memory=512Mi {nodeSelector: {kubernetes.io/arch: arm64}}
//
// The package must not decide what is right: readers of the scripts do.
package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tenon/sim"
	"tenon/sim/traffic"
)

// Run runs a script from the beginning, and returns it with the observations.
func Run(script string, seed uint64) (string, error) {
	lines := strings.Split(strings.TrimSuffix(script, "\n"), "\n")
	o, err := premises(lines, sim.Options{Seed: seed})
	if err != nil {
		return "", err
	}
	p, err := begin(o)
	if err != nil {
		return "", err
	}
	var out []string
	for number, line := range lines {
		if strings.HasPrefix(line, "  ") {
			continue // an earlier observation
		}
		out = append(out, line)
		seen, err := p.line(line)
		if err != nil {
			return "", fmt.Errorf("line %d: %s: %w", number+1, line, err)
		}
		for _, what := range seen {
			out = append(out, "  "+what)
		}
	}
	for _, v := range p.sim.Violations {
		out = append(out, "  violation: "+v.Rule+": "+v.What)
	}
	return strings.Join(out, "\n") + "\n", nil
}

// premises are the parameters of a run: faults, the product's flags, a seed.
func premises(lines []string, o sim.Options) (sim.Options, error) {
	for _, line := range lines {
		var err error
		switch words := strings.Fields(line); {
		case len(words) < 3 || words[0] != "given":
		case words[1] == "faults":
			o.Faults, err = sim.ParseFaults(words[2])
		case words[1] == "flags":
			o.Arguments = words[2:]
		case words[1] == "seed":
			_, err = fmt.Sscan(words[2], &o.Seed)
		}
		if err != nil {
			return o, fmt.Errorf("%s: %w", line, err)
		}
	}
	return o, nil
}

// run is a running script.
type run struct {
	sim   *sim.Sim
	ctx   context.Context
	users *traffic.Users
	names map[string]string // the readable names of nodes and pods
	heard int               // events that were seen
}

func begin(o sim.Options) (*run, error) {
	s, err := sim.New(o)
	if err != nil {
		return nil, err
	}
	p := &run{sim: s, ctx: context.Background(), users: &traffic.Users{Client: s.Store, Now: s.Clock.Now}, names: map[string]string{}}
	s.Store.Listen(p.learn)
	return p, p.users.Furnish(p.ctx)
}

// line runs one line, and returns the observation.
func (p *run) line(line string) ([]string, error) {
	text, extra, _ := strings.Cut(line, "{")
	if extra != "" {
		extra = "{" + extra
	}
	words := strings.Fields(text)
	if len(words) < 2 || strings.HasPrefix(line, "#") {
		return nil, nil
	}
	if words[0] == "when" && words[len(words)-1] == "pass" {
		d, err := time.ParseDuration(words[1])
		if err == nil {
			p.sim.Run(d)
		}
		return nil, err
	}
	subject := ""
	if len(words) > 2 {
		subject = words[2]
	}
	if words[0] == "see" {
		return p.see(words[1], subject)
	}
	return p.act(wish{verb: words[1], subject: subject, options: options(words[2:]), extra: extra})
}

// wish is a parsed line.
type wish struct {
	verb, subject string
	options       map[string]string
	extra         string // YAML
}

// options are the words with an equals sign; for other words the value is empty.
func options(words []string) map[string]string {
	out := map[string]string{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		out[name] = value
	}
	return out
}

// act performs the action of a line. A refusal by the API server is an observation, not an error.
func (p *run) act(w wish) ([]string, error) {
	do, known := map[string]func(wish) error{
		"deployment": p.deploy, "statefulset": p.keep, "job": p.work, "pod": p.bind, "pool": p.pool, "class": p.class, "budget": p.budget, "buffer": p.buffer, "request": p.request,
		"limit": p.limit, "scale": p.scale, "roll": p.rollOut, "annotate": p.annotate, "delete": p.remove, "force": p.force,
		"lose": p.lose, "interrupt": p.interrupt, "price": p.price, "shortage": p.shortage, "stock": p.restock,
		"crash": func(wish) error { p.sim.Crash(); return nil }, "handover": func(wish) error { p.sim.HandOver(); return nil },
		"machines": p.machines, "cloud": p.cloud,
		"faults": nothing, "flags": nothing, "seed": nothing,
	}[w.verb]
	if !known {
		return nil, fmt.Errorf("that has no meaning here")
	}
	err := do(w)
	if refused(err) {
		return []string{"refused: " + err.Error()}, nil
	}
	return nil, err
}

func nothing(wish) error { return nil }
