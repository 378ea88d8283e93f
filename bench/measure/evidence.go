package measure

// quoted are figures of the reference from another day, on an idle machine of two processors and
// 24 GiB. The table shows them, marked, where the reference does not run.
type quoted struct {
	seconds, price float64
}

// diverseQuoted are the reference's figures for diverse pods on 400 fake types.
var diverseQuoted = map[int]quoted{
	50: {0.10, 15.4}, 500: {1.43, 167}, 1000: {3.04, 344}, 5000: {21.0, 1756}, 10000: {56.5, 3530}, 20000: {143, 7178},
}

// scaleQuoted is the nearest known figure to 500 shapes on EC2: 100,000 generic pods on 400 fake
// types.
const scaleQuoted = "197 s, heap 1631 MiB (generic, 400 types)"
