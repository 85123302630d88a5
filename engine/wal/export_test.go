package wal

// RaceEnabled tells the tests outside of the package that the race detector is on.
const RaceEnabled = raceEnabled
