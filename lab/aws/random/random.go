// Package random provides the emulator's randomness: numbers that depend only on a seed and on their
// purpose. The same lab with the same seed has the same identifiers, prices and accidents, in whichever
// order it is asked.
package random

import (
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"strings"
)

// Seed is the source of all randomness in an emulator.
type Seed uint64

// Number returns a number for a purpose.
func (s Seed) Number(purpose ...string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatUint(uint64(s), 36) + "\x00" + strings.Join(purpose, "\x00"))) // writing to a hash never fails
	return mix(h.Sum64())
}

// mix spreads neighbouring inputs over the whole range (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Share returns a number from 0 up to but not including 1.
func (s Seed) Share(purpose ...string) float64 {
	return float64(s.Number(purpose...)>>11) / (1 << 53)
}

// Between returns a number in the half-open range.
func (s Seed) Between(low, high float64, purpose ...string) float64 {
	return low + (high-low)*s.Share(purpose...)
}

// Hex returns a text of hexadecimal digits, as identifiers have them.
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

// UUID returns a text in the form of request and message identifiers.
func (s Seed) UUID(purpose ...string) string {
	h := s.Hex(32, purpose...)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}
