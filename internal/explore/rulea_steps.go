package explore

type adder func(next modelState, format string, args ...any)

func (s *modelState) setMarks(keys, mark, ts uint8) {
	for k := range modelKeys {
		if keys&bit(k) != 0 {
			s.keys[k].mark, s.keys[k].markTS = mark, ts
		}
	}
}

// begin hands an entry to a region's line, which publishes its marks.
func (sc *Scenario) begin(s *modelState, region, t int, keys uint8, prewrite bool) {
	s.regions[region] = modelRegion{stage: begun, txn: uint8(t), keys: keys, prewrite: prewrite}
	if sc.Rules.MarkFirst {
		s.setMarks(keys, uint8(t+1), 0)
	}
}

// lineSteps moves the entry in flight of a region on, or changes its leader.
func (sc *Scenario) lineSteps(s modelState, r int, add adder) {
	line := s.regions[r]
	next := s
	switch line.stage {
	case begun:
		next.now++
		next.regions[r].stage, next.regions[r].ts = issued, next.now
		add(next, "region %d: timestamp %d issued for transaction %d", r, next.now, line.txn)
	case issued:
		next.regions[r].stage = stamped
		next.setMarks(line.keys, line.txn+1, line.ts)
		add(next, "region %d: marks of transaction %d say %d", r, line.txn, line.ts)
	case stamped:
		next.regions[r].stage = proposed
		if sc.Rules.MarkTillApply {
			next.setMarks(line.keys, line.txn+1, line.ts)
		} else {
			next.setMarks(line.keys, 0, 0)
		}
		add(next, "region %d: propose transaction %d", r, line.txn)
	case proposed, inherited:
		sc.apply(&next, r)
		add(next, "region %d: apply transaction %d", r, line.txn)
	}
	if s.changes < sc.LeaderChanges && line.stage != inherited {
		sc.leaderSteps(s, r, add)
	}
}

// leaderSteps elects another leader: what was in memory is gone, and a proposal is in its log or is not.
func (sc *Scenario) leaderSteps(s modelState, r int, add adder) {
	line := s.regions[r]
	next := s
	next.changes++
	for k := range modelKeys {
		if s.region(k) != r {
			continue
		}
		key := &next.keys[k]
		key.mark, key.markTS = 0, 0
		key.deposed, key.deposedAt = true, key.versions
		for i := range next.reads {
			if next.reads[i].stage[k] == 1 {
				// The term has changed between the reader's halves: it begins again.
				next.reads[i].stage[k], next.reads[i].seen[k] = 0, 0
			}
		}
	}
	if line.stage == proposed {
		kept := next
		kept.regions[r].stage = inherited
		add(kept, "region %d: new leader has the entry of transaction %d", r, line.txn)
	}
	if line.stage != idle {
		next.txns[line.txn].failed = true // undetermined: nobody sends it again
	}
	next.regions[r] = modelRegion{}
	add(next, "region %d: new leader", r)
}

func (sc *Scenario) apply(s *modelState, r int) {
	line := s.regions[r]
	t := int(line.txn)
	for k := range modelKeys {
		if line.keys&bit(k) == 0 {
			continue
		}
		key := &s.keys[k]
		if line.prewrite {
			key.lock, key.lockTS = line.txn+1, line.ts
			s.txns[t].locked |= bit(k)
			s.txns[t].least[k] = line.ts
		} else {
			key.versions[t] = line.ts
		}
		key.mark, key.markTS = 0, 0
	}
	if !line.prewrite {
		s.txns[t].commit, s.txns[t].acked = line.ts, true
	}
	s.regions[r] = modelRegion{}
}

// refuses says whether a transaction that read nothing newer than the start may not write or rely on the key.
func (s *modelState) refuses(t, k int) bool {
	key := &s.keys[k]
	return key.lock != 0 && key.lock != uint8(t+1) || newest(key.versions, s.now) != 0
}

// onePhaseSteps begins a commit in one region; the region's line evaluates its checks.
func (sc *Scenario) onePhaseSteps(s modelState, t int, add adder) {
	plan, keys := sc.Txns[t], sc.Txns[t].Writes|sc.Txns[t].Checks
	region := 0
	if s.split && keys&bit(0) == 0 {
		region = 1
	}
	// The epoch check: a commit of keys in two regions is not handed to either.
	if s.txns[t].sent != 0 || s.split && keys == bit(0)|bit(1) || s.regions[region].stage != idle {
		return
	}
	next := s
	next.txns[t].sent = keys
	for k := range modelKeys {
		if keys&bit(k) != 0 && s.refuses(t, k) {
			next.txns[t].failed = true
			add(next, "transaction %d: conflict", t)
			return
		}
	}
	sc.begin(&next, region, t, plan.Writes, false)
	add(next, "transaction %d: one-phase commit", t)
}

