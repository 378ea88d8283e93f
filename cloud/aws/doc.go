// Package aws is the provider for EC2: cloud.Provider, put together from the packages
// below, each of which knows one thing.
//
//	          NodeClass ──▶ network, image, profile, reserve ──▶ status ──▶ trial
//	                                                               │
//	stock, tariff, shortage, witness ──▶ shelf ──▶ catalogue ──────┤
//	                                                               ▼
//	claim ──▶ checkout ──▶ launch ──▶ template, CreateFleet ──▶ machine
//
// The package wires; it must not hold a rule that one of them could hold.
package aws
