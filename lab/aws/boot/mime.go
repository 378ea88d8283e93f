package boot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strings"
)

// part is one document of user data.
type part struct{ kind, body string }

const (
	kindScript     = "text/x-shellscript"
	kindNodeConfig = "application/node.eks.aws"
)

// partsOf takes a MIME archive apart. Anything else is one part without a kind.
func partsOf(data []byte) ([]part, error) {
	text := strings.TrimLeft(string(data), " \t\r\n")
	if !strings.HasPrefix(text, "MIME-Version:") && !strings.HasPrefix(text, "Content-Type:") {
		return []part{{body: text}}, nil
	}
	r := bufio.NewReader(strings.NewReader(text))
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("header of the MIME archive: %w", err)
	}
	kind, options, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("type of the MIME archive: %w", err)
	}
	if !strings.HasPrefix(kind, "multipart/") || options["boundary"] == "" {
		return nil, fmt.Errorf("MIME archive of type %q: want multipart with a boundary", kind)
	}
	return readParts(multipart.NewReader(r, options["boundary"]))
}

func readParts(archive *multipart.Reader) ([]part, error) {
	var parts []part
	for {
		p, err := archive.NextPart()
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("part %d of the MIME archive: %w", len(parts)+1, err)
		}
		body, err := io.ReadAll(p)
		if err != nil {
			return nil, fmt.Errorf("part %d of the MIME archive: %w", len(parts)+1, err)
		}
		kind, _, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if err != nil {
			return nil, fmt.Errorf("type of part %d of the MIME archive: %w", len(parts)+1, err)
		}
		parts = append(parts, part{kind: kind, body: string(bytes.TrimSpace(body))})
	}
}
