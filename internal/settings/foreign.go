package settings

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"tenon/internal/clusterautoscaler"
)

// registerForeign adds the flags of Cluster Autoscaler that the set does not have, so that its command line can be given as it is.
// Help does not list them.
func registerForeign(flags *pflag.FlagSet) []clusterautoscaler.KnownFlag {
	var out []clusterautoscaler.KnownFlag
	for _, known := range clusterautoscaler.KnownFlags() {
		if flags.Lookup(known.Name) != nil {
			continue
		}
		flag := flags.VarPF(&rawText{text: known.Default, kind: "text"}, known.Name, "", known.Instead())
		flag.Hidden = true
		if known.Boolean() {
			flag.NoOptDefVal = "true"
		}
		out = append(out, known)
	}
	return out
}

// readForeign warns of those that were given, and refuses those that would keep something from happening.
func readForeign(flags *pflag.FlagSet, foreign []clusterautoscaler.KnownFlag) ([]Warning, error) {
	var (
		warnings []Warning
		problems []error
	)
	for _, known := range foreign {
		flag := flags.Lookup(known.Name)
		if !flag.Changed {
			continue
		}
		text, err := known.Told(flag.Value.String())
		if err != nil {
			problems = append(problems, fmt.Errorf("invalid setting --%s=%q: %w", known.Name, flag.Value, err))
			continue
		}
		warnings = append(warnings, Warning{Flag: known.Name, Text: text})
	}
	return warnings, errors.Join(problems...)
}
