package meta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/codec"
)

const (
	commandVersion = 1
	// idsMax is how many ids one command gives.
	idsMax = 1 << 20
	// textMax bounds addresses and names of services.
	textMax = 1 << 10
	// safepointsMax bounds the services.
	safepointsMax = 1 << 10
)

// ErrCommand wraps whatever is wrong with the bytes of a command or a record.
var ErrCommand = errors.New("meta: malformed")

// kind names a command.
type kind byte

const (
	kindIDs kind = 1 + iota
	kindMark
	kindVersion
	kindStore
	kindSafepoint
)

// Store is a store as the cluster knows it.
type Store struct {
	ID, Incarnation uint64
	// Oldest and Newest are the cluster versions that its program knows.
	Oldest, Newest uint64
	Address        string
}

// Safepoint is what a service reads at, or will.
type Safepoint struct {
	Service   string
	TS, Until clock.Timestamp
}

// State is the state of region 0. The zero value is that of a cluster that has not begun.
type State struct {
	nextID, version uint64
	mark            clock.Timestamp
	stores          map[uint64]Store
	safepoints      map[string]Safepoint
}

// Change is a record to be written, or deleted if Value is nil. Name is without the space.
type Change struct{ Name, Value []byte }

// IDs returns the command that gives n ids; its result is the first.
func IDs(n uint64) []byte { return codec.AppendUint(head(kindIDs), n) }

// Mark returns the command that raises the mark.
func Mark(ts clock.Timestamp) []byte { return codec.AppendUint(head(kindMark), uint64(ts)) }

// Version returns the command that raises the cluster version.
func Version(v uint64) []byte { return codec.AppendUint(head(kindVersion), v) }

// PutStore returns the command that enters a store.
func PutStore(s Store) []byte { return s.fields(codec.AppendUint(head(kindStore), s.ID)) }

// PutSafepoint returns the command that sets a service's safepoint, or takes it back if TS is zero. Those whose time was over at now go.
func PutSafepoint(p Safepoint, now clock.Timestamp) []byte {
	b := codec.AppendUint(codec.AppendUint(codec.AppendUint(head(kindSafepoint), uint64(p.TS)), uint64(p.Until)), uint64(now))
	return codec.AppendBytes(b, p.Service)
}

// Begin makes the state of a cluster that begins with one store, and returns its records.
func (s *State) Begin(nextID uint64, mark clock.Timestamp, version uint64, first Store) []Change {
	*s = State{nextID: nextID, mark: mark, version: version, stores: map[uint64]Store{first.ID: first}}
	return []Change{s.number('i', nextID), s.number('t', uint64(mark)), s.number('v', version), first.change()}
}

// Apply changes the state by a command, and returns the records that change and the command's result.
func (s *State) Apply(command []byte) (changes []Change, result uint64, err error) {
	if len(command) < 2 || command[0] != commandVersion {
		return nil, 0, fmt.Errorf("%w: a command of %d bytes or of another version", ErrCommand, len(command))
	}
	d := codec.NewDecoder(command[2:])
	switch kind(command[1]) {
	case kindIDs:
		n := d.Uint()
		if err := end(&d); err != nil {
			return nil, 0, err
		}
		if n == 0 || n > idsMax || s.nextID+n < s.nextID {
			return nil, 0, fmt.Errorf("%w: %d ids", ErrCommand, n)
		}
		result = s.nextID
		s.nextID += n
		return []Change{s.number('i', s.nextID)}, result, nil
	case kindMark:
		ts := clock.Timestamp(d.Uint())
		if err := end(&d); err != nil || ts <= s.mark {
			return nil, uint64(s.mark), err
		}
		s.mark = ts
		return []Change{s.number('t', uint64(ts))}, uint64(ts), nil
	case kindVersion:
		v := d.Uint()
		if err := end(&d); err != nil || v <= s.version {
			return nil, s.version, err
		}
		for _, st := range s.stores {
			if v > st.Newest {
				return nil, s.version, nil // a store does not know it yet
			}
		}
		s.version = v
		return []Change{s.number('v', v)}, v, nil
	case kindStore:
		st := Store{ID: d.Uint()}
		st.read(&d)
		if err := end(&d); err != nil {
			return nil, 0, err
		}
		if st.Oldest > s.version || st.Newest < s.version || st.Incarnation < s.stores[st.ID].Incarnation {
			return nil, 0, nil // it cannot read what there is, or is an earlier life
		}
		if s.stores == nil {
			s.stores = map[uint64]Store{}
		}
		s.stores[st.ID] = st
		return []Change{st.change()}, st.ID, nil
	case kindSafepoint:
		return s.applySafepoint(&d)
	}
	return nil, 0, fmt.Errorf("%w: a command of kind %d", ErrCommand, command[1])
}

