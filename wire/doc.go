// Package wire is the server side of the MySQL client/server protocol 4.1: sockets, TLS, compression, handshake,
// authentication, commands in, row packets out.
//
// # Place
//
// wire is the top of the stack under server. It declares what it needs from a session (api.go: Backend, Session, Response)
// and its tests have a small one of their own. It takes rows through sqlapi.Sink into a types.RowEncoder whose buffer is also the
// buffer that is written to the socket: a row is encoded once and never copied. It knows no SQL, apart from the statements that
// obsolete commands are turned into (command.go) and the first words of statements, for metrics (kind.go).
//
// # Terms
//
//   - payload: what a packet carries; packet: header and payload; a payload of 16 MiB - 1 bytes is continued by the next packet.
//   - command: the first packet a client sends after the last answer; its sequence number is 0.
//   - answer: the packets for one statement; response: all answers to one command, and the object that takes them.
//   - window: the small buffer that the socket is read into; small commands are parsed in place.
//   - tick: 100 ms, the unit of the coarse clock that the reaper moves.
//   - phase: what a connection is doing (connect, idle, read, busy, write, file), published in one atomic word.
//   - decoy: a stored secret made up for an account that does not exist (privilege/password).
//   - source: an account's name together with a client's address; failed logins are counted per source.
//
// # Bytes
//
// All integers are little endian; lenenc is MySQL's length-encoded integer: one byte below 0xfb, or 0xfc + 2, 0xfd + 3, 0xfe +
// 8 bytes; lenstr is a lenenc and that many bytes.
//
//	packet          3 length of payload | 1 sequence number | payload
//	compressed      3 length | 1 sequence number | 3 length when decompressed, 0 if not compressed | zlib or zstd frame, or plain bytes
//
//	PROXY header    before the greeting, from a proxy of Options.ProxyNetworks only: https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt
//	Handshake V10   0a | version NUL | 4 connection id | 8 salt | 00 | 2 capabilities, low | ff collation | 2 status |
//	                2 capabilities, high | 15 salt length + 1 | 10 zeros | 12 salt | 00 | plugin NUL
//	AuthSwitch      fe | plugin NUL | 20 salt | 00
//	AuthMoreData    01 | 03 fast path taken, 04 send the password, or the RSA key in PEM form
//	OK              00 | lenenc affected rows | lenenc insert id | 2 status | 2 warnings | [lenstr info | [lenstr session state]]
//	EOF             fe | 2 warnings | 2 status
//	end of rows     EOF, or with CLIENT_DEPRECATE_EOF an OK that begins with fe
//	ERR             ff | 2 number | '#' | 5 SQLSTATE | text. Instead of the greeting: without '#' and SQLSTATE
//	column count    lenenc
//	column          lenstr "def" | lenstr schema, table, original table, name, original name | 0c | 2 collation | 4 length |
//	                1 type | 2 flags | 1 decimals | 2 zeros; for COM_FIELD_LIST also fb, no default
//	text row        per column: lenstr, or fb for NULL           (types.RowEncoder)
//	binary row      00 | null bitmap, offset 2 | values           (types.RowEncoder)
//	result set      column count | columns | [EOF] | rows | end of rows
//	file wanted     fb | name; the client answers with packets of its bytes and an empty one, and listens to nothing before
//	prepared        00 | 4 id | 2 columns | 2 parameters | 00 | 2 warnings; then parameters [EOF], columns [EOF]
//
//	stored secret   mysql_native_password  '*' | 40 hex digits of SHA1(SHA1(password))
//	                caching_sha2_password  "$A$" | 3 hex digits, thousands of rounds | '$' | 20 salt | 43 crypt hash
//
// # Invariants
//
//	W1.  What a session has given to its Response may be sent at any time: the session first waits until what it read is durable (exec X10).
//	W2.  A length that a client announces costs the server no memory: buffers grow with the bytes that have arrived, and no further
//	     than max_allowed_packet, or handshakePacketMax before authentication. Packets, long data, lists of arguments and rows of more than heldMin
//	     bytes are charged to the memory budget of all statements (held.go).
//	W3.  Up to authentication not a byte is read beyond the packet at hand, so nothing sent in the clear can be taken for
//	     something sent inside TLS.
//	W4.  A failed login costs the same packets and the same hashing whether the account is absent, has no password, requires TLS, or
//	     the password is wrong. Names without an account get mysql_native_password in the same proportion as accounts do; which plugin
//	     a name gets may change with a restart. Each further failed login of a source is answered later (password.Guesses).
//	W5.  A command that fits the window costs one read, its response, up to flushBytes, one write. A point EXECUTE
//	     allocates nothing here (TestPointAllocations).
//	W6.  A connection's mutable state belongs to its goroutine. Others only load and store its atomics, set deadlines on its
//	     socket or close it, set its interrupt, and read info and open under conn.mu.
//	W7.  closing is stored before the deadline that interrupts a read, and loaded after phase idle is published: a nudge
//	     is never lost.
//	W8.  A panic ends one connection. Its session is closed exactly once, and its socket after that.
//	W9.  An answer that was sent in part is completed, ended by an ERR packet, or the connection closes. An outcome that is not
//	     known (kvapi.ErrUndetermined) always closes it.
//	W10. Nothing a client sent is logged. An unexpected error is logged, and the client gets 1105 without its text. Clients' faults,
//	     refused logins, and statements that failed because of a lock or the server (report.go) are always counted, and each kind is
//	     logged at most logsPerSecond times a second.
//	W11. Locks: Server.mu and conn.mu are never held together, nor while calling a session or a socket. columnCache.mu
//	     is a leaf.
//
// # Goroutines
//
//	Serve          the caller's, one per listener; ends when the listener closes
//	conn.serve     one per connection: it reads a command, executes it, and writes the answer, by plain blocking calls; ends by the
//	               client, KILL, a timeout or Shutdown, which waits for it
//	Server.reap    one, started with the first connection; moves the coarse clock, enforces wait_timeout, net_read_timeout and
//	               net_write_timeout, notices clients that left during a statement; sleeps while there are no connections;
//	               ended by Shutdown
//
// # Absent on purpose
//
// The 3.20 handshake, optional metadata, the replication commands, sha256_password, client certificates (REQUIRE X509). A timer per
// command: the reaper is cheaper. A run queue of our own for connections: Go's scheduler and the operating system's decide who runs
// (docs/design/0010-connections.md).
package wire
