package cli

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"tenon/internal/view"
)

// termFlags are the flags for what is paid instead of the known prices.
type termFlags struct {
	discounts, plans []string
	prices           string
}

func (t *termFlags) flags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&t.discounts, "discount", nil, "percent that is paid less than known prices, by capacity type or capacity type and family, such as on-demand=28,on-demand/c6a=35.5")
	flags.StringSliceVar(&t.plans, "savings-plan", nil, "commitment an hour and percent of a savings plan, for all on-demand machines or a family, such as 1.5@28 or m5=0.8@34")
	flags.StringVar(&t.prices, "price-file", "", "file of your own prices an hour, which count before all but a node's label: lines of type,zone,capacity type,price, such as m5.large,,on-demand,0.0816")
}

func (t *termFlags) read() (out view.Terms, err error) {
	if out.Discounts, err = view.ParseDiscounts(t.discounts); err != nil {
		return out, fmt.Errorf("--discount: %w", err)
	}
	if out.Plans, err = view.ParseSavingsPlans(t.plans); err != nil {
		return out, fmt.Errorf("--savings-plan: %w", err)
	}
	if t.prices == "" {
		return out, nil
	}
	file, err := os.Open(t.prices)
	if err != nil {
		return out, fmt.Errorf("--price-file: %w", err)
	}
	defer file.Close()
	if out.Prices, err = view.ReadPrices(file); err != nil {
		return out, fmt.Errorf("--price-file %s: %w", t.prices, err)
	}
	return out, nil
}
