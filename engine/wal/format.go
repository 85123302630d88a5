package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// The format is described in doc.go.
const (
	segmentMagic       = "PANDOWAL"
	segmentVersion     = 1
	segmentHeaderBytes = 32
	segmentSuffix      = ".wal"
	recordHeaderBytes  = 24
	recordAlign        = 8

	spareName     = "spare-wal"
	sparePartName = "spare-wal.part"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// recordBytes is the size of a record with its padding.
func recordBytes(content int) int {
	return (recordHeaderBytes + content + recordAlign - 1) &^ (recordAlign - 1)
}

// appendRecord encodes a record whose content has the CRC sum.
func appendRecord(dst, content []byte, sum uint32, pos, synced Position) []byte {
	at := len(dst)
	dst = slices.Grow(dst, recordBytes(len(content)))[:at+recordBytes(len(content))]
	h := dst[at : at+recordHeaderBytes]
	binary.LittleEndian.PutUint32(h[4:], uint32(len(content)))
	binary.LittleEndian.PutUint64(h[8:], uint64(pos))
	binary.LittleEndian.PutUint64(h[16:], uint64(synced))
	binary.LittleEndian.PutUint32(h[0:], crc32.Update(sum, castagnoli, h[4:]))
	clear(dst[at+recordHeaderBytes+copy(dst[at+recordHeaderBytes:], content):])
	return dst
}

// recordHeader is the header before a record's content.
type recordHeader struct {
	sum    uint32
	length int
	pos    Position
	synced Position
}

func decodeRecordHeader(b []byte) recordHeader {
	return recordHeader{
		sum:    binary.LittleEndian.Uint32(b[0:]),
		length: int(binary.LittleEndian.Uint32(b[4:])),
		pos:    Position(binary.LittleEndian.Uint64(b[8:])),
		synced: Position(binary.LittleEndian.Uint64(b[16:])),
	}
}

// intact checks a record, header and content, against its sum in a segment with this salt.
func (h *recordHeader) intact(salt uint32, header, content []byte) bool {
	return crc32.Update(crc32.Update(salt, castagnoli, content), castagnoli, header[4:recordHeaderBytes]) == h.sum
}

// encodeSegmentHeader returns the first bytes of a segment.
func encodeSegmentHeader(base Position, salt uint32) []byte {
	b := append(make([]byte, 0, segmentHeaderBytes), segmentMagic...)
	b = binary.LittleEndian.AppendUint32(b, segmentVersion)
	b = binary.LittleEndian.AppendUint64(b, uint64(base))
	b = binary.LittleEndian.AppendUint32(b, salt)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return append(b, 0, 0, 0, 0)
}

// decodeSegmentHeader reads the header of the segment with this base. present is false for a file that has its name but not yet its header:
// it is short, has zeros, or has the header of the segment that it was before. Anything else is damage.
func decodeSegmentHeader(b []byte, base Position) (salt uint32, present bool, err error) {
	if len(b) < segmentHeaderBytes || [segmentHeaderBytes]byte(b) == [segmentHeaderBytes]byte{} {
		return 0, false, nil
	}
	if string(b[:8]) != segmentMagic || binary.LittleEndian.Uint32(b[24:]) != crc32.Checksum(b[:24], castagnoli) {
		return 0, false, fmt.Errorf("%w: the header of %s is not intact", ErrDamaged, segmentName(base))
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != segmentVersion {
		return 0, false, fmt.Errorf("%w: %s has version %d, this binary knows %d", ErrVersion, segmentName(base), v, segmentVersion)
	}
	return binary.LittleEndian.Uint32(b[20:]), Position(binary.LittleEndian.Uint64(b[12:])) == base, nil
}

func segmentName(base Position) string { return fmt.Sprintf("%016x", uint64(base)) + segmentSuffix }

// parseSegmentName returns the base of a segment's name.
func parseSegmentName(name string) (base Position, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return Position(n), err == nil
}

// IsFile reports whether a file of this name belongs to the log.
func IsFile(name string) bool {
	_, segment := parseSegmentName(name)
	_, mark := parseMark(name)
	return segment || mark || name == spareName || name == sparePartName
}
