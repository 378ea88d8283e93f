// Package instancetype turns facts about EC2 into a catalogue: for each instance type its labels, its
// capacity, the part of the capacity that pods cannot use, and its offers by zone and capacity type with
// their prices.
//
// It is a pure function of its parameters. A provider fills them from what it has
// discovered; `tenon plan` takes Defaults, or an EC2NodeClass from a file. The package
// calls no API, reads no file and remembers nothing.
package instancetype
