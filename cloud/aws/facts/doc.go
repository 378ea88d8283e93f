// Package facts is the built-in knowledge of EC2: its instance types, on-demand prices
// of some regions, and the zones of regions.
//
// It holds what was published, nothing derived: how facts become labels, capacity and
// offers is the business of cloud/aws/instancetype. The tables are text files beside this
// code, written by the program in the folder generate, embedded in the binary and
// decoded at first use. Nothing here talks to AWS; what AWS itself says of a type, a
// price or a zone is to be preferred wherever it can be asked.
package facts
