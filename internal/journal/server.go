package journal

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Server is a controller that serves its journal: its address, as http://127.0.0.1:8080.
type Server string

// Lines implements Source.
func (s Server) Lines(ctx context.Context, after int64, each func(Line) error) error {
	return s.get(ctx, fmt.Sprintf("%s?after=%d", LinesPath, after), func(r io.Reader) error { return Read(r, after, each) })
}

// Contents implements Source.
func (s Server) Contents(ctx context.Context, digest string, w io.Writer) error {
	return s.get(ctx, ContentsPath+digest, func(r io.Reader) error {
		_, err := io.Copy(w, r)
		return err
	})
}

func (s Server) get(ctx context.Context, path string, read func(io.Reader) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(string(s), "/")+path, nil)
	if err != nil {
		return fmt.Errorf("ask for the journal: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask for the journal: %w", err)
	}
	defer response.Body.Close()
	const most = 1 << 10 // of the body of a failed answer
	if response.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(response.Body, most))
		if err != nil {
			return fmt.Errorf("ask for the journal: %w", err)
		}
		return fmt.Errorf("ask for the journal: %s answers %s: %s", s, response.Status, strings.TrimSpace(string(text)))
	}
	return read(response.Body)
}
