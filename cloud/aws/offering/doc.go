// Package offering knows which instance types EC2 has in the region, what they are like, and
// in which zones they are offered.
//
// What EC2 says goes before the built-in facts, which fill in what EC2 does not say: how
// fast a network is when it is used all the time, and how many branch interfaces a type
// has. When to ask is decided elsewhere.
package offering
