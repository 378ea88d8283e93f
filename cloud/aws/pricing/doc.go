// Package pricing knows what instances cost: on-demand prices from the Pricing API, spot
// prices from EC2, and before either answered, or where neither can be reached, the list
// that comes with the program.
//
// Prices are never forgotten for want of new ones. When to ask is decided elsewhere.
package pricing
