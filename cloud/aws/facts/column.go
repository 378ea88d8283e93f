package facts

import (
	"fmt"
	"strconv"
	"strings"
)

// column is one attribute of a type in its written form; a blank stands for an unknown value.
type column struct {
	name string
	get  func(*Type) string
	set  func(*Type, string) error
}

// columns lists all attributes but the name, in the order in which the table has them.
var columns = []column{
	number("vcpus", func(t *Type) *Quantity { return &t.VCPUs }),
	number("memory", func(t *Type) *Quantity { return &t.MemoryMiB }),
	text("arch", func(t *Type) *string { return &t.Architecture }),
	text("cpu", func(t *Type) *string { return &t.CPUManufacturer }),
	number("clock", func(t *Type) *Quantity { return &t.ClockMHz }),
	number("gpus", func(t *Type) *Quantity { return &t.GPUs }),
	text("gpu", func(t *Type) *string { return &t.GPU }),
	text("gpu-maker", func(t *Type) *string { return &t.GPUManufacturer }),
	number("gpu-memory", func(t *Type) *Quantity { return &t.GPUMemoryMiB }),
	number("accelerators", func(t *Type) *Quantity { return &t.Accelerators }),
	text("accelerator", func(t *Type) *string { return &t.Accelerator }),
	text("accelerator-maker", func(t *Type) *string { return &t.AcceleratorManufacturer }),
	number("neurons", func(t *Type) *Quantity { return &t.NeuronDevices }),
	number("neuron-cores", func(t *Type) *Quantity { return &t.NeuronCores }),
	number("nvme", func(t *Type) *Quantity { return &t.LocalNVMeGB }),
	flag("metal", func(t *Type) *bool { return &t.BareMetal }),
	text("hypervisor", func(t *Type) *string { return &t.Hypervisor }),
	text("encryption", func(t *Type) *string { return &t.EncryptionInTransit }),
	number("network", func(t *Type) *Quantity { return &t.NetworkMbps }),
	number("ebs", func(t *Type) *Quantity { return &t.EBSMbps }),
	number("interfaces", func(t *Type) *Quantity { return &t.Interfaces }),
	number("card-interfaces", func(t *Type) *Quantity { return &t.CardInterfaces }),
	number("cards", func(t *Type) *Quantity { return &t.Cards }),
	number("addresses", func(t *Type) *Quantity { return &t.Addresses }),
	number("pods", func(t *Type) *Quantity { return &t.PodLimit }),
	number("branches", func(t *Type) *Quantity { return &t.BranchInterfaces }),
	number("efa", func(t *Type) *Quantity { return &t.EFAInterfaces }),
	flag("documented", func(t *Type) *bool { return &t.Documented }),
	text("sources", func(t *Type) *string { return &t.Sources }),
	flag("complete", func(t *Type) *bool { return &t.Complete }),
}

// Columns returns the names of all attributes but the type's name, in the order of the table.
func Columns() []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// Get returns one attribute in its written form: blank if it is unknown, yes if it is true. An unknown name
// of an attribute gives a blank.
func (t Type) Get(attribute string) string {
	if c, ok := findColumn(attribute); ok {
		return c.get(&t)
	}
	return ""
}

// With returns the type with one attribute replaced by a written value.
func (t Type) With(attribute, value string) (Type, error) {
	c, ok := findColumn(attribute)
	if !ok {
		return t, fmt.Errorf("no attribute is called %q", attribute)
	}
	err := c.set(&t, value)
	return t, err
}

// Named returns a type with only a name, which must have a family and a size.
func Named(name string) (Type, error) {
	t := blank()
	for i := range len(name) {
		if name[i] == '.' && i > 0 && i+1 < len(name) {
			t.Name, t.Family, t.Size = name, name[:i], name[i+1:]
			return t, nil
		}
	}
	return t, fmt.Errorf("instance type %q is not a family, a dot and a size", name)
}

// Blank returns a type with only a name.
func Blank(name string) Type {
	t := blank()
	t.Name = name
	t.Family, t.Size, _ = strings.Cut(name, ".")
	return t
}

func blank() Type {
	var t Type
	for _, c := range columns {
		_ = c.set(&t, "") // every column accepts a blank
	}
	return t
}

func findColumn(name string) (column, bool) {
	for _, c := range columns {
		if c.name == name {
			return c, true
		}
	}
	return column{}, false
}

func text(name string, field func(*Type) *string) column {
	return column{
		name: name,
		get:  func(t *Type) string { return *field(t) },
		set:  func(t *Type, value string) error { *field(t) = value; return nil },
	}
}

func number(name string, field func(*Type) *Quantity) column {
	return column{
		name: name,
		get: func(t *Type) string {
			if q := *field(t); q.Known() {
				return strconv.FormatInt(int64(q), 10)
			}
			return ""
		},
		set: func(t *Type, value string) error {
			q, err := quantity(value)
			*field(t) = q
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		},
	}
}

func flag(name string, field func(*Type) *bool) column {
	return column{
		name: name,
		get: func(t *Type) string {
			if *field(t) {
				return "yes"
			}
			return ""
		},
		set: func(t *Type, value string) error {
			*field(t) = value == "yes"
			if value != "yes" && value != "" {
				return fmt.Errorf("%s: %q is neither yes nor blank", name, value)
			}
			return nil
		},
	}
}

func quantity(value string) (Quantity, error) {
	if value == "" {
		return Unknown, nil
	}
	n, err := strconv.ParseUint(value, 10, 48)
	if err != nil {
		return Unknown, fmt.Errorf("%q is not a count", value)
	}
	return Quantity(n), nil
}
