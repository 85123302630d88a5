package wire

import (
	"errors"
	"math"

	"github.com/pandodb/pando/types"
)

const (
	argsKeepMax     = 256 // parameter values kept between commands
	longDataFactor  = 4   // long data of all statements of a connection, in units of max_allowed_packet
	longValueBytes  = 64  // what long data of a parameter take besides their bytes
	executeHeadLen  = 10  // command, id, flags, iteration count
	stmtNone        = 0
	inlineTypeCount = 4 // parameters whose types need no allocation
)

// stmt is what wire keeps of a prepared statement: what is needed to parse its parameters and to describe its result. The
// session has the rest. With 200,000 of them alive, its size matters.
type stmt struct {
	id     uint32
	params uint16
	kind   Kind
	bound  bool     // types are known: clients send them with the first EXECUTE only
	types  []uint16 // per parameter: type in the low byte, paramTypeUnsign<<8 above
	inline [inlineTypeCount]uint16
	block  *columnBlock // head of its last result
	long   *longData    // nil until COM_STMT_SEND_LONG_DATA
}

// longData is what COM_STMT_SEND_LONG_DATA has gathered for one statement.
type longData struct {
	values map[uint16][]byte
	fault  error // the command has no answer: EXECUTE reports
}

// stmtTable holds a connection's statements. The zero value is empty.
type stmtTable struct {
	m         map[uint32]*stmt
	last      *stmt // that get returned: most executions repeat the previous statement
	longBytes int   // in all statements
	held      *held // of the connection, for them
}

func (t *stmtTable) get(id uint32) *stmt {
	if t.last != nil && t.last.id == id {
		return t.last
	}
	if s := t.m[id]; s != nil {
		t.last = s
		return s
	}
	return nil
}

func (t *stmtTable) add(id uint32, params int, kind Kind) {
	if t.m == nil {
		t.m = make(map[uint32]*stmt)
	}
	t.remove(id)
	s := &stmt{id: id, params: uint16(params), kind: kind}
	if params <= inlineTypeCount {
		s.types = s.inline[:params]
	} else {
		s.types = make([]uint16, params)
	}
	t.m[id] = s
}

func (t *stmtTable) remove(id uint32) {
	s := t.m[id]
	if s == nil {
		return
	}
	t.dropLong(s)
	if t.last == s {
		t.last = nil
	}
	delete(t.m, id)
}

func (t *stmtTable) clear() {
	_ = t.held.set(heldLong, 0)
	*t = stmtTable{held: t.held}
}

// dropLong forgets a statement's long data.
func (t *stmtTable) dropLong(s *stmt) {
	if s.long == nil {
		return
	}
	for _, v := range s.long.values {
		t.longBytes -= len(v) + longValueBytes
	}
	_ = t.held.set(heldLong, t.longBytes)
	s.long = nil
}

// addLong appends to a parameter's long data. limit bounds one value, in bytes, and longDataFactor*limit all of the connection's.
func (t *stmtTable) addLong(s *stmt, param uint16, data []byte, limit int) {
	if s.long == nil {
		s.long = &longData{values: make(map[uint16][]byte)}
	}
	switch {
	case s.long.fault != nil:
	case param >= s.params:
		s.long.fault = types.Errorf(types.ErWrongArguments, "mysql_stmt_send_long_data")
	case len(s.long.values[param])+len(data) > limit || t.longBytes+len(data) > longDataFactor*limit:
		t.faultLong(s, types.Errorf(types.ErNetPacketTooLarge))
	default:
		v, more := s.long.values[param], len(data)
		if v == nil {
			more += longValueBytes
		}
		if err := t.held.set(heldLong, t.longBytes+more); err != nil {
			t.faultLong(s, err)
			return
		}
		if v == nil {
			v = make([]byte, 0, len(data)) // present, even if empty
		}
		s.long.values[param] = append(v, data...)
		t.longBytes += more
	}
}

// faultLong replaces a statement's long data by an error, which the next EXECUTE reports.
func (t *stmtTable) faultLong(s *stmt, fault error) {
	t.dropLong(s)
	s.long = &longData{fault: fault}
}

// parseArgs reads the parameters of a COM_STMT_EXECUTE, which follow its iteration count, into args. The values alias the
// payload and the long data. The error is errMalformed or a *types.Error.
func (s *stmt) parseArgs(args *Args, body []byte, coll types.CollationID, held *held) error {
	n := int(s.params)
	args.Values = args.Values[:0]
	if n == 0 {
		return nil
	}
	p := cursor{b: body}
	nulls := p.take((n + 7) / 8)
	newTypes := p.uint8()
	if p.bad || newTypes > 1 || newTypes == 0 && !s.bound {
		return errMalformed
	}
	if newTypes == 1 {
		list := p.take(2 * n)
		if p.bad {
			return errMalformed
		}
		for i := range s.types {
			s.types[i] = uint16(list[2*i]) | uint16(list[2*i+1])<<8
		}
		s.bound = true
	}
	return s.values(&p, nulls, args, coll, held)
}

// values reads the values of the statement's own parameters.
func (s *stmt) values(p *cursor, nulls []byte, args *Args, coll types.CollationID, held *held) error {
	if n := int(s.params); n > argsKeepMax && n > cap(args.Values) {
		if err := held.set(heldArgs, max(n*argBytes, int(held.bytes[heldArgs]))); err != nil {
			return err
		}
		args.Values = make([]types.Value, 0, n)
	}
	for i := range int(s.params) {
		v, err := s.parseArg(p, i, nulls[i>>3]>>(i&7)&1 != 0, coll)
		if err != nil {
			return err
		}
		args.Values = append(args.Values, v)
	}
	return nil
}

func (s *stmt) parseArg(p *cursor, i int, null bool, coll types.CollationID) (types.Value, error) {
	if s.long != nil {
		if data, ok := s.long.values[uint16(i)]; ok {
			if isBlob(byte(s.types[i])) {
				coll = types.Binary
			}
			return types.String(data, coll), nil
		}
	}
	return decodeParam(p, s.types[i], null, coll)
}

// decodeParam reads a value of a type as the protocol writes it, with paramTypeUnsign<<8.
func decodeParam(p *cursor, typ uint16, null bool, coll types.CollationID) (types.Value, error) {
	fieldType, unsigned := byte(typ), typ>>8&paramTypeUnsign != 0
	if null || fieldType == paramTypeNull {
		return types.Null(), nil
	}
	v, rest, err := types.DecodeParam(fieldType, unsigned, p.b, coll)
	if err != nil {
		if known, ok := errors.AsType[*types.Error](err); ok && known.Number != types.ErMalformedPacket {
			return v, known
		}
		return v, errMalformed
	}
	p.b = rest
	return v, nil
}

// isBlob reports whether a parameter of the protocol's type is bytes rather than text.
func isBlob(fieldType byte) bool { return fieldType >= 0xf9 && fieldType <= 0xfc }

// release forgets what the last EXECUTE's values point to, so that an idle connection does not keep a large packet alive, and the
// values themselves if they were many.
func (a *Args) release() {
	clear(a.Values)
	if cap(a.Values) > argsKeepMax {
		a.Values = nil
	}
}

// stmtParamsMax is MySQL's limit, and the protocol's.
const stmtParamsMax = math.MaxUint16
