// Package accounts holds what accounts own in the emulated AWS: networks, images, launch templates,
// instances, reservations, roles, queues. It decides what a launch gets, moves instances through their
// lives on an injected clock, and makes the simulated machines join and leave. Package ec2 and its
// neighbours read requests and write answers.
//
//	World ─▶ Account (roles, profiles) ─▶ Region (everything else)
//	  │
//	  ├─ agenda: what will happen when; it is caught up with before every request
//	  └─ outbox: what to tell the simulated machines, after the lock is released
//
// One lock guards all of it. Only World.Run acts without a request, and it only catches up with the
// agenda when something is due.
package accounts