// prewriteSteps hands one key to its region's line. A request of a dead coordinator may still arrive.
func (sc *Scenario) prewriteSteps(s modelState, t int, add adder) {
	plan, txn := sc.Txns[t], s.txns[t]
	if !sc.Rules.CheckAfterTS && !txn.checked && plan.Checks != 0 {
		sc.checkStep(s, t, s.now, add)
		return
	}
	for k := range modelKeys {
		r := s.region(k)
		if plan.Writes&bit(k) == 0 || txn.sent&bit(k) != 0 || s.regions[r].stage != idle {
			continue
		}
		next := s
		next.txns[t].sent |= bit(k)
		if s.refuses(t, k) || s.keys[k].rolled[t] {
			next.txns[t].failed = true
			add(next, "transaction %d: prewrite of key %d refused", t, k)
			continue
		}
		sc.begin(&next, r, t, bit(k), true)
		add(next, "transaction %d: prewrite of key %d", t, k)
	}
	if sc.MayDie && !txn.dead && txn.sent != 0 {
		next := s
		next.txns[t].dead = true
		add(next, "transaction %d: coordinator dies", t)
	}
}

// checkStep asks the present leaders of the checked keys whether they are as they were read.
func (sc *Scenario) checkStep(s modelState, t int, c uint8, add adder) {
	next := s
	next.txns[t].checked = true
	for k := range modelKeys {
		if sc.Txns[t].Checks&bit(k) == 0 {
			continue
		}
		key := &s.keys[k]
		if s.regions[s.region(k)].stage == inherited && sc.Rules.ApplyThenServe || key.mark != 0 && (key.markTS == 0 || key.markTS <= c) {
			return // waits
		}
		if key.lock != 0 && key.lock != uint8(t+1) || newest(key.versions, c) != 0 {
			next.txns[t].failed = true
		}
	}
	add(next, "transaction %d: checks at %d", t, c)
}

// decideSteps is the coordinator after its prewrites.
func (sc *Scenario) decideSteps(s modelState, t int, add adder) {
	plan, txn := sc.Txns[t], s.txns[t]
	// A coordinator that was taken for dead may be alive and go on.
	if txn.failed || txn.locked != plan.Writes || txn.acked {
		return
	}
	next := s
	switch {
	case plan.Path == Async:
		c := txn.least[primary(plan)]
		if sc.Rules.MaxOfPrewrites {
			c = max(txn.least[0], txn.least[1])
		}
		next.txns[t].commit, next.txns[t].acked = c, true
		add(next, "transaction %d: acknowledged at %d", t, c)
	case txn.commit == 0:
		next.now++
		next.txns[t].commit = next.now
		add(next, "transaction %d: commit timestamp %d", t, next.now)
	case plan.Checks != 0 && !txn.checked:
		sc.checkStep(s, t, txn.commit, add)
	default:
		if p := primary(plan); s.keys[p].lock == uint8(t+1) && s.regions[s.region(p)].stage == idle {
			next.commitKey(t, p, txn.commit)
			next.txns[t].acked = true
			add(next, "transaction %d: primary committed at %d", t, txn.commit)
		}
	}
}

func primary(plan TxnPlan) int {
	for k := range modelKeys {
		if plan.Writes&bit(k) != 0 {
			return k
		}
	}
	return 0
}

func (s *modelState) commitKey(t, k int, c uint8) {
	key := &s.keys[k]
	key.versions[t], key.lock, key.lockTS = c, 0, 0
}

