// Command bench measures the core side by side with the reference and prints the table.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"

	"tenon/bench/measure"
	"tenon/bench/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type settings struct {
	quick, full                  bool
	only, output, profile, child string
	strict                       bool
}

func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&s.quick, "quick", false, "measure smaller cases, in a minute or two")
	flags.BoolVar(&s.full, "full", false, "run the reference on everything, for an hour or so")
	flags.StringVar(&s.only, "only", "", "measure these sections only, separated by commas: "+strings.Join(measure.Names(), ", "))
	flags.StringVar(&s.output, "o", "table", "how to print: table or json")
	flags.StringVar(&s.profile, "cpuprofile", "", "write a CPU profile of this process to the file")
	flags.BoolVar(&s.strict, "strict", false, "fail when a row misses what is asked of it")
	flags.StringVar(&s.child, "child", "", "measure one thing for a parent process (it gives this itself)")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	switch {
	case s.quick && s.full:
		return s, fmt.Errorf("-quick and -full exclude each other")
	case s.output != "table" && s.output != "json":
		return s, fmt.Errorf("-o %s: want table or json", s.output)
	}
	return s, nil
}

func run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.child != "" {
		return child(ctx, s.child)
	}
	end, err := profiling(s.profile)
	if err != nil {
		return err
	}
	bench := measure.Bench{Extent: s.extent(), Progress: os.Stderr, Child: measure.Spawn}
	table, err := bench.Run(ctx, s.sections())
	end()
	if err != nil {
		return err
	}
	if err := s.write(&table); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	if missed := table.Missed(); s.strict && missed > 0 {
		return fmt.Errorf("%d rows miss what is asked of them", missed)
	}
	return nil
}

func (s settings) extent() measure.Extent {
	switch {
	case s.quick:
		return measure.Quick
	case s.full:
		return measure.Full
	}
	return measure.Usual
}

func (s settings) sections() []string {
	if s.only == "" {
		return nil
	}
	return strings.Split(s.only, ",")
}

func (s settings) write(table *report.Report) error {
	if s.output == "json" {
		return table.WriteJSON(os.Stdout)
	}
	return table.WriteText(os.Stdout)
}

func child(ctx context.Context, name string) error {
	result, err := measure.Child(ctx, name)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func profiling(path string) (func(), error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write a profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("write a profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		if err := file.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: write a profile:", err)
		}
	}, nil
}
