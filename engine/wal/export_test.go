package wal

// RaceEnabled tells the tests outside of the package that the race detector is on.
const RaceEnabled = raceEnabled

// FixSalt makes Open use a salt of the test's, until the function that it returns is called.
func FixSalt(salt uint32) (restore func()) {
	drawn := newSalt
	newSalt = func() uint32 { return salt }
	return func() { newSalt = drawn }
}
