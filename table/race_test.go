//go:build race

package table_test

// raceEnabled: the race detector makes pools drop objects, so allocations mean nothing.
const raceEnabled = true
