// Package facts is Tenon's built-in knowledge of EC2: its instance types, the on-demand prices of some
// regions, and the zones of regions.
//
// It holds only published facts; cloud/aws/instancetype derives labels, capacity and offers from them. The
// tables are text files beside this code, written by the program in the folder generate, embedded in the
// binary and decoded at first use. Nothing here talks to AWS; prefer the answers of AWS about types, prices
// and zones wherever AWS can be asked.
package facts
