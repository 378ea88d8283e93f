package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tenon/cloud/aws/facts"
	"tenon/core/model"
)

// headings maps the columns of the CSV file to the attributes that they fill. The program refuses any other
// column that is not a price, because it does not know what the column means.
var headings = []struct{ heading, attribute string }{
	{"vcpus", "vcpus"}, {"memoryMiB", "memory"}, {"arch", "arch"},
	{"cpuManufacturer", "cpu"}, {"cpuClockMHz", "clock"},
	{"gpuCount", "gpus"}, {"gpuName", "gpu"}, {"gpuManufacturer", "gpu-maker"}, {"gpuMemMiB", "gpu-memory"},
	{"acceleratorCount", "accelerators"}, {"acceleratorName", "accelerator"}, {"acceleratorManufacturer", "accelerator-maker"},
	{"neuronDevices", "neurons"}, {"neuronCores", "neuron-cores"}, {"localNvmeGB", "nvme"},
	{"bareMetal", "metal"}, {"hypervisor", "hypervisor"}, {"encryptionInTransit", "encryption"},
	{"networkMbps", "network"}, {"ebsMbps", "ebs"},
	{"maxENIs", "interfaces"}, {"defaultCardENIs", "card-interfaces"}, {"networkCards", "cards"},
	{"ipv4PerENI", "addresses"}, {"eniPods", "pods"}, {"podENI", "branches"}, {"efaInterfaces", "efa"},
	{"inKarpenterDoc", "documented"}, {"source", "sources"}, {"complete", "complete"},
}

// unused lists columns that the tables do not need: the program splits the name again, and no source fills
// currentGeneration.
var unused = []string{"family", "size", "currentGeneration"}

// setter puts one cell into the tables.
type setter func(t *tables, cell string) error

// readTypes reads a file of types with their prices. Columns may come in any order.
func readTypes(r io.Reader) (tables, error) {
	reader := csv.NewReader(r)
	header, err := reader.Read()
	if err != nil {
		return tables{}, fmt.Errorf("read the headings: %w", err)
	}
	nameColumn := slices.Index(header, "name")
	if nameColumn < 0 {
		return tables{}, errors.New("no column is called name")
	}
	var t tables
	setters, err := settersOf(header, &t)
	if err != nil {
		return tables{}, err
	}
	for {
		row, err := reader.Read()
		if err == io.EOF {
			t.prices = slices.DeleteFunc(t.prices, func(l facts.Prices) bool { return len(l.Hourly) == 0 })
			return t, nil
		}
		if err != nil {
			return tables{}, err
		}
		if err := t.add(row, row[nameColumn], setters); err != nil {
			return tables{}, fmt.Errorf("%s: %w", row[nameColumn], err)
		}
	}
}

func (t *tables) add(row []string, name string, setters []setter) error {
	named, err := facts.Named(name)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(t.types, func(o facts.Type) bool { return o.Name == name }) {
		return errors.New("the type is there twice")
	}
	t.types = append(t.types, named)
	for i, set := range setters {
		if err := set(t, row[i]); err != nil {
			return err
		}
	}
	return nil
}

// settersOf chooses the setter for each column, and adds a list for each price column.
func settersOf(header []string, t *tables) ([]setter, error) {
	setters := make([]setter, len(header))
	for i, heading := range header {
		region, currency, isPrice := priceHeading(heading)
		switch attribute := attributeOf(heading); {
		case heading == "name" || slices.Contains(unused, heading):
			setters[i] = func(*tables, string) error { return nil }
		case isPrice:
			t.prices = append(t.prices, facts.Prices{Region: region, Currency: currency, Hourly: map[string]model.Money{}})
			setters[i] = setPrice(len(t.prices) - 1)
		case attribute != "":
			setters[i] = setAttribute(attribute)
		default:
			return nil, fmt.Errorf("column %q is not one that the tables know", heading)
		}
	}
	return setters, nil
}

func attributeOf(heading string) string {
	for _, h := range headings {
		if h.heading == heading {
			return h.attribute
		}
	}
	return ""
}

func setPrice(list int) setter {
	return func(t *tables, cell string) error {
		if cell == "" {
			return nil
		}
		price, err := facts.ParsePrice(cell)
		t.prices[list].Hourly[t.types[len(t.types)-1].Name] = price
		return err
	}
}

func setAttribute(attribute string) setter {
	yesNo := slices.Contains([]string{"metal", "documented", "complete"}, attribute)
	return func(t *tables, cell string) error {
		switch {
		case yesNo && (cell == "1" || cell == "true"):
			cell = "yes"
		case yesNo && (cell == "0" || cell == "false"):
			cell = ""
		}
		last := len(t.types) - 1
		changed, err := t.types[last].With(attribute, cell)
		t.types[last] = changed
		return err
	}
}

// priceHeading reads a heading such as odUSD_us_east_1.
func priceHeading(heading string) (region, currency string, ok bool) {
	rest, ok := strings.CutPrefix(heading, "od")
	currency, region, found := strings.Cut(rest, "_")
	if !ok || !found || len(currency) != 3 {
		return "", "", false
	}
	return strings.ReplaceAll(region, "_", "-"), currency, true
}

// writeTypes writes the file that readTypes reads.
func writeTypes(w io.Writer, t tables) error {
	out := csv.NewWriter(w)
	header := []string{"name"}
	for _, h := range headings {
		header = append(header, h.heading)
	}
	for _, list := range t.prices {
		header = append(header, "od"+list.Currency+"_"+strings.ReplaceAll(list.Region, "-", "_"))
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for _, typ := range t.types {
		if err := out.Write(t.row(typ)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (t tables) row(typ facts.Type) []string {
	row := []string{typ.Name}
	for _, h := range headings {
		cell := typ.Get(h.attribute)
		if cell == "yes" {
			cell = "1"
		}
		row = append(row, cell)
	}
	for _, list := range t.prices {
		cell := ""
		if price, ok := list.Hourly[typ.Name]; ok {
			cell = price.String()
		}
		row = append(row, cell)
	}
	return row
}

// readPrices reads rows of type and price into a list. It takes a first row without a price for headings.
func readPrices(r io.Reader, list facts.Prices) (facts.Prices, error) {
	if list.Region == "" {
		return list, errors.New("-region must name the region of the prices")
	}
	reader := csv.NewReader(r)
	reader.FieldsPerRecord = 2
	rows, err := reader.ReadAll()
	if err != nil {
		return list, err
	}
	list.Hourly = map[string]model.Money{}
	for i, row := range rows {
		price, err := facts.ParsePrice(row[1])
		if err != nil && i == 0 {
			continue
		}
		if err != nil {
			return list, fmt.Errorf("row %d, %s: %w", i+1, row[0], err)
		}
		list.Hourly[row[0]] = price
	}
	if len(list.Hourly) == 0 {
		return list, errors.New("no price is in the file")
	}
	return list, nil
}
