package facts

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

//go:embed types.txt
var typesText string

// Types returns all instance types that Tenon knows by name, sorted by family and size as people would sort
// them. Many attributes may be blank. The slice is shared: do not change it.
func Types() []Type { return decodedTypes() }

var decodedTypes = sync.OnceValue(func() []Type {
	types, err := DecodeTypes(typesText)
	if err != nil {
		panic("built-in table of instance types: " + err.Error()) // a test decodes it
	}
	return types
})

// DecodeTypes reads a table of types. The table is grouped by family:
//
//	family m5 arch=amd64 cpu=intel
//	columns vcpus memory
//	m5.large 2 8192
//	m5.xlarge 4 16384
//
// The family line has what all types of the family share. The columns line names the other attributes, whose
// values follow each type's name; a dash is a blank. The decoder skips empty lines and lines that begin with
// a #.
func DecodeTypes(text string) ([]Type, error) {
	d := tableReader{types: make([]Type, 0, strings.Count(text, "\n"))}
	for n := 1; text != ""; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if err := d.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return d.types, nil
}

type tableReader struct {
	types   []Type
	family  Type // has only the attributes that the family shares
	columns []column
}

func (d *tableReader) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "" && rest == "", strings.HasPrefix(word, "#"):
		return nil
	case word == "family":
		return d.openFamily(rest)
	case word == "columns":
		return d.setColumns(rest)
	}
	return d.addType(word, rest)
}

func (d *tableReader) openFamily(rest string) error {
	name, rest, _ := strings.Cut(rest, " ")
	d.family, d.columns = blank(), nil
	d.family.Family = name
	for pair := range strings.FieldsSeq(rest) {
		key, value, _ := strings.Cut(pair, "=")
		c, ok := findColumn(key)
		if !ok {
			return fmt.Errorf("no attribute is called %q", key)
		}
		if err := c.set(&d.family, value); err != nil {
			return err
		}
	}
	return nil
}

func (d *tableReader) setColumns(rest string) error {
	for name := range strings.FieldsSeq(rest) {
		c, ok := findColumn(name)
		if !ok {
			return fmt.Errorf("no attribute is called %q", name)
		}
		d.columns = append(d.columns, c)
	}
	return nil
}

func (d *tableReader) addType(name, rest string) error {
	family, size, _ := strings.Cut(name, ".")
	if family != d.family.Family || size == "" {
		return fmt.Errorf("type %q is not of family %q", name, d.family.Family)
	}
	t := d.family
	t.Name, t.Size = name, size
	for _, c := range d.columns {
		var value string
		value, rest, _ = strings.Cut(rest, " ")
		switch value {
		case "":
			return fmt.Errorf("type %s has no %s", name, c.name)
		case "-":
			value = ""
		}
		if err := c.set(&t, value); err != nil {
			return fmt.Errorf("type %s: %w", name, err)
		}
	}
	if rest != "" {
		return fmt.Errorf("type %s has more attributes than columns", name)
	}
	d.types = append(d.types, t)
	return nil
}

// EncodeTypes writes the table that DecodeTypes reads. Types of a family must be adjacent.
func EncodeTypes(w io.Writer, types []Type) error {
	var b strings.Builder
	b.WriteString("# What is known of EC2 instance types. Written by the program in the folder\n")
	b.WriteString("# generate; see docs/reference/catalogue.md before editing.\n")
	for len(types) > 0 {
		n := slices.IndexFunc(types, func(t Type) bool { return t.Family != types[0].Family })
		if n < 0 {
			n = len(types)
		}
		encodeFamily(&b, types[:n])
		types = types[n:]
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func encodeFamily(b *strings.Builder, types []Type) {
	var differing []column
	fmt.Fprintf(b, "\nfamily %s", types[0].Family)
	for _, c := range columns {
		first := c.get(&types[0])
		if slices.ContainsFunc(types, func(t Type) bool { return c.get(&t) != first }) {
			differing = append(differing, c)
		} else if first != "" {
			fmt.Fprintf(b, " %s=%s", c.name, first)
		}
	}
	b.WriteString("\ncolumns")
	for _, c := range differing {
		b.WriteString(" " + c.name)
	}
	for i := range types {
		b.WriteString("\n" + types[i].Name)
		for _, c := range differing {
			b.WriteString(" " + orDash(c.get(&types[i])))
		}
	}
	b.WriteString("\n")
}

func orDash(value string) string {
	if value == "" {
		return "-"
	}
	return value
}
