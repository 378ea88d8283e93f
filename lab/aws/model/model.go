// Package model holds what AWS publishes about the services that the emulator serves: the parameters of every operation, which of
// them are required, the values of enumerations, the members of answers and the codes of errors. The data is an extract
// of the models of botocore, the SDK for Python (https://github.com/boto/botocore, Apache License 2.0), which AWS
// generates from its own definitions. So the emulator is held to another author's account of AWS than ours:
//
//	botocore ── extract ──▶ data/*.json ──┬─▶ Request: wire refuses what AWS would refuse
//	                                      └─▶ tests: types of parameters and answers, answers on the wire
//
// Operations that are newer than the version that was read are in extract/later.json, by the names and types of the SDK for Go.
//
// To read another version: go run ./aws/model/extract …/site-packages/botocore/data (in lab). The package does not know
// what the services do.
package model

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"
)

//go:embed data
var data embed.FS

// Service is the model of one service.
type Service struct {
	Protocol   string // ec2, query, json or rest-json
	Version    string
	Operations map[string]*Operation
	Shapes     map[string]*Shape
}

// Operation is one action. Input and Output name shapes; they are empty where there is none.
type Operation struct {
	Method string `json:",omitempty"` // of REST APIs
	Path   string `json:",omitempty"`
	Input  string `json:",omitempty"`
	Output string `json:",omitempty"`
	// Errors are the codes that the operation may return, beside those that all may.
	Errors []string `json:",omitempty"`

	service *Service
}

// Shape is a type of values.
type Shape struct {
	Type     string             // structure, list, map, string, integer, long, double, float, boolean, timestamp or blob
	Members  map[string]*Member `json:",omitempty"` // of a structure
	Required []string           `json:",omitempty"`
	Enum     []string           `json:",omitempty"`
	Item     string             `json:",omitempty"` // the shape of a list's or map's values
	ItemName string             `json:",omitempty"` // of a list's elements in XML
	Flat     bool               `json:",omitempty"` // a list without an element around its elements
}

// Member is a member of a structure.
type Member struct {
	Shape string
	// In and Out are its names in requests and answers.
	In, Out string
	// Location says that it is not in the body: uri, querystring or header.
	Location string `json:",omitempty"`
}

// Find returns the model of a service by its name in the credential scope, or nil.
func Find(service string) *Service { return all()[service] }

// Services returns all models by name.
func Services() map[string]*Service { return all() }

var all = sync.OnceValue(func() map[string]*Service {
	found := map[string]*Service{}
	files, err := data.ReadDir("data")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, file := range files {
		text, err := data.ReadFile("data/" + file.Name())
		s := &Service{}
		if err == nil {
			err = json.Unmarshal(text, s)
		}
		if err != nil {
			panic(fmt.Sprintf("%s: %v", file.Name(), err)) // it is embedded
		}
		for _, o := range s.Operations { // each is on its own
			o.service = s
		}
		found[file.Name()[:len(file.Name())-len(".json")]] = s
	}
	return found
})

// Shape returns a shape of an operation's service by its name, or nil.
func (o *Operation) Shape(name string) *Shape { return o.service.Shapes[name] }
