package bench

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
)

// Trivial is the ceiling: a responder that speaks just enough of the protocol to be asked for one row by its key. It keeps nothing,
// parses nothing, and answers every SELECT with the same row, so its rate is what sockets, scheduler and client leave over.
type Trivial struct {
	listener net.Listener
}

// Commands of the protocol that it tells apart, and the size of a packet's header.
const (
	commandQuit    = 0x01
	commandQuery   = 0x03
	commandPrepare = 0x16
	commandExecute = 0x17
	commandClose   = 0x19
	headerSize     = 4
	packetMax      = 1 << 20
)

// trivialCapabilities: protocol 4.1, long passwords, transactions, secure connection, multi-statements, plugin auth, connect with
// database. No DEPRECATE_EOF, as sysbench's library does not ask for it either.
const trivialCapabilities = 0x1 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x10000 | 0x80000

// NewTrivial listens on an address.
func NewTrivial(address string) (*Trivial, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &Trivial{listener: listener}, nil
}

// Address is where it listens.
func (s *Trivial) Address() string { return s.listener.Addr().String() }

// Close ends Serve; open connections end with their clients.
func (s *Trivial) Close() error { return s.listener.Close() }

// Serve answers until Close, with a goroutine for each connection.
func (s *Trivial) Serve() error {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			_ = serveTrivial(conn)
		}()
	}
}

// answers are built once: a connection writes the same bytes again and again.
var (
	okPacket       = framed(1, []byte{0, 0, 0, 2, 0, 0, 0})
	textAnswer     = trivialRow(false)
	binaryAnswer   = trivialRow(true)
	prepareAnswers = [2][]byte{trivialPrepared(false), trivialPrepared(true)}
)

func serveTrivial(conn net.Conn) error {
	reader := bufio.NewReaderSize(conn, 16<<10)
	if _, err := conn.Write(framed(0, trivialGreeting())); err != nil {
		return err
	}
	buffer := make([]byte, 0, 4096)
	if _, err := readTrivial(reader, buffer); err != nil {
		return err
	}
	if _, err := conn.Write(framed(2, []byte{0, 0, 0, 2, 0, 0, 0})); err != nil {
		return err
	}
	for {
		packet, err := readTrivial(reader, buffer)
		if err != nil || len(packet) == 0 || packet[0] == commandQuit {
			return err
		}
		answer := okPacket
		switch packet[0] {
		case commandClose:
			continue
		case commandExecute:
			// Statement 2 is the one that has rows; see trivialPrepared.
			if len(packet) > 1 && packet[1] == 2 {
				answer = binaryAnswer
			}
		case commandPrepare:
			answer = prepareAnswers[0]
			if isSelect(packet[1:]) {
				answer = prepareAnswers[1]
			}
		case commandQuery:
			if isSelect(packet[1:]) {
				answer = textAnswer
			}
		}
		if _, err := conn.Write(answer); err != nil {
			return err
		}
	}
}

func isSelect(text []byte) bool {
	return len(text) > 6 && strings.EqualFold(string(text[:6]), "SELECT")
}

func readTrivial(r *bufio.Reader, buffer []byte) ([]byte, error) {
	header, err := r.Peek(headerSize)
	if err != nil {
		return nil, err
	}
	size := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
	if size > packetMax {
		return nil, io.ErrShortBuffer
	}
	_, _ = r.Discard(headerSize)
	if size > cap(buffer) {
		buffer = make([]byte, size)
	}
	_, err = io.ReadFull(r, buffer[:size])
	return buffer[:size], err
}

func framed(sequence byte, payload []byte) []byte {
	return append([]byte{byte(len(payload)), byte(len(payload) >> 8), byte(len(payload) >> 16), sequence}, payload...)
}

func trivialGreeting() []byte {
	var p bytes.Buffer
	p.WriteByte(10)
	p.WriteString("8.0.0-trivial\x00")
	p.Write([]byte{1, 0, 0, 0})
	p.WriteString("12345678\x00")
	capabilities := uint32(trivialCapabilities)
	low := binary.LittleEndian.AppendUint16(nil, uint16(capabilities))
	p.Write(low)
	p.WriteByte(45)
	p.Write([]byte{2, 0})
	p.Write(binary.LittleEndian.AppendUint16(nil, uint16(capabilities>>16)))
	p.WriteByte(21)
	p.Write(make([]byte, 10))
	p.WriteString("123456789012\x00")
	p.WriteString("mysql_native_password\x00")
	return p.Bytes()
}

// trivialColumn describes the column c of sysbench's tables: a string of utf8mb4.
func trivialColumn() []byte {
	column := []byte("\x03def\x06sbtest\x07sbtest1\x07sbtest1\x01c\x01c\x0c\x2d\x00\xe0\x01\x00\x00\xfe\x01\x00\x00\x00\x00")
	return column
}

var eofPayload = []byte{0xfe, 0, 0, 2, 0}

// trivialRow is a whole result: one column, one row of 119 characters as sysbench stores them.
func trivialRow(binaryProtocol bool) []byte {
	value := strings.Repeat("31451373586-", 10)[:119]
	row := append([]byte{byte(len(value))}, value...)
	if binaryProtocol {
		row = append([]byte{0, 0}, row...) // header and the bitmap of NULLs
	}
	var all []byte
	for i, payload := range [][]byte{{1}, trivialColumn(), eofPayload, row, eofPayload} {
		all = append(all, framed(byte(i+1), payload)...)
	}
	return all
}

// trivialPrepared answers a prepare: statement 2 with a column and one parameter for a SELECT, else statement 1 with neither.
func trivialPrepared(selects bool) []byte {
	if !selects {
		return framed(1, []byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	}
	var all []byte
	for i, payload := range [][]byte{{0, 2, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0}, trivialColumn(), eofPayload, trivialColumn(), eofPayload} {
		all = append(all, framed(byte(i+1), payload)...)
	}
	return all
}
