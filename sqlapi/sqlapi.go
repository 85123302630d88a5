package sqlapi

import "github.com/pandodb/pando/types"

// ColumnInfo describes one column of a result set as the protocol's column
// definition packet needs it. The slice handed to Sink.Columns belongs to the plan
// and is shared by all sessions: receivers only read it.
type ColumnInfo struct {
	// Schema, Table and OrgTable name where the column comes from; Table is the
	// alias if the statement gives one. All three are empty for an expression.
	Schema, Table, OrgTable string
	// Name is the heading, OrgName the column's own name, empty for an expression.
	Name, OrgName string
	Type          types.Type
	// The flags below become the flags of the column definition packet.
	NotNull     bool
	PriKey      bool
	UniqueKey   bool
	MultipleKey bool
	AutoInc     bool
}

// Sink receives one result set. It is used by one goroutine at a time.
type Sink interface {
	// Columns announces the result set and returns the encoder that takes the
	// rows. The encoder stays valid until the last RowDone.
	Columns(cols []ColumnInfo) (*types.RowEncoder, error)
	// RowDone is called after the encoder's EndRow. Direct programs call it while a
	// storage iterator is open, so it finishes the row in the buffer and leaves the
	// sending to Flush if the sink is a Flusher; a sink that is none may send, and
	// block on the client, here. An error ends the statement.
	RowDone() error
}

// AnswerBytesMax is how many bytes of finished rows a Flusher gathers: RowDone sends, too, where there are as many. A producer lets no such row
// meet an open iterator.
const AnswerBytesMax = 1 << 20

// Flusher is a Sink that separates finishing rows from sending them, so that no
// storage iterator waits for a slow client. Producers call Flush between pages, at
// most about a thousand rows or 256 KiB apart.
type Flusher interface {
	Sink
	// Flush may send what is buffered and block on the client while it does, if
	// enough has gathered; it need not. An error ends the statement.
	Flush() error
}

// Status is the set of SERVER_STATUS_* flags in OK and EOF packets.
type Status = uint16

// The flags of the protocol, by their wire values.
const (
	StatusInTrans            Status = 0x0001
	StatusAutocommit         Status = 0x0002
	StatusMoreResults        Status = 0x0008
	StatusNoGoodIndexUsed    Status = 0x0010
	StatusNoIndexUsed        Status = 0x0020
	StatusCursorExists       Status = 0x0040
	StatusLastRowSent        Status = 0x0080
	StatusDBDropped          Status = 0x0100
	StatusNoBackslashEscapes Status = 0x0200
	StatusMetadataChanged    Status = 0x0400
	StatusQueryWasSlow       Status = 0x0800
	StatusPSOutParams        Status = 0x1000
	StatusInTransReadonly    Status = 0x2000
	StatusSessionChanged     Status = 0x4000
)

// Result is the tail of an answer: what the OK or EOF packet says.
type Result struct {
	// AffectedRows is what mysql_affected_rows returns: rows changed, or rows found
	// when the client set CLIENT_FOUND_ROWS. For a query it is the number of rows
	// sent.
	AffectedRows uint64
	// InsertID is the first AUTO_INCREMENT value the statement generated, or the
	// explicit one it stored; 0 if neither.
	InsertID uint64
	// Warnings is the number of conditions recorded, capped at 65535.
	Warnings uint16
	// Status is filled by the session; exec leaves it 0.
	Status Status
	// Info is the text behind an OK packet, such as "Records: 3  Duplicates: 0
	// Warnings: 0"; usually empty.
	Info string
	// State are the changes to the session that the client is told of, as entries of the protocol; nil without any.
	State []byte
	// HasRows says that a result set was sent, so that the answer ends with EOF
	// rather than being an OK.
	HasRows bool
}

// Attribute is something that a client tells of a statement besides its text: a query attribute of the protocol.
type Attribute struct {
	Name  []byte // in character_set_client
	Value types.Value
}
