package store

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pandodb/pando/kvapi"
)

// rangeKindNames are the letters for kinds of range locks in the locks' ids.
var rangeKindNames = [kvapi.RangeKinds]byte{kvapi.RangeGap: 'g', kvapi.RangeWhole: 'w'}

// Locks lists at most locksMax locks that are held or waited for. It locks one shard of the table at a time, so that others wait little; the list
// is therefore not a snapshot of one moment.
func (s *Store) Locks(locksMax int) []kvapi.LockView {
	t := &s.locks
	var list []kvapi.LockView
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		for at := 0; at < len(sh.buckets) && sh.locks > 0; at++ {
			for e := sh.buckets[at]; e != nil && len(list) < locksMax; e = e.next {
				list = e.list(list)
			}
		}
		sh.mu.Unlock()
	}
	return t.ranges.list(list, locksMax)
}

// list appends the locks of one key, held and waited for. The caller holds the shard's mutex.
func (e *lockEntry) list(dst []kvapi.LockView) []kvapi.LockView {
	key := bytes.Clone(e.key)
	var holders []kvapi.LockHolder
	add := func(o *Owner, mode kvapi.LockMode) {
		info := kvapi.LockView{LockHolder: kvapi.LockHolder{ID: e.id(o, mode), Owner: o.id, Session: o.session}, Key: key, Mode: mode}
		holders = append(holders, info.LockHolder)
		dst = append(dst, info)
	}
	if e.exclusive != nil {
		add(e.exclusive, kvapi.LockExclusive)
	}
	for _, o := range e.shared {
		add(o, kvapi.LockShared)
	}
	for w := e.head; w != nil; w = w.next {
		o := w.owner
		dst = append(dst, kvapi.LockView{LockHolder: kvapi.LockHolder{ID: e.id(o, w.mode), Owner: o.id, Session: o.session}, Key: key, Mode: w.mode,
			Waiting: true, Since: w.since, Blockers: slices.DeleteFunc(slices.Clone(holders), func(h kvapi.LockHolder) bool { return h.Owner == o.id })})
	}
	return dst
}

// id names a lock for as long as it is held or waited for. It is unique: an owner has a key in one mode once.
func (e *lockEntry) id(o *Owner, mode kvapi.LockMode) string {
	return fmt.Sprintf("%d:%016x:%s", o.id, e.hash, mode)
}

// list appends the locks of ranges, and the waits for them.
func (t *rangeTable) list(dst []kvapi.LockView, locksMax int) []kvapi.LockView {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, holders := range t.tables {
		for _, h := range holders {
			h.each(func(holder kvapi.LockHolder, s kvapi.Span, kind kvapi.RangeKind) bool {
				if len(dst) < locksMax {
					dst = append(dst, kvapi.LockView{LockHolder: holder, Key: bytes.Clone(s.Start), End: bytes.Clone(s.End), Range: true, Kind: kind})
				}
				return len(dst) < locksMax
			})
		}
	}
	for _, w := range t.waiters {
		if len(dst) >= locksMax {
			break
		}
		o := w.owner
		info := kvapi.LockView{LockHolder: kvapi.LockHolder{ID: fmt.Sprintf("%d:i", o.id), Owner: o.id, Session: o.session}, Key: bytes.Clone(w.key),
			Mode: kvapi.LockExclusive, Creates: w.access == accessCreate, Waiting: true, Since: w.since}
		t.eachBlocker(o, w.key, w.access, func(h *rangeHolder) bool {
			h.each(func(holder kvapi.LockHolder, s kvapi.Span, kind kvapi.RangeKind) bool {
				if !s.Contains(w.key) || kind == kvapi.RangeGap && w.access != accessCreate {
					return true
				}
				info.Blockers = append(info.Blockers, holder)
				return false
			})
			return true
		})
		dst = append(dst, info)
	}
	return dst
}

// each calls f for the spans that the holder has locked, and the one that it is reading, until f returns false. The caller holds the table's mutex.
func (h *rangeHolder) each(f func(holder kvapi.LockHolder, s kvapi.Span, kind kvapi.RangeKind) bool) {
	name := func(kind kvapi.RangeKind, at int) kvapi.LockHolder {
		return kvapi.LockHolder{ID: fmt.Sprintf("%d:%d:%c%d", h.owner.id, h.id, rangeKindNames[kind], at), Owner: h.owner.id, Session: h.owner.session}
	}
	for kind, spans := range h.kept {
		for at, s := range spans {
			if !f(name(kvapi.RangeKind(kind), at), s, kvapi.RangeKind(kind)) {
				return
			}
		}
	}
	if h.active {
		f(name(h.kind, len(h.kept[h.kind])), h.reading, h.kind)
	}
}
