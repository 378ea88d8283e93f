// Command plant builds the simulation with each mistake of sim/planted, and prints how many seeds it takes
// to find it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"runtime"
	"syscall"

	"tenon/sim/planted"
)

func main() {
	hunt := planted.Hunt{}
	flag.StringVar(&hunt.Root, "root", ".", "the folder of the module")
	flag.IntVar(&hunt.Seeds, "seeds", 2000, "how many seeds at most")
	flag.DurationVar(&hunt.For, "for", 0, "how long at most, for each; 0 is no end")
	flag.IntVar(&hunt.Parallel, "parallel", runtime.NumCPU(), "how many seeds at a time")
	only := flag.String("only", "*", "a pattern of names")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	missed, err := all(ctx, hunt, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || missed > 0 {
		os.Exit(1)
	}
}

// all looks for every mistake that matches a pattern, and counts those that were not found.
func all(ctx context.Context, hunt planted.Hunt, only string) (missed int, err error) {
	root, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	if !path.IsAbs(hunt.Root) {
		hunt.Root = path.Join(root, hunt.Root)
	}
	mistakes, err := planted.All()
	if err != nil {
		return 0, err
	}
	found := 0
	for _, m := range mistakes {
		if picked, err := path.Match(only, m.Name); err != nil || !picked {
			continue
		}
		c, err := hunt.Find(ctx, m)
		switch {
		case ctx.Err() != nil:
			return missed, ctx.Err()
		case err != nil:
			missed++
			fmt.Fprintln(os.Stderr, err)
			continue
		case c.Found:
			found++
		default:
			missed++
		}
		fmt.Println(c)
	}
	fmt.Printf("%d mistakes found, %d not\n", found, missed)
	return missed, nil
}
