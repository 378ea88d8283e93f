// Package capacityreservation finds capacity that the account already pays for, and tracks how much of it is
// left between two queries of EC2.
//
// Other packages decide which reservation a launch takes. When in doubt, Counts reports too much rather than
// too little: EC2 refuses a launch that does not fit.
package capacityreservation
