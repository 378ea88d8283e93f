//go:build !linux

package process

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Measure returns the present usage of a process.
func Measure(pid int) (Usage, error) {
	out, err := exec.Command("ps", "-o", "rss=,time=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return Usage{}, fmt.Errorf("read process %d: %w", pid, err)
	}
	return parseUsage(string(out))
}

// parseUsage reads "123456 1:02.03": kibibytes and [hours:]minutes:seconds.
func parseUsage(line string) (Usage, error) {
	fields := strings.Fields(line)
	if len(fields) != 2 {
		return Usage{}, fmt.Errorf("read usage from %q", line)
	}
	kibibytes, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return Usage{}, fmt.Errorf("read memory from %q: %w", line, err)
	}
	seconds := 0.0
	for _, part := range strings.Split(fields[1], ":") {
		value, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return Usage{}, fmt.Errorf("read time from %q: %w", line, err)
		}
		seconds = seconds*60 + value
	}
	return Usage{ResidentBytes: kibibytes << 10, CPU: time.Duration(seconds * float64(time.Second))}, nil
}

// Birth returns a word that distinguishes a process from a later one with the same id. It is empty if there
// is no such process.
func Birth(pid int) string {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
