package wire

import (
	"sync"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

const (
	columnBlocksMax    = 4096     // blocks in the server's cache
	columnBlockLenMax  = 16 << 10 // larger blocks are not cached there
	columnFixedBytes   = 0x0c     // length of the fixed part of a column definition
	columnCatalog      = "def"
	flagNotNull        = 1
	flagPriKey         = 2
	flagUniqueKey      = 4
	flagMultipleKey    = 8
	flagAutoIncrement  = 512
	paramPlaceholder   = "?"
	paramColumnFlags   = 128 // BINARY
	paramColumnType    = 0xfd
	paramColumnCharset = 63
)

// columnBlock is the encoded head of a result set: the packet with the number of columns and one packet per column,
// numbered from sequence 1, as they follow an EXECUTE. It is immutable and keeps the slice alive that identifies it.
type columnBlock struct {
	cols    []sqlapi.ColumnInfo
	results *types.Charset
	packets int
	b       []byte
}

func (b *columnBlock) matches(cols []sqlapi.ColumnInfo, results *types.Charset) bool {
	return len(b.cols) == len(cols) && len(cols) > 0 && &b.cols[0] == &cols[0] && b.results == results
}

// columnCache shares blocks between connections: 200,000 live statements over a few hundred plans need a few hundred
// blocks. Safe for concurrent use.
type columnCache struct {
	mu     sync.RWMutex               // guards blocks; held for map operations only
	blocks map[columnKey]*columnBlock // nil until used
}

type columnKey struct {
	cols    *sqlapi.ColumnInfo
	n       int
	results *types.Charset
}

// get returns the block for cols, encoding it on first use.
func (c *columnCache) get(cols []sqlapi.ColumnInfo, results *types.Charset) (*columnBlock, error) {
	if len(cols) == 0 {
		return newColumnBlock(cols, results)
	}
	key := columnKey{&cols[0], len(cols), results}
	c.mu.RLock()
	block := c.blocks[key]
	c.mu.RUnlock()
	if block != nil {
		return block, nil
	}
	block, err := newColumnBlock(cols, results)
	if err != nil || len(block.b) > columnBlockLenMax {
		return block, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// When full, start over: statements in use keep their own pointers, so that forgetting costs them nothing.
	if c.blocks == nil || len(c.blocks) >= columnBlocksMax {
		c.blocks = make(map[columnKey]*columnBlock)
	}
	c.blocks[key] = block
	return block, nil
}

func newColumnBlock(cols []sqlapi.ColumnInfo, results *types.Charset) (*columnBlock, error) {
	b, _, err := appendResultHead(nil, 1, cols, results)
	if err != nil {
		return nil, err
	}
	return &columnBlock{cols: cols, results: results, packets: len(cols) + 1, b: append([]byte(nil), b...)}, nil
}

// appendResultHead appends the packets of a columnBlock, numbered from seq, and returns the next number.
func appendResultHead(dst []byte, seq byte, cols []sqlapi.ColumnInfo, results *types.Charset) ([]byte, byte, error) {
	start := len(dst)
	dst = appendLenenc(append(dst, 0, 0, 0, 0), uint64(len(cols)))
	putHeader(dst, start, seq)
	return appendColumns(dst, seq+1, cols, results)
}

// appendColumns appends one definition packet per column. A definition that fits no packet is refused: clients do not join them.
func appendColumns(dst []byte, seq byte, cols []sqlapi.ColumnInfo, results *types.Charset) ([]byte, byte, error) {
	for i := range cols {
		start := len(dst)
		dst = appendColumn(append(dst, 0, 0, 0, 0), &cols[i], results)
		if len(dst)-start-headerBytes >= payloadMax {
			return dst, seq, types.Errorf(types.ErTooLongIdent, cols[i].Name)
		}
		putHeader(dst, start, seq)
		seq++
	}
	return dst, seq, nil
}

// appendColumn appends a ColumnDefinition41.
func appendColumn(dst []byte, c *sqlapi.ColumnInfo, results *types.Charset) []byte {
	dst = appendLenencString(dst, columnCatalog)
	for _, name := range [...]string{c.Schema, c.Table, c.OrgTable, c.Name, c.OrgName} {
		dst = appendLenencString(dst, types.FromUTF8(name, results))
	}
	return appendColumnFixed(dst, c.Type.WireCharset(results), c.Type.WireLength(results), c.Type.WireType(),
		columnFlags(c), c.Type.WireDecimals())
}

func appendColumnFixed(dst []byte, charset uint16, length uint32, wireType byte, flags uint16, decimals byte) []byte {
	dst = append(dst, columnFixedBytes)
	dst = appendUint16(dst, charset)
	dst = appendUint32(dst, length)
	dst = append(dst, wireType)
	dst = appendUint16(dst, flags)
	return append(dst, decimals, 0, 0)
}

func columnFlags(c *sqlapi.ColumnInfo) uint16 {
	flags := c.Type.WireFlags()
	for _, f := range [...]struct {
		on  bool
		bit uint16
	}{{c.NotNull, flagNotNull}, {c.PriKey, flagPriKey}, {c.UniqueKey, flagUniqueKey},
		{c.MultipleKey, flagMultipleKey}, {c.AutoInc, flagAutoIncrement}} {
		if f.on {
			flags |= f.bit
		}
	}
	return flags
}

// appendParamColumns appends the definitions of n placeholders. They look alike but for those that meet an integer column: Connector/J
// sends a number above 2^63 as unsigned only if the definition is. Of everything else clients tell the type themselves.
func appendParamColumns(dst []byte, seq byte, n int, known []types.Type) ([]byte, byte) {
	for i := range n {
		start := len(dst)
		dst = appendLenencString(append(dst, 0, 0, 0, 0), columnCatalog)
		dst = append(dst, 0, 0, 0)
		dst = appendLenencString(dst, paramPlaceholder)
		dst = append(dst, 0)
		if i < len(known) && known[i].IsInteger() {
			t := types.Type{ID: types.TypeBigInt, Unsigned: known[i].Unsigned}
			dst = appendColumnFixed(dst, paramColumnCharset, t.WireLength(nil), t.WireType(), paramColumnFlags|t.WireFlags(), 0)
		} else {
			dst = appendColumnFixed(dst, paramColumnCharset, 0, paramColumnType, paramColumnFlags, 0)
		}
		putHeader(dst, start, seq)
		seq++
	}
	return dst, seq
}

// putHeader fills the header reserved at start of a packet that ends at the end of b. Its callers see to it that its payload is below
// payloadMax; a longer one would be read as several packets, so the connection ends instead (W8).
func putHeader(b []byte, start int, seq byte) {
	n := len(b) - start - headerBytes
	if n >= payloadMax {
		panic("wire: the payload does not fit into one packet")
	}
	b[start], b[start+1], b[start+2], b[start+3] = byte(n), byte(n>>8), byte(n>>16), seq
}
