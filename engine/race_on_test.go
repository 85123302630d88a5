//go:build race

package engine

const raceEnabled = true // it allocates on its own
