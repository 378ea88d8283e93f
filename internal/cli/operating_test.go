package cli

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	quotedText = regexp.MustCompile("`([^`]+)`")
	// placeholder is what a quoted text has where the program puts a name or a number.
	placeholder = regexp.MustCompile(`\[?\b[A-Z]{4,}\b\]?`)
)

// TestOperatingQuotesTheProgram: what docs/operating.md quotes under "By symptom" is in the program's own texts, between the names that it
// has in capitals.
func TestOperatingQuotesTheProgram(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, symptoms, found := strings.Cut(string(page), "\n## By symptom\n")
	symptoms, _, ended := strings.Cut(symptoms, "\n## ")
	if !found || !ended {
		t.Fatal("the page has no section By symptom with one after it")
	}
	texts := textsOfTheProgram(t)
	for _, match := range quotedText.FindAllStringSubmatch(symptoms, -1) {
		if strings.HasPrefix(match[1], "tenon ") || strings.HasPrefix(match[1], "kubectl ") {
			continue
		}
		for _, piece := range placeholder.Split(match[1], -1) {
			if piece = strings.Trim(piece, ` "`); piece != "" && !strings.Contains(texts, piece) {
				t.Errorf("%q, of which the program has no %q", match[1], piece)
			}
		}
	}
}

// textsOfTheProgram are the literals of all files of the product but tests, one a line.
func textsOfTheProgram(t *testing.T) string {
	t.Helper()
	var texts strings.Builder
	for _, folder := range []string{"api", "charts", "cloud", "core", "internal"} {
		err := filepath.WalkDir("../../"+folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var s scanner.Scanner
			s.Init(token.NewFileSet().AddFile(path, -1, len(source)), source, nil, 0)
			for {
				_, kind, literal := s.Scan()
				if kind == token.EOF {
					return nil
				}
				if text, err := strconv.Unquote(literal); kind == token.STRING && err == nil {
					texts.WriteString(text + "\n")
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts.String()
}
