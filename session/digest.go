package session

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/syntax"
)

const (
	// digestsMax is performance_schema_digests_size: statements with further digests are counted in one row without a digest.
	digestsMax = 10_000
	// sampleBytesMax is performance_schema_max_sql_text_length.
	sampleBytesMax = 1024
	// digestsPage is how many rows a reader copies while it holds the lock.
	digestsPage = 128
	// plainTextsMax bounds the texts without a plan whose digests are remembered, plainBytesMax the length of each.
	plainTextsMax = 1024
	plainBytesMax = 128
)

// digestKey is what a row is found by.
type digestKey struct {
	schema string
	hash   [32]byte
}

// digestRow are the executions of all sessions with one digest.
type digestRow struct {
	digest            *plan.Digest // of the first; nil in the row for those beyond digestsMax
	count             uint64
	first, last       time.Time
	sampleTook        time.Duration
	totals            digestTotals
	latencies         latencies
	shortest, longest time.Duration
	memory            int64
	profile           profileSums
}

// profileSums are the figures of plans, summed up over executions.
type profileSums [len(exec.Profile{})]uint64

func (p *profileSums) add(figures *exec.Profile, times uint64) {
	for i, n := range figures {
		p[i] += uint64(n) * times
	}
}

// figureSums are the figures of statements: those that follow from their plans, and those counted during executions.
type figureSums struct {
	profile profileSums
	work    [exec.WorkFigures]uint64
}

func (f *figureSums) add(o *figureSums) {
	for i, n := range o.profile {
		f.profile[i] += n
	}
	for i, n := range o.work {
		f.work[i] += n
	}
}

// digestTotals are sums over executions.
type digestTotals struct {
	took                             time.Duration
	errors, warnings, affected, sent uint64
	examined, sorted, merges, tmp    uint64 // of exec.Work: rows examined and sorted, merge passes, results on disk
}

func (t *digestTotals) add(o *digestTotals) {
	t.took += o.took
	t.errors += o.errors
	t.warnings += o.warnings
	t.affected += o.affected
	t.sent += o.sent
	t.examined += o.examined
	t.sorted += o.sorted
	t.merges += o.merges
	t.tmp += o.tmp
}

// digests are the counts of all statements of the node, by digest. Sessions gather theirs in a ledger first.
type digests struct {
	mu     sync.Mutex // guards the fields below; taken under ledger.mu
	byKey  map[digestKey]*digestRow
	rows   []*digestRow // in order of arrival
	others *digestRow   // of statements beyond digestsMax; nil without any

	io tableIO // of all statements, by table

	number atomic.Uint32 // the last one given to a digest of a plan that is kept

	textMu sync.RWMutex // guards texts, whose keys are what appendEnv writes and the text; no other lock is taken under it
	texts  map[string]*plan.Digest
}

// nextNumber numbers a digest whose plan is kept.
func (d *digests) nextNumber() uint32 {
	for {
		if n := d.number.Add(1); n != 0 {
			return n
		}
	}
}

// fold adds a session's executions of one digest.
func (d *digests) fold(e *ledgerEntry) {
	base := clock.Now().Add(-clock.Mono())
	d.foldAccesses(e)
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.row(e.digest)
	if r.count == 0 {
		r.first, r.shortest, r.sampleTook = base.Add(e.first), e.shortest, e.opened
	}
	if last := base.Add(e.last); last.After(r.last) {
		r.last = last
	}
	r.count += uint64(e.n)
	r.totals.add(&e.totals)
	if e.digest.Reads {
		r.profile.add(&e.digest.Profile, uint64(e.n))
	}
	r.shortest, r.longest, r.memory = min(r.shortest, e.shortest), max(r.longest, e.longest), max(r.memory, e.memory)
	for _, bucket := range e.buckets[:e.n] {
		r.latencies.add(bucket)
	}
}

