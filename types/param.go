package types

import (
	"encoding/binary"
	"math"
)

// Types of the client protocol (MYSQL_TYPE_*).
const (
	wireDecimal    = 0x00
	wireTiny       = 0x01
	wireShort      = 0x02
	wireLong       = 0x03
	wireFloat      = 0x04
	wireDouble     = 0x05
	wireNull       = 0x06
	wireTimestamp  = 0x07
	wireLongLong   = 0x08
	wireInt24      = 0x09
	wireDate       = 0x0A
	wireTime       = 0x0B
	wireDatetime   = 0x0C
	wireYear       = 0x0D
	wireVarchar    = 0x0F
	wireBit        = 0x10
	wireJSON       = 0xF5
	wireNewDecimal = 0xF6
	wireEnum       = 0xF7
	wireSet        = 0xF8
	wireTinyBlob   = 0xF9
	wireMediumBlob = 0xFA
	wireLongBlob   = 0xFB
	wireBlob       = 0xFC
	wireVarString  = 0xFD
	wireString     = 0xFE
	wireGeometry   = 0xFF
)

// DecodeParam decodes one parameter of COM_STMT_EXECUTE. fieldType is its protocol type;
// strings are in collation coll, blobs are binary. rest is what follows it. v.B shares the
// memory of b. The error is 1835.
func DecodeParam(fieldType byte, unsigned bool, b []byte, coll CollationID) (v Value, rest []byte, err error) {
	switch fieldType {
	case wireNull:
		return Value{}, b, nil
	case wireTiny:
		return intParam(b, 1, unsigned)
	case wireShort, wireYear:
		return intParam(b, 2, unsigned)
	case wireLong, wireInt24:
		return intParam(b, 4, unsigned)
	case wireLongLong:
		return intParam(b, 8, unsigned)
	case wireFloat:
		if len(b) < 4 {
			return Value{}, nil, Errorf(ErMalformedPacket)
		}
		return Float(float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), b[4:], nil
	case wireDouble:
		if len(b) < 8 {
			return Value{}, nil, Errorf(ErMalformedPacket)
		}
		return Float(math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:], nil
	case wireDate, wireDatetime, wireTimestamp:
		return datetimeParam(b, fieldType == wireDate)
	case wireTime:
		return timeParam(b)
	}
	n, used := lenEnc(b)
	if used == 0 || n > uint64(len(b)-used) {
		return Value{}, nil, Errorf(ErMalformedPacket)
	}
	s, rest := b[used:used+int(n):used+int(n)], b[used+int(n):]
	switch fieldType {
	case wireDecimal, wireNewDecimal:
		d, tail, ok := ParseDecimal(s)
		if !ok || len(tail) > 0 {
			return String(s, coll), rest, nil // not refused here: it is converted, with a warning, where it is used
		}
		return d, rest, nil
	case wireTinyBlob, wireMediumBlob, wireLongBlob, wireBlob, wireBit, wireGeometry:
		return Bytes(s), rest, nil
	case wireVarchar, wireVarString, wireString, wireEnum, wireSet, wireJSON:
		return String(s, coll), rest, nil
	}
	return Value{}, nil, Errorf(ErMalformedPacket)
}

func intParam(b []byte, size int, unsigned bool) (Value, []byte, error) {
	if len(b) < size {
		return Value{}, nil, Errorf(ErMalformedPacket)
	}
	if unsigned {
		return Uint(storedUint(b[:size])), b[size:], nil
	}
	return Int(storedInt(b[:size])), b[size:], nil
}

// lenEnc decodes a length-encoded integer and returns its length in used, 0 if it is malformed.
func lenEnc(b []byte) (n uint64, used int) {
	if len(b) == 0 {
		return 0, 0
	}
	size := 0
	switch b[0] {
	case 0xFC:
		size = 2
	case 0xFD:
		size = 3
	case 0xFE:
		size = 8
	case 0xFB, 0xFF:
		return 0, 0
	default:
		return uint64(b[0]), 1
	}
	if len(b) < 1+size {
		return 0, 0
	}
	return storedUint(b[1 : 1+size]), 1 + size
}

func datetimeParam(b []byte, date bool) (Value, []byte, error) {
	if len(b) == 0 || len(b)-1 < int(b[0]) {
		return Value{}, nil, Errorf(ErMalformedPacket)
	}
	n := int(b[0])
	f, rest := b[1:1+n], b[1+n:]
	var d DateTime
	fsp := uint8(0)
	switch n {
	case 11:
		d.Micro = int(binary.LittleEndian.Uint32(f[7:]))
		fsp = MaxFsp
		fallthrough
	case 7:
		d.Hour, d.Minute, d.Second = int(f[4]), int(f[5]), int(f[6])
		fallthrough
	case 4:
		d.Year, d.Month, d.Day = int(binary.LittleEndian.Uint16(f)), int(f[2]), int(f[3])
	case 0:
	default:
		return Value{}, nil, Errorf(ErMalformedPacket)
	}
	if d.Year > 9999 || d.Month > 12 || d.Day > 31 || d.Hour > 23 || d.Minute > 59 || d.Second > 59 || d.Micro > 999999 {
		// MySQL converts an impossible date to NULL with a warning. The zero date is
		// refused by strict modes, where NULL might be accepted unnoticed.
		d = DateTime{}
	}
	if date && n <= 4 {
		return Date(PackDatetime(d)), rest, nil
	}
	return Datetime(PackDatetime(d), fsp), rest, nil
}

func timeParam(b []byte) (Value, []byte, error) {
	if len(b) == 0 || len(b)-1 < int(b[0]) {
		return Value{}, nil, Errorf(ErMalformedPacket)
	}
	n := int(b[0])
	f, rest := b[1:1+n], b[1+n:]
	if n != 0 && n != 8 && n != 12 {
		return Value{}, nil, Errorf(ErMalformedPacket)
	}
	if n == 0 {
		return Time(0, 0), rest, nil
	}
	sec := int64(binary.LittleEndian.Uint32(f[1:]))*86400 + int64(f[5])*3600 + int64(f[6])*60 + int64(f[7])
	us, fsp := sec*microsPerSecond, uint8(0)
	if n == 12 {
		us += int64(binary.LittleEndian.Uint32(f[8:]))
		fsp = MaxFsp
	}
	us = min(us, MaxTimeMicros)
	if f[0] != 0 {
		us = -us
	}
	return Time(us, fsp), rest, nil
}
