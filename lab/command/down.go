package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"tenon/lab/process"
	"tenon/lab/state"
)

func newDown(path *string, out io.Writer) *cobra.Command {
	var keep bool
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop a lab and remove what it wrote",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			directory, err := state.Open(*path)
			if err != nil {
				return err
			}
			return down(command.Context(), directory, keep, out)
		},
	}
	command.Flags().BoolVar(&keep, "keep", false, "leave logs and data")
	return command
}

// downWithin is how long a lab may take to end: each of its components has a grace period.
const downWithin = 90 * time.Second

func down(ctx context.Context, directory state.Directory, keep bool, out io.Writer) error {
	holder, err := directory.Holder()
	if err != nil {
		return err
	}
	if holder == 0 {
		return clear(directory, keep, out)
	}
	if keep {
		if err := directory.AskToKeep(); err != nil {
			return err
		}
	}
	birth := process.Birth(holder)
	if err := syscall.Kill(holder, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the lab in %s (pid %d): %w", directory, holder, err)
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, downWithin, true, func(context.Context) (bool, error) {
		now, err := directory.Holder()
		return now != holder && !process.Alive(holder, birth), err // the supervisor releases the lock a moment before it ends
	})
	if err != nil {
		return fmt.Errorf("wait until the lab in %s (pid %d) has ended: %w", directory, holder, err)
	}
	fmt.Fprintf(out, "the lab in %s is stopped%s\n", directory, remainder(keep))
	return nil
}

// clear removes what is left of a crashed or kept lab.
func clear(directory state.Directory, keep bool, out io.Writer) error {
	record, found, err := directory.Load()
	if err != nil {
		return err
	}
	if !found {
		fmt.Fprintf(out, "no lab is running in %s\n", directory)
		return nil
	}
	lock, err := directory.Acquire()
	if err != nil {
		return err
	}
	record.EndLeftovers()
	if !keep {
		err = lock.Clear()
	}
	fmt.Fprintf(out, "the lab in %s had ended already%s\n", directory, remainder(keep))
	return errors.Join(err, lock.Release())
}

func remainder(keep bool) string {
	if keep {
		return "; its logs and data are left there"
	}
	return "; what it wrote is removed"
}
