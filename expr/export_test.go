package expr

// Visited returns how many arguments building with b has looked at.
func Visited(b *BuildContext) int64 { return b.visited }

// ShortUUIDStart is shortUUIDStart.
var ShortUUIDStart = shortUUIDStart
