package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of times in /proc: USER_HZ, which is 100 on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// Measure returns the present usage of a process.
func Measure(pid int) (Usage, error) {
	fields, err := statFields(pid)
	if err != nil {
		return Usage{}, err
	}
	user, errUser := strconv.ParseInt(fields[11], 10, 64)
	system, errSystem := strconv.ParseInt(fields[12], 10, 64)
	pages, errPages := strconv.ParseInt(fields[21], 10, 64)
	for _, err := range []error{errUser, errSystem, errPages} {
		if err != nil {
			return Usage{}, fmt.Errorf("read usage of process %d: %w", pid, err)
		}
	}
	return Usage{
		ResidentBytes: pages * int64(os.Getpagesize()),
		CPU:           time.Duration(user+system) * clockTick,
	}, nil
}

// Birth returns a word that distinguishes a process from a later one with the same id. It is empty if there
// is no such process.
func Birth(pid int) string {
	fields, err := statFields(pid)
	if err != nil || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// statFields returns the fields of /proc/PID/stat from the third on: the second, the program's name in
// parentheses, may itself contain blanks.
func statFields(pid int) ([]string, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, fmt.Errorf("read process %d: %w", pid, err)
	}
	end := bytes.LastIndexByte(raw, ')')
	fields := strings.Fields(string(raw[end+1:]))
	if len(fields) < 22 {
		return nil, fmt.Errorf("read process %d: %d fields in its status", pid, len(fields))
	}
	return fields, nil
}
