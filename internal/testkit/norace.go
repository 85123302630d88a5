//go:build !race

package testkit

// RaceEnabled tells whether the race detector is compiled in: it allocates and slows, so limits do not hold under it.
const RaceEnabled = false
