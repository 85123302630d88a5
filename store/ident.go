package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
)

// formatVersion is the version of everything that this package and those above
// it write. An older binary refuses a directory with a higher one.
const formatVersion = 2

// formatAlone is the version of a store that is alone. Programs from before regions had logs read it, and refuse the next one.
const formatAlone = 1

const (
	identMagic = "PNDS"
	identLen   = 4 + 4 + 8 + 8 + 4
	// FirstID is the id of a store that starts a cluster of its own.
	FirstID = 1
)

// Reasons why Open refuses.
var (
	// ErrNewerFormat: a newer Pando has written the directory.
	ErrNewerFormat = errors.New("newer data format")
	// ErrForeign: the engine holds data, but no store's.
	ErrForeign = errors.New("not a Pando store")
	// ErrOther: the store is another node's.
	ErrOther = errors.New("another node's store")
)

// ident is the identity record of a store.
type ident struct {
	storeID uint64
	// incarnation counts the opens, so that messages to an earlier process can be told apart.
	incarnation uint64
	// clustered: the regions have logs.
	clustered bool
}

// Names of store-local records (space \x01); doc.go has their formats.
var (
	identKey = keys.LocalKey(nil, []byte("i"))
	markKey  = keys.LocalKey(nil, []byte("t"))
	gcKey    = keys.LocalKey(nil, []byte("g"))
)

func (id ident) encode() []byte {
	b := make([]byte, 0, identLen)
	b = append(b, identMagic...)
	format := uint32(formatAlone)
	if id.clustered {
		format = formatVersion
	}
	b = binary.BigEndian.AppendUint32(b, format)
	b = binary.BigEndian.AppendUint64(b, id.storeID)
	b = binary.BigEndian.AppendUint64(b, id.incarnation)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// decodeIdent checks magic and version before anything else, because a newer
// format may have other fields after them.
func decodeIdent(b []byte) (ident, error) {
	if len(b) < 8 || string(b[:4]) != identMagic {
		return ident{}, fmt.Errorf("store: %w: the identity record is not one", ErrForeign)
	}
	if v := binary.BigEndian.Uint32(b[4:]); v > formatVersion {
		return ident{}, fmt.Errorf("store: %w: the data has format %d and this program knows formats up to %d; run the newer program that wrote it",
			ErrNewerFormat, v, formatVersion)
	}
	if len(b) != identLen || binary.BigEndian.Uint32(b[identLen-4:]) != crc32.ChecksumIEEE(b[:identLen-4]) {
		return ident{}, corrupt("identity record")
	}
	return ident{storeID: binary.BigEndian.Uint64(b[8:]), incarnation: binary.BigEndian.Uint64(b[16:]),
		clustered: binary.BigEndian.Uint32(b[4:]) > formatAlone}, nil
}

// loadIdent reads the identity, whose store must be want. first is true for an empty engine.
func loadIdent(e *engine.Engine, want uint64) (id ident, first bool, err error) {
	b, found, err := e.Get(nil, identKey)
	if err != nil {
		return ident{}, false, fmt.Errorf("store: read identity: %w", err)
	}
	if found {
		if id, err = decodeIdent(b); err == nil && id.storeID != want {
			err = fmt.Errorf("store: %w: the data is that of store %d, and the directory's identity names store %d; put back the directory that belongs there",
				ErrOther, id.storeID, want)
		}
		return id, false, err
	}
	it, err := e.NewIter(engine.IterOptions{})
	if err != nil {
		return ident{}, false, fmt.Errorf("store: look for data: %w", err)
	}
	if it.First() {
		err = fmt.Errorf("store: %w: the engine holds data without an identity record", ErrForeign)
	} else {
		err = it.Error()
	}
	return ident{storeID: want}, true, errors.Join(err, it.Close())
}
