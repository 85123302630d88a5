//go:build race

package aio

const raceEnabled = true // it allocates on its own
