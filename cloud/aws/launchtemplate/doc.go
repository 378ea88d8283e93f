// Package launchtemplate makes launch templates, which tell EC2 all about an instance but its type, subnet
// and price. Build writes a template and its name; Store keeps the templates in EC2 that are in use.
//
// A template's name is a hash of its contents, so equal launches share a template, and any difference leads
// to another one: templates never change. The package must not choose types, subnets or prices.
package launchtemplate
