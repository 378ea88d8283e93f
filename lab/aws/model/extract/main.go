// Command extract reads the models of botocore and writes what package model embeds: the operations of the emulator and the shapes that
// they use.
//
//	go run ./aws/model/extract /usr/lib/python3/dist-packages/botocore/data
package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/lab/aws"
	"tenon/lab/aws/model"
)

// folders are the names of services in botocore, where they differ from the scope of credentials.
var folders = map[string]string{"servicequotas": "service-quotas"}

// later are values of enumerations that are newer than the last botocore that was read. The SDK for Go has them.
var later = map[string][]string{
	"FleetReservationType": texts(types.FleetReservationType("").Values()),
	"InstanceLifecycle":    texts(types.InstanceLifecycle("").Values()),
}

// laterOperations holds operations that are newer than it, with the shapes that only they use, as the SDK for Go reads and writes them.
//
//go:embed later.json
var laterOperations []byte

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: extract BOTOCORE/data")
		os.Exit(2)
	}
	if err := extract(os.Args[1], filepath.Join("aws", "model", "data")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func extract(from, to string) error {
	var more map[string]model.Service
	if err := json.Unmarshal(laterOperations, &more); err != nil {
		return fmt.Errorf("read the later operations: %w", err)
	}
	c := aws.Defaults()
	c.Log = slog.New(slog.DiscardHandler)
	emulator, err := aws.New(c)
	if err != nil {
		return err
	}
	for _, s := range emulator.Services() {
		folder := s.Name
		if other, ok := folders[folder]; ok {
			folder = other
		}
		source, err := read(filepath.Join(from, folder))
		if err != nil {
			return fmt.Errorf("read the model of %s: %w", s.Name, err)
		}
		var names []string
		for name := range s.Operations {
			names = append(names, name)
		}
		slices.Sort(names)
		extracted := source.extract(names)
		maps.Copy(extracted.Operations, more[s.Name].Operations)
		maps.Copy(extracted.Shapes, more[s.Name].Shapes)
		if err := os.WriteFile(filepath.Join(to, s.Name+".json"), write(extracted), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// source is a model as botocore has it.
type source struct {
	Metadata   struct{ APIVersion, Protocol string }
	Operations map[string]struct {
		HTTP          struct{ Method, RequestURI string }
		Input, Output *struct{ Shape string }
		Errors        []struct{ Shape string }
	}
	Shapes map[string]struct {
		Type      string
		Required  []string
		Enum      []string
		Flattened bool
		Member    *member
		Value     *member
		Members   map[string]member
		Error     struct{ Code string }
	}
}

type member struct {
	Shape, Location, LocationName, QueryName string
	Flattened                                bool
}

// read reads the latest version of a service.
func read(folder string) (*source, error) {
	versions, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	latest := ""
	for _, v := range versions {
		latest = max(latest, v.Name())
	}
	path := filepath.Join(folder, latest, "service-2.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = unzip(path + ".gz")
	}
	if err != nil {
		return nil, err
	}
	s := &source{}
	return s, json.Unmarshal(text, s)
}

func unzip(path string) ([]byte, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// extract returns some operations with the shapes that they use.
func (s *source) extract(names []string) *model.Service {
	out := &model.Service{Protocol: s.Metadata.Protocol, Version: s.Metadata.APIVersion, Operations: map[string]*model.Operation{}, Shapes: map[string]*model.Shape{}}
	for _, name := range names {
		from, ok := s.Operations[name]
		if !ok {
			continue // a test says so
		}
		o := &model.Operation{}
		if strings.HasPrefix(out.Protocol, "rest") {
			o.Method, o.Path = from.HTTP.Method, from.HTTP.RequestURI
		}
		if from.Input != nil {
			o.Input = from.Input.Shape
			s.copy(out, o.Input)
		}
		if from.Output != nil {
			o.Output = from.Output.Shape
			s.copy(out, o.Output)
		}
		for _, e := range from.Errors {
			code := s.Shapes[e.Shape].Error.Code
			if code == "" {
				code = e.Shape
			}
			o.Errors = append(o.Errors, code)
		}
		out.Operations[name] = o
	}
	return out
}

// copy adds a shape and those that it uses.
func (s *source) copy(out *model.Service, name string) {
	if out.Shapes[name] != nil {
		return
	}
	from := s.Shapes[name]
	for _, value := range later[name] {
		if !slices.Contains(from.Enum, value) {
			from.Enum = append(from.Enum, value)
		}
	}
	shape := &model.Shape{Type: from.Type, Required: from.Required, Enum: from.Enum, Flat: from.Flattened}
	out.Shapes[name] = shape
	for _, item := range []*member{from.Member, from.Value} {
		if item != nil {
			shape.Item, shape.ItemName = item.Shape, item.LocationName
			s.copy(out, item.Shape)
		}
	}
	for name, m := range from.Members { // each is on its own
		if shape.Members == nil {
			shape.Members = map[string]*model.Member{}
		}
		shape.Members[name] = &model.Member{Shape: m.Shape, In: in(out.Protocol, name, m), Out: answered(name, m), Location: m.Location}
		s.copy(out, m.Shape)
	}
}

// in is a member's name in requests. EC2 begins its names with a capital letter.
func in(protocol, name string, m member) string {
	switch {
	case m.QueryName != "":
		return m.QueryName
	case m.LocationName == "":
		return name
	case protocol == "ec2":
		return strings.ToUpper(m.LocationName[:1]) + m.LocationName[1:]
	}
	return m.LocationName
}

func answered(name string, m member) string {
	if m.LocationName != "" {
		return m.LocationName
	}
	return name
}

// write formats a model with a line for each operation and shape.
func write(s *model.Service) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"Protocol\": %q, \"Version\": %q,\n\"Operations\": {\n", s.Protocol, s.Version)
	lines(&b, s.Operations)
	b.WriteString("},\n\"Shapes\": {\n")
	lines(&b, s.Shapes)
	b.WriteString("}}\n")
	return b.Bytes()
}

func lines[T any](b *bytes.Buffer, all map[string]T) {
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		text, _ := json.Marshal(all[name]) // strings and lists of them can be written
		fmt.Fprintf(b, "%q: %s", name, text)
		if i < len(names)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
}