// applySafepoint sets or takes back a safepoint. The result is 1 if that was done.
func (s *State) applySafepoint(d *codec.Decoder) (changes []Change, result uint64, err error) {
	p := Safepoint{TS: clock.Timestamp(d.Uint()), Until: clock.Timestamp(d.Uint())}
	now := clock.Timestamp(d.Uint())
	p.Service = d.Text(textMax)
	if err := end(d); err != nil {
		return nil, 0, err
	}
	for _, old := range s.Safepoints() {
		if old.Until <= now || old.Service == p.Service && p.TS == 0 {
			delete(s.safepoints, old.Service)
			changes = append(changes, Change{Name: append([]byte{'p'}, old.Service...)})
		}
	}
	if p.TS == 0 {
		return changes, 1, nil
	}
	if len(s.safepoints) >= safepointsMax && s.safepoints[p.Service].TS == 0 {
		return changes, 0, nil
	}
	if s.safepoints == nil {
		s.safepoints = map[string]Safepoint{}
	}
	s.safepoints[p.Service] = p
	value := codec.AppendUint(codec.AppendUint(nil, uint64(p.TS)), uint64(p.Until))
	return append(changes, Change{Name: append([]byte{'p'}, p.Service...), Value: value}), 1, nil
}

// NextID, Mark and Version return the next id, the mark and the cluster version.
func (s *State) NextID() uint64 { return s.nextID }

// Mark returns the mark.
func (s *State) Mark() clock.Timestamp { return s.mark }

// Version returns the cluster version.
func (s *State) Version() uint64 { return s.version }

// Stores returns the stores in the order of their ids.
func (s *State) Stores() (out []Store) {
	for _, st := range s.stores {
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b Store) int { return int(int64(a.ID) - int64(b.ID)) })
	return out
}

// Safepoints returns the services' safepoints in the order of their names.
func (s *State) Safepoints() (out []Safepoint) {
	for _, p := range s.safepoints {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Safepoint) int {
		if a.Service < b.Service {
			return -1
		}
		return 1
	})
	return out
}

// Oldest returns the oldest timestamp that a service wants to read at, or ts if that is older. now judges whose time is over.
func (s *State) Oldest(ts, now clock.Timestamp) clock.Timestamp {
	for _, p := range s.safepoints {
		if p.Until > now {
			ts = min(ts, p.TS)
		}
	}
	return ts
}

// Load takes in a record.
func (s *State) Load(name, value []byte) error {
	if len(name) == 0 {
		return fmt.Errorf("%w: a record without a name", ErrCommand)
	}
	d := codec.NewDecoder(value)
	switch name[0] {
	case 'i':
		s.nextID = d.Uint()
	case 't':
		s.mark = clock.Timestamp(d.Uint())
	case 'v':
		s.version = d.Uint()
	case 's':
		if len(name) != 9 {
			return fmt.Errorf("%w: record %q", ErrCommand, name)
		}
		st := Store{ID: binary.BigEndian.Uint64(name[1:])}
		st.read(&d)
		if s.stores == nil {
			s.stores = map[uint64]Store{}
		}
		s.stores[st.ID] = st
	case 'p':
		p := Safepoint{Service: string(name[1:]), TS: clock.Timestamp(d.Uint()), Until: clock.Timestamp(d.Uint())}
		if s.safepoints == nil {
			s.safepoints = map[string]Safepoint{}
		}
		s.safepoints[p.Service] = p
	default:
		return fmt.Errorf("%w: record %q", ErrCommand, name)
	}
	return end(&d)
}

func (s *State) number(name byte, v uint64) Change {
	return Change{Name: []byte{name}, Value: codec.AppendUint(nil, v)}
}

func (st *Store) change() Change {
	return Change{Name: binary.BigEndian.AppendUint64([]byte{'s'}, st.ID), Value: st.fields(nil)}
}

func (st *Store) fields(b []byte) []byte {
	return codec.AppendBytes(codec.AppendUint(codec.AppendUint(codec.AppendUint(b, st.Incarnation), st.Oldest), st.Newest), st.Address)
}

func (st *Store) read(d *codec.Decoder) {
	st.Incarnation, st.Oldest, st.Newest, st.Address = d.Uint(), d.Uint(), d.Uint(), d.Text(textMax)
}

func head(k kind) []byte { return []byte{commandVersion, byte(k)} }

// end is the fault of what was decoded.
func end(d *codec.Decoder) error {
	if err := d.End(); err != nil {
		return fmt.Errorf("%w: %w", ErrCommand, err)
	}
	return nil
}
