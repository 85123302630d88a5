package transport

import "github.com/pandodb/pando/status"

// Metrics are a transport's counts.
type Metrics struct {
	SentBytes, ReceivedBytes       status.Counter // of links and snapshots, without TLS
	SentMessages, ReceivedMessages status.Counter // of raft
	Drops                          status.Counter // messages that were not sent or not taken
	Full                           status.Counter // frames for which the queue of a link had no room
	Calls, Busy                    status.Counter // calls made; calls refused here because too many wait
	Connects, Reconnects           status.Counter // connections made; those of them that replace a link of messages
	DialFailures                   status.Counter
	Refusals, Strangers            status.Counter // nodes that were refused; connections without a certificate of the cluster
	SnapshotsSent                  status.Counter
	SnapshotsReceived              status.Counter
	SnapshotBytes                  status.Counter // sent
	ClientsIn, ClientsOut          status.Counter
	RTT                            status.Histogram // of pings
}

// Metrics returns the counts, which go on.
func (t *Transport) Metrics() *Metrics { return &t.metrics }

// Register shows the counts.
func (m *Metrics) Register(r *status.Registry) error {
	for _, c := range []struct {
		name, help string
		labels     status.Labels
		counter    *status.Counter
	}{
		{"transport_bytes_total", "Bytes on links and in snapshots between nodes, without TLS.", status.Labels{"direction": "sent"}, &m.SentBytes},
		{"transport_bytes_total", "Bytes on links and in snapshots between nodes, without TLS.", status.Labels{"direction": "received"}, &m.ReceivedBytes},
		{"transport_messages_total", "Raft messages between nodes.", status.Labels{"direction": "sent"}, &m.SentMessages},
		{"transport_messages_total", "Raft messages between nodes.", status.Labels{"direction": "received"}, &m.ReceivedMessages},
		{"transport_dropped_messages_total", "Raft messages that were not sent or not taken; raft says them again.", nil, &m.Drops},
		{"transport_queue_full_total", "Frames of any kind for which the queue of a connection to another node had no room.", nil, &m.Full},
		{"transport_calls_total", "Calls made to other nodes.", nil, &m.Calls},
		{"transport_busy_total", "Calls refused because too many wait.", nil, &m.Busy},
		{"transport_connects_total", "Connections made to other nodes.", nil, &m.Connects},
		{"transport_reconnects_total", "Connections that replace one for raft messages.", nil, &m.Reconnects},
		{"transport_dial_failures_total", "Attempts to connect to another node that failed.", nil, &m.DialFailures},
		{"transport_refusals_total", "Nodes with a certificate that were refused.", nil, &m.Refusals},
		{"transport_strangers_total", "Connections to the cluster port without a certificate of the cluster.", nil, &m.Strangers},
		{"transport_snapshots_total", "Snapshots between nodes.", status.Labels{"direction": "sent"}, &m.SnapshotsSent},
		{"transport_snapshots_total", "Snapshots between nodes.", status.Labels{"direction": "received"}, &m.SnapshotsReceived},
		{"transport_snapshot_bytes_total", "Bytes of snapshots sent.", nil, &m.SnapshotBytes},
		{"transport_clients_total", "Clients handed on between nodes.", status.Labels{"direction": "sent"}, &m.ClientsOut},
		{"transport_clients_total", "Clients handed on between nodes.", status.Labels{"direction": "received"}, &m.ClientsIn},
	} {
		if err := r.Counter(c.name, c.help, c.labels, c.counter); err != nil {
			return err
		}
	}
	return r.DurationHistogram("transport_rtt_seconds", "Time that pings between nodes take.", nil, &m.RTT)
}