// resolveSteps finishes the keys of a decided transaction, and decides one whose coordinator is dead or gave up.
func (sc *Scenario) resolveSteps(s modelState, t int, add adder) {
	plan, mine := sc.Txns[t], uint8(t+1)
	p := primary(plan)
	for k := range modelKeys {
		r := s.region(k)
		if plan.Writes&bit(k) == 0 || s.regions[r].stage != idle {
			continue // one entry in flight
		}
		next := s
		committed := max(s.keys[0].versions[t], s.keys[1].versions[t])
		async := plan.Path == Async
		switch {
		case s.keys[k].lock == mine && (s.txns[t].acked && !s.txns[t].dead || committed != 0):
			c := committed
			if committed == 0 {
				c = s.txns[t].commit
			}
			next.commitKey(t, k, c)
			add(next, "resolve: key %d of transaction %d committed at %d", k, t, c)
		case !s.txns[t].dead && !s.txns[t].failed, s.keys[k].rolled[t], committed != 0:
		case s.keys[k].lock == mine && async && s.allLocked(t, plan.Writes):
			c := max(s.keys[0].lockTS*b2u(plan.Writes&bit(0) != 0), s.keys[1].lockTS*b2u(plan.Writes&bit(1) != 0))
			next.commitKey(t, k, c)
			add(next, "resolve: key %d of async transaction %d committed at %d", k, t, c)
		case s.keys[k].lock == mine && async && !sc.Rules.ResolveAll && k == p:
			next.commitKey(t, k, s.keys[k].lockTS)
			add(next, "resolve: key %d of async transaction %d committed by its primary at %d", k, t, s.keys[k].lockTS)
		case sc.rollbackAllowed(&s, t, k, p, plan):
			next.keys[k].rolled[t] = sc.Rules.RollbackMarker
			if s.keys[k].lock == mine {
				next.keys[k].lock, next.keys[k].lockTS = 0, 0
			}
			add(next, "resolve: key %d of transaction %d rolled back", k, t)
		}
	}
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func (s *modelState) allLocked(t int, keys uint8) bool {
	for k := range modelKeys {
		if keys&bit(k) != 0 && s.keys[k].lock != uint8(t+1) {
			return false
		}
	}
	return true
}

// rollbackAllowed says whether a resolver may roll back key k. What decides falls first, and its marker keeps it fallen:
// the primary of a two-phase commit; of an async commit, a key that has no lock.
func (sc *Scenario) rollbackAllowed(s *modelState, t, k, p int, plan TxnPlan) bool {
	if plan.Path == TwoPhase {
		gone := s.keys[p].lock != uint8(t+1) && s.keys[p].versions[t] == 0
		return k == p || s.keys[p].rolled[t] || !sc.Rules.RollbackMarker && gone
	}
	if s.keys[k].lock != uint8(t+1) {
		return true
	}
	for other := range modelKeys {
		if s.keys[other].rolled[t] {
			return true
		}
	}
	return !sc.Rules.RollbackMarker && !s.allLocked(t, plan.Writes)
}

// readSteps moves a reader on: its timestamp, then per key the two halves of a read.
func (sc *Scenario) readSteps(s modelState, i int, add adder) {
	read := s.reads[i]
	if !sc.Latest[i] && read.ts == 0 {
		next := s
		next.now++
		next.reads[i].ts = next.now
		add(next, "reader %d: timestamp %d", i, next.now)
		return
	}
	for k := range modelKeys {
		if read.stage[k] == 2 {
			continue
		}
		next := s
		mine := &next.reads[i]
		ts := read.ts
		if sc.Latest[i] {
			ts = s.now
		}
		key := &s.keys[k]
		if !sc.Rules.Lease && key.deposed {
			stale := next
			stale.reads[i].stage[k], stale.reads[i].seen[k], stale.reads[i].at[k] = 2, newest(key.deposedAt, ts), ts
			add(stale, "reader %d: key %d from a deposed leader", i, k)
		}
		if sc.Rules.ApplyThenServe && s.regions[s.region(k)].stage == inherited {
			continue
		}
		looks := (read.stage[k] == 0) == sc.Rules.MarksThenRead
		if looks && sc.mustWait(key, ts, sc.Latest[i]) {
			continue
		}
		if !looks {
			mine.seen[k] = newest(key.versions, ts)
		}
		if read.stage[k] == 0 {
			mine.at[k] = ts
		}
		// A read of the latest version stands for the later of its beginning and what it saw.
		mine.at[k] = max(mine.at[k], mine.seen[k])
		mine.stage[k]++
		add(next, "reader %d: half %d of key %d at %d", i, mine.stage[k], k, mine.at[k])
	}
}

// mustWait says whether a reader may not pass the key's mark or lock.
func (sc *Scenario) mustWait(key *modelKey, ts uint8, latest bool) bool {
	if latest {
		return sc.Rules.LatestWaits && (key.mark != 0 || key.lock != 0)
	}
	if key.mark != 0 && (key.markTS == 0 && sc.Rules.WaitUnstamped || key.markTS != 0 && key.markTS <= ts) {
		return true
	}
	return key.lock != 0 && key.lockTS <= ts
}
