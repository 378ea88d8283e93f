// Command generate rewrites the tables of package facts from newer data. It is for people who keep the
// built-in catalogue up to date; docs/reference/catalogue.md explains how. It reads and writes files, and
// never uses the network.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tenon/cloud/aws/facts"
	"tenon/core/model"
	"tenon/core/order"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// tables is what the program reads, changes and writes.
type tables struct {
	types  []facts.Type
	prices []facts.Prices
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	typesFile := flags.String("types", "", "CSV `file` of instance types that replaces both tables")
	dates := flags.String("dates", "", "when the price columns of -types were taken: `region=date,…`")
	pricesFile := flags.String("prices", "", "CSV `file` of type and hourly price that replaces one region's list")
	region := flags.String("region", "", "region of -prices")
	currency := flags.String("currency", "USD", "currency of -prices")
	date := flags.String("date", "", "when -prices was taken, as 2026-07-20")
	out := flags.String("out", filepath.Join("cloud", "aws", "facts"), "`folder` to write types.txt and prices.txt to")
	export := flags.Bool("export", false, "print the tables as the CSV that -types reads, and write nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	t := tables{types: facts.Types(), prices: slices.Clone(facts.PriceLists())}
	if *typesFile != "" {
		var err error
		if t, err = readTypesFile(*typesFile, *dates); err != nil {
			return err
		}
	}
	if *pricesFile != "" {
		list, err := readPricesFile(*pricesFile, facts.Prices{Region: *region, Currency: *currency, Date: *date})
		if err != nil {
			return err
		}
		t.prices = replaceList(t.prices, list)
	}
	if *export {
		return writeTypes(stdout, t)
	}
	if unknown := t.dropUnknown(); len(unknown) > 0 {
		fmt.Fprintf(stdout, "left out prices of types that the table of types does not have: %s\n", strings.Join(unknown, " "))
	}
	return write(*out, t)
}

// dropUnknown removes the prices of types that are not in the table, and returns the names of those types.
func (t *tables) dropUnknown() []string {
	known := map[string]bool{}
	for i := range t.types {
		known[t.types[i].Name] = true
	}
	unknown := map[string]bool{}
	for i, list := range t.prices {
		hourly := map[string]model.Money{}
		for name, price := range list.Hourly {
			if known[name] {
				hourly[name] = price
			} else {
				unknown[name] = true
			}
		}
		t.prices[i].Hourly = hourly
	}
	return order.Keys(unknown)
}

func replaceList(lists []facts.Prices, list facts.Prices) []facts.Prices {
	out := []facts.Prices{list}
	for _, l := range lists {
		if l.Region != list.Region {
			out = append(out, l)
		}
	}
	return out
}

func readTypesFile(path, dates string) (tables, error) {
	file, err := os.Open(path)
	if err != nil {
		return tables{}, err
	}
	defer file.Close()
	t, err := readTypes(file)
	if err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	for pair := range strings.SplitSeq(dates, ",") {
		region, date, _ := strings.Cut(pair, "=")
		for i := range t.prices {
			if t.prices[i].Region == region {
				t.prices[i].Date = date
			}
		}
	}
	return t, nil
}

func readPricesFile(path string, list facts.Prices) (facts.Prices, error) {
	file, err := os.Open(path)
	if err != nil {
		return list, err
	}
	defer file.Close()
	if list, err = readPrices(file, list); err != nil {
		return list, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// write makes both files in memory first and reads them back, so that it never leaves a table on the disk
// that the product could not load.
func write(folder string, t tables) error {
	var types, prices bytes.Buffer
	if err := facts.EncodeTypes(&types, t.types); err != nil {
		return err
	}
	names := make([]string, len(t.types))
	for i := range t.types {
		names[i] = t.types[i].Name
	}
	if err := facts.EncodePrices(&prices, t.prices, names); err != nil {
		return err
	}
	if _, err := facts.DecodeTypes(types.String()); err != nil {
		return fmt.Errorf("the new table of types cannot be read back: %w", err)
	}
	if _, err := facts.DecodePrices(prices.String()); err != nil {
		return fmt.Errorf("the new price lists cannot be read back: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "types.txt"), types.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "prices.txt"), prices.Bytes(), 0o644)
}
