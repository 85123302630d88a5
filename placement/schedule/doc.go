// Package schedule decides which change of members is next: new nodes get copies, removed ones lose theirs.
//
// Place: pure, above the vocabulary. The gateway's repair loop (package server) tells it what is known and carries out what it answers.
//
// Terms:
//   - A copy is a peer of a region on a node; a voter or a learner.
//   - A node is alive while the gateway hears of it. Who is dead keeps its copies until an operator removes it: it may come back, and where
//     nobody can be put in its place nothing is won.
//   - A node that leaves has been removed by an operator, and may be alive or not.
//
// # Rules
//
//	R1. One change at a time: none is proposed while one is under way, nor for a region of which a copy is being made, and copies are made of a few regions at a time.
//	R2. A new copy is a learner until it has caught up. Only then does it replace another.
//	R3. There are one, three or five voters, never two or four: an even number stops as easily as the odd one below it.
//	R4. The gateway's copy is a voter and stays where it is: it leads.
//	R5. No change leaves a majority of voters that are not alive, if there was one before.
//	R6. Who votes in region 0 votes in all regions, but for the time of a change: otherwise a gateway could be elected that cannot lead them.
//
// Goroutine inventory: none. Lock order: none.
//
// Absent on purpose: where regions live when there are more nodes than copies, by load and size, which comes with requests to other nodes.
package schedule
