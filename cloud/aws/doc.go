// Package aws is the provider for EC2: it implements cloud.Provider with the packages below, each of which
// knows one thing.
//
//	NodeClass ──▶ inventory (network, ami, instanceprofile, …) ──▶ classstatus ──▶ dry run
//	                                                                   │
//	            facts, instancetype, offering ──▶ catalogue ───────────┤
//	                                                                   ▼
//	          claim ──▶ launch ──▶ launchtemplate, CreateFleet ──▶ instance
//
// The package wires; it must not hold a rule that one of them could hold.
package aws
