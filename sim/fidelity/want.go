package fidelity

import (
	"embed"
	"strings"
)

//go:embed testdata/*.txt
var written embed.FS

// File is the file with the recorded answers of a case.
func (c Case) File() string { return "testdata/" + strings.ReplaceAll(c.Name, " ", "-") + ".txt" }

// Want returns the answers that any server has to give.
func (c Case) Want() (string, error) {
	text, err := written.ReadFile(c.File())
	return string(text), err
}
