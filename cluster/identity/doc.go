// Package identity says who belongs to a cluster: its authority, the certificates of its nodes, join tokens, and how a node joins.
//
// Place: beside the stack, below server, which keeps what a node has to remember in its data directory and gives Desk the region 0 that it
// reads and changes. The nodes' connections are package cluster/transport's. docs/design/0021 D7.
//
// Terms:
//   - The authority is a key that signs certificates, made at promotion and kept in region 0. Its fingerprint is the SHA-256 of its
//     certificate.
//   - A token is what an operator carries from a member to a node that shall join. A member is a node that has joined.
//   - The desk is the part of a member that answers who wants to join. The one of region 0's leader decides; others ask it.
//
// # Invariants
//
//	I1. A node's key never leaves its directory, and a token's secret is nowhere but in the token: region 0 has a hash of each.
//	I2. A certificate is given only for a number that region 0 has entered for that very key.
//	I3. Whoever joins says nothing, its secret above all, before the member has shown a certificate of the authority that the token names.
//	I4. Joining may be repeated at any point: the same key gets the same number until its node has told of itself.
//	I5. Who joins at the address of a member that does not answer there takes its place: the member leaves. One that answers keeps its address.
//	I6. A later start of a node's directory, told of by way of another node, does not count while the leader hears an earlier one: that is a copy's.
//
// # Certificates
//
// X.509, Ed25519, DER. The authority's is valid for 30 years from a day before it was made, and a node's for 20 years from a day before it
// joined: clocks may be wrong by hours. Certificates are not renewed; a node can be removed and join again before its certificate ends. A
// node's has one DNS name, transport.NodeName, which names the cluster and the node.
//
// # Tokens
//
// "pando-join-" and base64 (of URLs, without padding) of:
//
//	format byte 1, until (seconds since 1970), fingerprint bytes, secret bytes, count of addresses, each a text, CRC-32 of all before it (4, big endian)
//
// Numbers are LEB128, bytes and texts have their length in front, as in package internal/codec.
//
// # Requests to a member (transport's Ask), and what it answers
//
//	request   format byte 1, secret bytes, oldest, newest (versions of the cluster), public key bytes, address text, milliseconds since 1970,
//	          program text
//	answer    format byte 1, cluster 8 (big endian), node, certificate bytes, authority's certificate bytes, count of members, each: node, address text
//
// # Calls (transport's Call; kinds 1 to 15 are this package's)
//
//	1 join      hops byte, the request; answered as above
//	2 register  hops byte, id, incarnation, oldest, newest, address text: a node tells of itself; answered by nothing
//	3 who       nothing; answered by the number of region 0's leader, 0 if it is not known
//
// A member that does not lead region 0 passes calls 1 and 2 on to the leader, once.
//
// Goroutine inventory: none. Locks: none.
//
// Absent on purpose: rotation of keys and certificates, and revocation: a removed node is refused by its number (transport N7).
package identity
