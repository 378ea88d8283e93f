package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tenon/lab/state"
)

func newLogs(path *string, out io.Writer) *cobra.Command {
	var follow bool
	var lines int
	command := &cobra.Command{
		Use:   "logs COMPONENT",
		Short: "Show the log of a component",
		Long:  "Show the log of a component: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, aws,\ntenon, or, of a detached lab, supervisor.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return errors.New("name one component: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, aws, tenon or supervisor")
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			directory, err := state.Open(*path)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return logNames(directory), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(command *cobra.Command, args []string) error {
			directory, err := state.Open(*path)
			if err != nil {
				return err
			}
			file, err := findLog(directory, args[0])
			if err != nil {
				return err
			}
			if !follow {
				return printLog(out, file, lines)
			}
			ctx, stop := signal.NotifyContext(command.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return followLog(ctx, out, directory, file, lines)
		},
	}
	command.Flags().BoolVarP(&follow, "follow", "f", false, "go on as the log grows, until the lab ends")
	command.Flags().IntVar(&lines, "tail", -1, "only that many last lines")
	return command
}

func findLog(directory state.Directory, name string) (string, error) {
	file := directory.Log(name)
	if name == "supervisor" {
		file = directory.SupervisorLog()
	}
	// A name with a separator in it could lead out of the folder.
	if _, err := os.Stat(file); err == nil && !strings.ContainsRune(name, os.PathSeparator) {
		return file, nil
	}
	if names := logNames(directory); len(names) > 0 {
		return "", fmt.Errorf("there is no log of %q; there is one of: %s", name, strings.Join(names, ", "))
	}
	return "", fmt.Errorf("there are no logs in %s; no lab was started there, or it was removed", directory)
}

func logNames(directory state.Directory) []string {
	var names []string
	files, err := os.ReadDir(directory.Logs())
	if err != nil {
		return nil // no lab, no logs
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file.Name(), ".log"))
	}
	slices.Sort(names)
	return names
}

func printLog(out io.Writer, file string, lines int) error {
	_, err := copyLog(out, file, lines)
	return err
}

// copyLog prints a log, or its last lines, and returns how far it has read.
func copyLog(out io.Writer, file string, lines int) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("read log: %w", err)
	}
	read := int64(len(text))
	if lines >= 0 {
		text = state.LastLines(text, lines)
	}
	_, err = out.Write(text)
	return read, err
}

// followEvery is how often a log is checked for new lines.
const followEvery = 200 * time.Millisecond

// followLog prints what is appended to a log until the context or the lab ends.
func followLog(ctx context.Context, out io.Writer, directory state.Directory, path string, lines int) error {
	at, err := copyLog(out, path, lines)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	defer file.Close()
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		// The lab is checked before the log is read, so that its last lines are not missed.
		holder, err := directory.Holder()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		n, err := io.Copy(out, io.NewSectionReader(file, at, 1<<62-at))
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		at += n
		if holder == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
