package pack

// This file has every parameter of the search. None of them decides what is allowed: other figures give
// other plans, but every plan keeps all rules.
//
// Each figure has its measurement beside it: by how much the price of 13 plans changes, on
// average, with another value. The plans are for 500 to 3,500 pods of 25 to 120 shapes, with
// rules, and beside existing nodes; they take 5,256 million steps in all. "README" points to
// measurements for other sizes there, "–" means not measured.

// Parts of the effort. A step takes about a nanosecond; core/provision hands the effort out.
const (
	relaxPart      = 4         // the relaxation of all that waits, and of existing nodes: 8 +0.46 %; 2 -0.51 %, 12 % more steps
	draftsPart     = 2         // filling bins in several ways, the first two in any case: 8 -0.01 %, 32 % fewer steps
	divePart       = 8         // each dive: 32 -0.01 %, 29 % fewer steps
	lateDivePart   = 64        // each dive beyond manyPodsLeft or manyBins: –
	repairPart     = 4         // overhauls, and again repairs: 16 +0.33 %; 2 -0.01 %, 17 % more steps
	lateRepairPart = 32        // each of the two beyond manyBins: –
	overhaulPart   = 32        // the relaxation of one overhaul, and its drafts: –
	dearestPart    = 8         // the relaxation that fills existing nodes by what is dearest elsewhere: 32 no change
	leastDive      = 1_000_000 // steps of a relaxation on the way down, at least: –
)

// Sizes from which on the packer works in another way.
const (
	fewToTry       = 11   // pods: every way of grouping them is tried: README
	fewPods        = 4000 // pods: all scorings are tried, and there is more effort for each: 300 +0.23 %, 54 % fewer steps
	manyPodsAtOnce = 8000 // pods: bins are filled in one way, without a dive: README
	manyPodsLeft   = 400  // pods: a dive that begins with more of them stops early: 50 +0.01 %; README
	manyKinds      = 300  // kinds of pods: a few are looked at for each bin: README
	fewKinds       = 75   // kinds that are looked at: README
	lastChoices    = 4    // kinds of these that still fit: all others are looked at, too: README
	manyRows       = 100  // rows of a relaxation: its prices settle slowly, and all else follows them: README
	mostTimes      = 5    // times the effort that a relaxation gets for its rows: README
	manyBins       = 1500 // bins: the worst few of them are a small part of the price: –
	manyOffers     = 2000 // offers: repairs look at those in use only: –
)

// How far a price may be above a bound before the packer does more.
const (
	settledPrices = 1.1  // a relaxation whose patterns say what a best fleet is like: README
	nearlyBest    = 1.01 // what existing nodes leave, without another way to fill them: 2 no change
	farOff        = 1.3  // a draft over its relaxation, from where on no dive is made: 1 -0.18 %, 61 % fewer steps; README
	closelyProven = 1.02 // a plan whose bound is not raised: no plan changes
)

// Repairs.
const (
	manyPods       = 600 // pods that are taken apart at a time: 150 -0.18 %
	patience       = 60  // attempts in a row that gain nothing and end the repairs: 15 +0.33 %; 240 -0.31 %, README
	overhauls      = 4   // times that the most wasteful bins are packed anew together: 0 +0.28 %, 29 % fewer steps
	perSize        = 5   // offers of about one price that repairs try: 1 +0.29 %; 20 +0.07 %
	manyCrossroads = 500 // relaxations of dives that are remembered: memory only
)

// Relaxations.
const (
	worthRow        = 64 // a group with a smaller share of the pods has no row, since its cap hardly forces a node: 1 +0.06 %
	surchargeRounds = 10 // relaxations that a proof with limits may solve: no plan changes
)

// scorings are the ways to choose the next pod. The packer always uses the first, and the others
// if the effort allows.
var scorings = [...]scoring{
	{fairness: 0.5, largeFirst: 1},
	{fairness: 0.5, largeFirst: 2},
	{fairness: 0.2, largeFirst: 1},
	{fairness: 0.8, largeFirst: 2},
	{fairness: 0.05, largeFirst: 0},
	{fairness: 0.5, largeFirst: 4},
}
