package userdata

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"tenon/core/order"
)

const (
	typeScript     = `text/x-shellscript; charset="us-ascii"`
	typeNodeConfig = "application/node.eks.aws"
)

// part is one document of an archive.
type part struct {
	header textproto.MIMEHeader
	body   string
}

func partOf(kind, body string) part {
	return part{textproto.MIMEHeader{"Content-Type": {kind}}, body}
}

// archive writes parts in their order, which is that in which the image reads them.
func archive(parts []part) string {
	var b strings.Builder
	b.WriteString("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n")
	for _, p := range parts {
		b.WriteString("--//\n")
		for _, key := range order.Keys(p.header) {
			for _, value := range p.header[key] {
				fmt.Fprintf(&b, "%s: %s\n", key, value)
			}
		}
		b.WriteString("\n" + strings.TrimRight(p.body, "\r\n") + "\n")
	}
	b.WriteString("--//--\n")
	return strings.ReplaceAll(b.String(), "\r", "")
}

// isArchive reports whether the user gave an archive of their own.
func isArchive(custom string) bool {
	text := strings.TrimSpace(custom)
	return strings.HasPrefix(text, "MIME-Version:") || strings.HasPrefix(text, "Content-Type:")
}

// partsOf takes an archive apart. Bodies stay encoded as they are: their headers come along.
func partsOf(custom string) ([]part, error) {
	text := strings.TrimSpace(strings.ReplaceAll(custom, "\r", "")) + "\n"
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

func readParts(reader *multipart.Reader) ([]part, error) {
	var parts []part
	for {
		p, err := reader.NextRawPart()
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
		parts = append(parts, part{p.Header, string(bytes.TrimRight(body, "\r\n"))})
	}
}

// only keeps some headers of a part.
func (p part) only(names ...string) part {
	header := textproto.MIMEHeader{}
	for key, values := range p.header {
		if slices.Contains(names, key) {
			header[key] = values
		}
	}
	return part{header, p.body}
}
