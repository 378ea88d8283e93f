// Command tenon is the one binary of the product. It wires the process's arguments, streams and
// signals to internal/cli and does nothing else.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"tenon/internal/aws"
	"tenon/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for a clean end; the second ends at once, as people expect who press
	// Ctrl-C twice.
	context.AfterFunc(ctx, stop)
	world := cli.Process()
	world.Open = aws.Open(aws.Options{})
	os.Exit(cli.Run(ctx, os.Args[1:], world))
}
