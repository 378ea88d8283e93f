package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// tailWindow is how much of the end of a log is read to find its last lines.
const tailWindow = 256 << 10

// Tail returns the last lines of a file. A missing file has none.
func Tail(path string, lines int) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	start := max(0, info.Size()-tailWindow)
	text, err := io.ReadAll(io.NewSectionReader(file, start, info.Size()-start))
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	return LastLines(text, lines), nil
}

func LastLines(text []byte, lines int) []byte {
	end := len(bytes.TrimRight(text, "\n"))
	at := end
	for ; lines > 0; lines-- {
		at = bytes.LastIndexByte(text[:at], '\n')
		if at < 0 {
			return text
		}
	}
	return text[at+1:]
}
