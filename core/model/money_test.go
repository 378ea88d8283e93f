package model

import (
	"strings"
	"testing"
)

func TestParsePrice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Money{"0": 0, "0.12": 120_000, "1e-3": 1_000, "1000000": MaxPrice, "0.0000004": 0, "0.0000006": 1} {
		if got, err := ParsePrice(text); err != nil || got != want {
			t.Errorf("ParsePrice(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "is not a price;", "0,12": "is not a price;", "$1": "is not a price;", "-0.1": "between 0 and 1000000;", "1000001": "between 0 and 1000000;",
		"NaN": "between 0 and 1000000;", "Inf": "between 0 and 1000000;", "1e999": "between 0 and 1000000;",
	} {
		if got, err := ParsePrice(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "such as 0.12") {
			t.Errorf("ParsePrice(%q) = %d, %v, want an error with %q and the remedy", text, got, err, want)
		}
	}
}
