// Package random is the emulator's randomness: numbers that depend on a seed and
// on what they are for, and on nothing else. The same lab with the same seed has
// the same identifiers, prices and accidents, in every order of questions.
package random

import (
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"strings"
)

// Seed is where all randomness of an emulator comes from.
type Seed uint64

// Number is a number for a purpose.
func (s Seed) Number(purpose ...string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatUint(uint64(s), 36) + "\x00" + strings.Join(purpose, "\x00"))) // hashes take everything
	return mix(h.Sum64())
}

// mix spreads neighbouring inputs over the whole range (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Share is a number from 0 up to but not including 1.
func (s Seed) Share(purpose ...string) float64 {
	return float64(s.Number(purpose...)>>11) / (1 << 53)
}

// Between is a number of the half-open range.
func (s Seed) Between(low, high float64, purpose ...string) float64 {
	return low + (high-low)*s.Share(purpose...)
}

// Hex is a text of hexadecimal digits, as identifiers have them.
func (s Seed) Hex(digits int, purpose ...string) string {
	var b []byte
	for i := 0; len(b)*2 < digits; i++ {
		n := s.Number(append([]string{strconv.Itoa(i)}, purpose...)...)
		for shift := 56; shift >= 0; shift -= 8 {
			b = append(b, byte(n>>shift))
		}
	}
	return hex.EncodeToString(b)[:digits]
}

// UUID is a text of the form that request and message identifiers have.
func (s Seed) UUID(purpose ...string) string {
	h := s.Hex(32, purpose...)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}
