// Package capacityreservation finds capacity that is paid for already, and counts how much of it is
// left between two looks at EC2.
//
// Which reservation a launch takes is decided elsewhere. Counts rather say too much than
// too little: EC2 refuses what is not there.
package capacityreservation
