//go:build race

package wal

const raceEnabled = true // it allocates on its own
