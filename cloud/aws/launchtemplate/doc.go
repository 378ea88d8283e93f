// Package launchtemplate makes launch templates: what EC2 has to know of an instance beside its
// type, subnet and price. Build says what is in one and what it is called; Store keeps
// those in EC2 that are in use.
//
// A template's name is a hash of what is in it, so equal launches share one, and one that
// differs in anything gets another: templates never change. The package must not choose
// types, subnets or prices.
package launchtemplate
