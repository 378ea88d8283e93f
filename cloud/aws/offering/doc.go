// Package offering knows what each class can buy, and builds its catalogue. It puts together
// the instance types of the region, their prices (asked for, else those that come with the
// program; never forgotten for want of new ones), and what was learned: how much memory nodes really
// had, what EC2 could not give a moment ago, and which zones traffic is led away from. A
// catalogue is built anew when any of that has changed, and is the same value as long as
// nothing has.
//
// What EC2 says goes before the built-in facts, which fill in what EC2 does not say: how
// fast a network is when it is used all the time, and how many branch interfaces a type
// has. When to ask EC2 is decided elsewhere; a catalogue is built without asking.
package offering
