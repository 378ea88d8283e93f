package fidelity

import (
	"embed"
	"strings"
)

//go:embed testdata/*.txt
var written embed.FS

// File is where the answers of a case are written down.
func (c Case) File() string { return "testdata/" + strings.ReplaceAll(c.Name, " ", "-") + ".txt" }

// Want is what any server has to answer.
func (c Case) Want() (string, error) {
	text, err := written.ReadFile(c.File())
	return string(text), err
}
