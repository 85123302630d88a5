package keys

// SortPlaces is sortPlaces.
var SortPlaces = sortPlaces
