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

// thisCloud is the cloud that the binary is built for. Another cloud needs another line here.
func thisCloud() provider.Cloud { return aws.Cloud() }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for a clean end. The second ends the process at once, as people who press Ctrl-C
	// twice expect.
	context.AfterFunc(ctx, stop)
	world := cli.Process()
	world.Cloud = thisCloud()
	os.Exit(cli.Run(ctx, os.Args[1:], world))
}
