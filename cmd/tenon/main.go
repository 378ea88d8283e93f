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
	"tenon/internal/provider"
)

//go:generate go test . -run ^TestReferencePagesAreCurrent$ -rewrite

// thisCloud is the one that the binary is for. Another cloud is another line here.
func thisCloud() provider.Cloud { return aws.Cloud() }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for a clean end; the second ends at once, as people expect who press
	// Ctrl-C twice.
	context.AfterFunc(ctx, stop)
	world := cli.Process()
	world.Cloud = thisCloud()
	os.Exit(cli.Run(ctx, os.Args[1:], world))
}
