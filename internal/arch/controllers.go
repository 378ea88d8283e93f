package arch

import (
	"go/ast"
	"strconv"
	"strings"
)

// controllerRoots are the folders whose subfolders have the controllers' names in the log.
var controllerRoots = []string{"internal/controller/", "internal/aws/controller/"}

// Controllers checks that the folder of a controller is the beginning of the name that its log lines carry:
// nodepool.registrationhealth lies in nodepool/registrationhealth. If a folder has several controllers, one
// of them has to match. The check does not see names that are put together at run time.
func Controllers(t Tree) []Violation {
	type state struct {
		first   ast.Node
		name    string
		matches bool
	}
	packages := map[string]*state{}
	var folders []string
	for _, f := range t.Files {
		inside, is := controllerFolder(f)
		if !is {
			continue
		}
		for literal, name := range controllerNames(f.Syntax) {
			s, known := packages[f.Folder]
			if !known {
				s = &state{first: literal, name: name}
				packages[f.Folder] = s
				folders = append(folders, f.Folder)
			}
			s.matches = s.matches || strings.HasPrefix(strings.NewReplacer(".", "/", "-", "/").Replace(name)+"/", inside+"/")
		}
	}
	var found []Violation
	for _, folder := range folders {
		if s := packages[folder]; !s.matches {
			found = append(found, Violation{Rule: ruleController, At: t.at(s.first), What: folder + " has the controller " + s.name, Why: whyController})
		}
	}
	return found
}

// controllerFolder is the part of a folder that has to be in the name.
func controllerFolder(f File) (inside string, is bool) {
	for _, root := range controllerRoots {
		if inside, is = strings.CutPrefix(f.Folder, root); is && !f.Test {
			return inside, true
		}
	}
	return "", false
}

// controllerNames ranges over the literals with a name that is a string and a function Reconcile.
func controllerNames(file *ast.File) func(yield func(ast.Node, string) bool) {
	return func(yield func(ast.Node, string) bool) {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, is := n.(*ast.CompositeLit)
			if !is {
				return true
			}
			name, reconciles := "", false
			for _, element := range literal.Elts {
				pair, _ := element.(*ast.KeyValueExpr)
				if pair == nil {
					continue
				}
				key, _ := pair.Key.(*ast.Ident)
				value, _ := pair.Value.(*ast.BasicLit)
				switch {
				case key == nil:
				case key.Name == "Reconcile":
					reconciles = true
				case key.Name == "Name" && value != nil:
					name, _ = strconv.Unquote(value.Value)
				}
			}
			return name == "" || !reconciles || yield(literal, name)
		})
	}
}