// row finds the row of a digest, or makes it.
func (d *digests) row(of *plan.Digest) *digestRow {
	key := digestKey{of.Schema, of.Hash}
	if r := d.byKey[key]; r != nil {
		return r
	}
	if len(d.rows) >= digestsMax {
		if d.others == nil {
			d.others = &digestRow{}
		}
		return d.others
	}
	if d.byKey == nil {
		d.byKey = map[digestKey]*digestRow{}
	}
	r := &digestRow{digest: of}
	d.byKey[key] = r
	d.rows = append(d.rows, r)
	return r
}

// truncate forgets all rows.
func (d *digests) truncate() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byKey, d.rows, d.others = nil, nil, nil
}

// list copies the rows, one page under each lock of mu: statements that end meanwhile wait for one page at most.
func (d *digests) list() []infoschema.StatementDigest {
	d.mu.Lock()
	rows := slices.Clone(d.rows)
	if d.others != nil {
		rows = append(rows, d.others)
	}
	d.mu.Unlock()
	out := make([]infoschema.StatementDigest, 0, len(rows))
	for page := range slices.Chunk(rows, digestsPage) {
		d.mu.Lock()
		for _, r := range page {
			out = append(out, r.shown())
		}
		d.mu.Unlock()
	}
	return out
}

func (r *digestRow) shown() infoschema.StatementDigest {
	out := infoschema.StatementDigest{Count: r.count, Took: r.totals.took, Shortest: r.shortest, Longest: r.longest, Errors: r.totals.errors, Warnings: r.totals.warnings,
		Affected: r.totals.affected, Sent: r.totals.sent, Examined: r.totals.examined, Sorted: r.totals.sorted, MergePasses: r.totals.merges, TmpDiskTables: r.totals.tmp, MemoryMax: r.memory, First: r.first, Last: r.last, Profile: r.profile}
	for i, thousandths := range []uint64{950, 990, 999} {
		out.Quantiles[i] = time.Duration(r.latencies.quantile(thousandths, r.count))
	}
	if r.digest != nil {
		out.Known, out.Schema, out.Hash, out.Text = true, r.digest.Schema, r.digest.Hash, r.digest.Text
		out.Sample, out.SampleSeen, out.SampleTook = r.digest.Sample, r.digest.Seen, r.sampleTook
	}
	return out
}

// newDigest makes the digest of a statement. sample is its text as it may be shown; it is copied.
func (s *Session) newDigest(text, sample string, kept bool) *plan.Digest {
	d := &plan.Digest{Schema: s.db, Sample: strings.Clone(clip(sample, sampleBytesMax)), Seen: clock.Now()}
	d.Text, d.Hash = syntax.Digest(text, s.parse)
	if kept {
		d.Number = s.node.digests.nextNumber()
	}
	return d
}

// planDigest is the digest of a statement with a plan.
func (s *Session) planDigest(text, sample string, p *exec.Plan, kept bool) *plan.Digest {
	if p.Profile == (exec.Profile{}) && !kept {
		return s.plainDigest(text, sample)
	}
	d := s.newDigest(text, sample, kept)
	d.Profile, d.Reads = p.Profile, p.Profile != exec.Profile{}
	return d
}

// plainDigest is the digest of a statement without a plan that is kept. Those of short texts, of which BEGIN and COMMIT are the most
// frequent, are remembered.
func (s *Session) plainDigest(text, shown string) *plan.Digest {
	if len(text) > plainBytesMax || text != shown {
		return s.newDigest(text, shown, false)
	}
	d := &s.node.digests
	s.keyBuf = append(append(s.keyBuf[:0], s.env...), text...)
	d.textMu.RLock()
	found := d.texts[string(s.keyBuf)]
	d.textMu.RUnlock()
	if found != nil {
		return found
	}
	found = s.newDigest(text, shown, true)
	d.textMu.Lock()
	defer d.textMu.Unlock()
	if d.texts == nil || len(d.texts) >= plainTextsMax {
		d.texts = make(map[string]*plan.Digest)
	}
	d.texts[string(s.keyBuf)] = found
	return found
}
