package reason

import "regexp"

var hourly = regexp.MustCompile(`([0-9])( more)? an hour\b`)

// InCurrency puts a currency behind every price in a text. Decisions know amounts alone: it is what tells of them that
// knows the currency. An empty currency leaves the text as it is.
func InCurrency(text, currency string) string {
	if currency == "" {
		return text
	}
	return hourly.ReplaceAllString(text, "$1 "+currency+"$2 an hour")
}
