// Package transport carries what the nodes of a cluster say to each other: raft messages, snapshots, calls and the connections of
// clients. It knows bytes and node ids; what they mean is its Handler's.
//
// Place: beside the stack, below server, which gives it the certificates of package cluster/identity and the Handler. docs/design/0021 D7.
//
// Terms:
//   - A node is named by its number, which its certificate states. An incarnation counts the openings of its store, and how often that became the gateway again; a life is a number that
//     each Transport draws, so that two copies of one directory can be told apart though they count alike.
//   - A link is a connection that both sides keep alive: one for raft messages and one for calls, each for one direction. A stream is a
//     connection of its own: a snapshot, or a client.
//   - A stranger is a connection that has not shown a certificate of the cluster yet.
//   - A twin is a node that speaks while another life of the same number is alive: a data directory that was copied and started twice.
//
// # Invariants
//
//	N1. Nothing of a connection is used before both sides have shown certificates of the cluster's authority, each names the number that it
//	    speaks for, and both lives are the only ones of their numbers. What comes before that is bounded in size, time and number.
//	N2. Send never waits. What cannot be sent is dropped and counted: raft says it again.
//	N3. No kind of traffic waits for another: links and streams are connections of their own.
//	N4. A link over which nothing has come for deadAfter is dead. Both sides say something every pingEvery.
//	N5. A node that was told that it is a twin neither sends nor takes raft messages until the one that told it takes it back.
//	N6. A snapshot counts as received only if the receiver has said so.
//	N7. A node that is no member (Options.Admit) is refused, and one that ceases to be is cut off within a ping. It keeps by whom it is refused for
//	    good (Status.Final); what follows from that is its owner's affair, because a single other node may be wrong.
//	N8. A node that names a lower incarnation than is known of it, or the same in another life, is refused as an older copy of its directory, and cut off
//	    within a ping: each start has an incarnation of its own. One whose
//	    incarnation has grown meanwhile is cut off as well, and names the new one when it connects again.
//
// # Connections
//
// TCP, in it TLS 1.3 with ALPN "pando-node/1": both sides show a certificate whose one DNS name is NodeName. Then frames:
//
//	offset  bytes  content
//	0       4      length of the payload, big endian
//	4       1      kind
//	5       ...    payload; numbers and texts in it as in package internal/codec
//
//	kind        from      payload
//	1 hello     dialer    "PNDT", format byte 1, connection byte (1 raft, 2 calls, 3 snapshot, 4 client, 5 contact), cluster 8, from, to (0:
//	                      whoever is there), incarnation, life, oldest, newest, address text, region, network text, client's address text
//	2 welcome   acceptor  format byte 1, verdict byte (0 welcome), reason text, cluster 8, node, incarnation, life, version, address text,
//	                      count of others, each: node, address text
//	3 ping      both      8 bytes that a pong repeats; in streams nothing
//	4 pong      both      the 8 bytes
//	5 message   dialer    region, message (the rest)
//	6 request   dialer    number, kind byte, milliseconds that it has, payload (the rest)
//	7 reply     acceptor  number, status byte (0 answer, 1 failure, 2 busy), answer or failure (the rest)
//	8 cancel    dialer    number
//	9 data      dialer    a piece of the snapshot
//	10 end      dialer    nothing: the snapshot is complete
//	11 verdict  acceptor  status byte, failure (the rest)
//
// A raft link has kinds 3 to 5, a link of calls 3, 4 and 6 to 8, a snapshot 3 and 9 to 11. Behind the welcome of a client's connection are the
// client's bytes in both directions, and behind that of a contact nothing. A verdict other than 0 is one of the Refused values.
//
// Another format of hello or welcome is refused by a sentence that names both. Whoever accepts picks the version: the highest that both
// know.
//
// A node without a certificate joins with ALPN "pando-join/1", and pins the authority's fingerprint: one frame of kind 6 with its request
// (the payload alone), one of kind 7 with a status byte and the answer.
//
// # Locks
//
// Transport.mu guards the peers, the neighbours and the open connections; outbox.mu what is to be written; peer.mu the state of one peer, and is
// held when either of these is taken. Otherwise each is a leaf. None is held over I/O, but that SnapshotWriter.mu keeps frames of one connection apart.
//
// # Goroutines
//
// All are awaited by Close: the accept loop; one for each accepted connection, and for a link a second that writes; one for each peer to which
// messages were sent, and for its links one that writes and one that reads; one for each request that is being answered; one beside each
// snapshot that is sent or received; one that looks for the nodes behind Options.Hints. Beside a snapshot that is sent there is another, which
// SnapshotWriter's Close or Abort awaits; it ends with its connection at the latest.
//
// Absent on purpose: authorities, tokens and what joining means (package cluster/identity); rotation of certificates; compression. Two copies
// of a directory that are started in the same moment, and of which no node hears both, are told apart only when one does.
package transport
