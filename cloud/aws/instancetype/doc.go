// Package instancetype turns facts about EC2 into a catalogue: for each instance type its
// labels, its capacity and what of it pods cannot use, and the offers of it by zone and
// capacity type with their prices.
//
// It is a pure function of its parameters. A provider fills them from what it has
// discovered; `tenon plan` takes Defaults, or an EC2NodeClass from a file. The package
// calls no API, reads no file and remembers nothing.
package instancetype
