// Package examples is the manifests of this folder, for programs that apply them. It must not change
// them: what people read is what runs.
package examples

import "embed"

// Files are the manifests by their names.
//
//go:embed *.yaml
var Files embed.FS
