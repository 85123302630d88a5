//go:build race

package expr_test

// raceEnabled: the race detector makes pools forget at random, so that allocations can't be counted.
const raceEnabled = true
