// Command tenon-lab runs a Kubernetes cluster with simulated machines on this one.
package main

import (
	"os"

	"tenon/lab/command"
)

func main() { os.Exit(command.Main(os.Args[1:], os.Stdout, os.Stderr)) }
