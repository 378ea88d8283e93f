// Refine completes the definitions that controller-gen wrote into a folder with what its markers
// cannot express: rules inside of types that belong to Kubernetes, rules about the values of maps,
// rules that hold for a type in one kind but not in another, and the label domain of the cloud,
// whose list of allowed labels is data of another package.
//
// It fails if a field that it wants to refine is not there, so a renamed field cannot lose its
// rules unnoticed.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: refine FOLDER")
		os.Exit(2)
	}
	for file, refine := range refinements {
		if err := rewrite(filepath.Join(os.Args[1], file), refine); err != nil {
			fmt.Fprintf(os.Stderr, "refine %s: %v\n", file, err)
			os.Exit(1)
		}
	}
}

func rewrite(path string, refine func(schema) error) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var definition map[string]any
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return err
	}
	root, err := rootSchema(definition)
	if err != nil {
		return err
	}
	if err := refine(root); err != nil {
		return err
	}
	refined, err := yaml.Marshal(definition)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte("---\n"), refined...), 0o644)
}
