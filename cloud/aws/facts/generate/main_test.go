package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/cloud/aws/facts"
)

// Generating from an export gives the built-in table to the byte, so editing an export is a safe way to
// correct a fact.
func TestExportGeneratesTheSameTables(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var exported bytes.Buffer
	if err := run([]string{"-export"}, &exported); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "types.csv")
	if err := os.WriteFile(file, exported.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	dates := "us-east-1=2026-07-20,us-gov-east-1=2026-07-20,us-gov-west-1=2026-07-20"
	if err := run([]string{"-types", file, "-dates", dates, "-out", folder}, &exported); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"types.txt", "prices.txt"} {
		if diff := cmp.Diff(content(t, filepath.Join("..", name)), content(t, filepath.Join(folder, name))); diff != "" {
			t.Errorf("%s (-built in +generated):\n%s", name, diff)
		}
	}
}

func TestPricesOfOneRegionAreReplaced(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "prices.csv")
	text := "type,price\nm5.large,0.096\nzz9.huge,1\nt3.nano,0.0052\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	err := run([]string{"-prices", file, "-region", "us-west-2", "-date", "2026-09-01", "-out", folder}, &said)
	if err != nil {
		t.Fatal(err)
	}
	if want := "left out prices of types that the table of types does not have: zz9.huge\n"; said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
	lists, err := facts.DecodePrices(content(t, filepath.Join(folder, "prices.txt")))
	if err != nil {
		t.Fatal(err)
	}
	if len(lists) != len(facts.PriceLists())+1 {
		t.Fatalf("%d lists, want one more than %d", len(lists), len(facts.PriceLists()))
	}
	got := lists[len(lists)-1]
	if got.Region != "us-west-2" || got.Date != "2026-09-01" || len(got.Hourly) != 2 || got.Hourly["t3.nano"] != 5_200 {
		t.Errorf("new list is %+v", got)
	}
	if _, there := facts.PricesFor("us-east-1").Hourly["m5.large"]; !there {
		t.Error("the built-in list has changed")
	}
}

func TestReadTypes(t *testing.T) {
	t.Parallel()
	text := "odUSD_us_west_2,vcpus,name,bareMetal,odUSD_us_west_1\n0.096,2,m5.large,false,\n,96,m5.metal,true,\n"
	got, err := readTypes(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.types) != 2 || got.types[0].VCPUs != 2 || !got.types[1].BareMetal || got.types[1].MemoryMiB.Known() {
		t.Errorf("types are %+v", got.types)
	}
	if len(got.prices) != 1 || got.prices[0].Region != "us-west-2" || len(got.prices[0].Hourly) != 1 {
		t.Errorf("prices are %+v, want one list with one price", got.prices)
	}
}

func TestReadTypesRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, want string }{
		"an empty file":           {"", "read the headings: EOF"},
		"no names":                {"vcpus\n2\n", "no column is called name"},
		"an unknown column":       {"name,wheels\nm5.large,4\n", `column "wheels" is not one that the tables know`},
		"a name without size":     {"name\nm5\n", `m5: instance type "m5" is not a family, a dot and a size`},
		"a name without family":   {"name\n.large\n", `.large: instance type ".large" is not a family, a dot and a size`},
		"a type twice":            {"name\nm5.large\nm5.large\n", "m5.large: the type is there twice"},
		"a count that is text":    {"name,vcpus\nm5.large,two\n", `m5.large: vcpus: "two" is not a count`},
		"a price that is text":    {"name,odUSD_us_west_2\nm5.large,dear\n", `m5.large: "dear" is not a positive price`},
		"a row with a cell short": {"name,vcpus\nm5.large\n", "record on line 2: wrong number of fields"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readTypes(strings.NewReader(tc.text))
			if err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

func TestReadPricesRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ region, text, want string }{
		"no region":        {"", "m5.large,1\n", "-region must name the region of the prices"},
		"headings alone":   {"us-west-2", "type,price\n", "no price is in the file"},
		"a bad second row": {"us-west-2", "m5.large,1\nm5.xlarge,dear\n", `row 2, m5.xlarge: "dear" is not a positive price`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readPrices(strings.NewReader(tc.text), facts.Prices{Region: tc.region})
			if err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
