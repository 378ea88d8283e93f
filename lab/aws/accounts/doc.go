// Package accounts is what accounts own in the emulated AWS: networks, images, launch templates, instances,
// reservations, roles, queues. It decides what a launch gets, moves instances through their lives on an
// injected clock, and makes the simulated machines join and leave. Package ec2 and its neighbours write
// requests and answers.
//
//	World ─▶ Account (roles, profiles) ─▶ Region (everything else)
//	  │
//	  ├─ agenda: what will happen when; it is caught up with before every request
//	  └─ outbox: what to tell the simulated machines, after the lock is released
//
// One lock guards all of it. Nothing here runs on its own but World.Run, which
// does no more than catch up with the agenda when something is due.
package accounts
