// Package schedule decides which change of members is next: new nodes get copies, removed ones lose theirs.
//
// Place: pure, above kvapi only. The gateway's repair loop (package server) passes it what is known, and carries out what it returns.
//
// Terms:
//   - A copy is a peer of a region on a node; a voter or a learner.
//   - A node is alive if it has answered lately. A dead node keeps its copies until an operator removes it: it may come back, and without a
//     spare node removing them would gain nothing.
//   - A node that leaves has been removed by an operator, and may be alive or not.
//
// # Rules
//
//	R1. One change at a time: none is proposed while one is in progress, nor for a region of which a copy is being made. Copies of at most
//	    copyingMax regions are made at a time.
//	R2. A new copy is a learner until it has caught up. Only then does it replace another.
//	R3. There are one, three or five voters, never two or four: an even number stops as easily as the odd one below it.
//	R4. The gateway's copy is a voter and stays where it is: it leads.
//	R5. A change needs a majority of the old voters, and one of the new ones, that is alive.
//	R6. A node that votes in region 0 votes in all regions, except during changes: otherwise a gateway could be elected that cannot lead them.
//
// Goroutine inventory: none. Lock order: none.
//
// Absent on purpose: choosing nodes by load and size if there are more nodes than copies. That comes with requests to other nodes.
package schedule
