package catalog

// UseView is a use of a table that a session has, or waits for.
type UseView struct {
	Table *Table
	Owner uint64 // see Use.SetOwner; 0 is a schema change
	Write bool
	// Whole says that the use excludes others: it is that of LOCK TABLES or a schema change.
	Whole, Waiting bool
}

// List lists who uses tables of a snapshot or waits for them, at most usesMax uses. It reads one session after the other, so that the uses of
// different ones need not have existed at the same time.
func (r *Uses) List(s *Snapshot, usesMax int) (list []UseView) {
	byGate := map[*Gate]*Table{}
	for _, db := range s.Databases() {
		for _, t := range s.Tables(db.Name) {
			if t.gate != nil {
				byGate[t.gate] = t
			}
		}
	}
	add := func(g *Gate, v UseView) {
		if v.Table = byGate[g]; v.Table != nil && len(list) < usesMax {
			list = append(list, v)
		}
	}
	for _, u := range r.registered() {
		owner := u.Owner()
		use := func(g *Gate, word uint64) {
			add(g, UseView{Owner: owner, Write: UseMode(word)&UseWrite != 0})
		}
		for i := range u.slots {
			if g := u.slots[i].gate.Load(); g != nil {
				use(g, u.slots[i].word.Load())
			}
		}
		u.mu.Lock()
		for g, word := range u.more {
			use(g, word)
		}
		u.mu.Unlock()
		if g := u.waiting.Load(); g != nil {
			add(g, UseView{Owner: owner, Write: g.waitsToWrite(u), Waiting: true})
		}
	}
	for g := range byGate {
		if x := g.owner.Load(); x != nil {
			owner := uint64(0)
			if x.group != nil && x.group.self != nil {
				owner = x.group.self.Owner()
			}
			add(g, UseView{Owner: owner, Write: true, Whole: true})
		}
		for _, owner := range g.readers() {
			add(g, UseView{Owner: owner, Whole: true})
		}
	}
	return list
}

// readers are the owners of the guards.
func (g *Gate) readers() (owners []uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, guard := range g.guards {
		if guard.group != nil && guard.group.self != nil {
			owners = append(owners, guard.group.self.Owner())
		}
	}
	return owners
}

func (r *Uses) registered() (all []*Use) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for u := range r.all {
		all = append(all, u)
	}
	return all
}

// waitsToWrite reports whether a session in the queue wants to write.
func (g *Gate) waitsToWrite(u *Use) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.queue {
		if w.use == u {
			return w.mode&UseWrite != 0
		}
	}
	return false
}
