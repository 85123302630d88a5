package session

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/stats"
	"github.com/pandodb/pando/table"
)

const (
	// factsMax bounds the tables in factsCache.
	factsMax = 16_384
	// factsVersions is how many versions of rows, and of entries of each index, are read for them: the facts of a table with fewer are exact.
	factsVersions = 1000
	// factsVersionsMax replaces it for a table without statistics that is only in memory, where nothing else tells how many there are.
	factsVersionsMax = 50_000
	// guessedPart is the assumed share of distinct values in an index that is not unique and was not analysed.
	guessedPart = 0.1
)

// tableFacts are facts about one version of a table, as they were at a time.
type tableFacts struct {
	infoschema.TableFacts
	table *catalog.Table
	stats *stats.Table // that the facts were made with, nil without any
	whole bool         // all rows were read
	at    time.Duration
	small *stats.Table // statistics of a table that was read whole, once asked for; guarded by factsCache.mu
}

// factsCache are facts about tables, by physical id: what MySQL keeps in mysql.table_stats and mysql.index_stats.
type factsCache struct {
	mu   sync.Mutex // guards byID and tableFacts.small; no other lock is taken under it
	byID map[uint64]*tableFacts

	looks atomic.Uint64 // calls of look
}

// find returns the facts about a table that are not older than expiry and were made with the same statistics, nil if there are none.
func (c *factsCache) find(t *catalog.Table, now *stats.Table, expiry time.Duration) *tableFacts {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.byID[t.PhysID]
	if f == nil || f.table != t || f.stats != now || clock.Mono()-f.at >= expiry {
		return nil
	}
	return f
}

func (c *factsCache) put(t *catalog.Table, f *tableFacts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = map[uint64]*tableFacts{}
	}
	if c.byID[t.PhysID] == nil && len(c.byID) >= factsMax {
		for id := range c.byID { // an arbitrary one: the tables are mostly asked for all together
			delete(c.byID, id)
			break
		}
	}
	c.byID[t.PhysID] = f
}

// facts returns the facts about a table: cached ones, if they are not older than information_schema_stats_expiry and than the table's
// statistics, else those that look finds now.
func (p *provider) facts(t *catalog.Table) (*tableFacts, error) {
	if t.View != nil || t.Temporary != nil { // no storage holds them
		return &tableFacts{table: t}, nil
	}
	if err := p.session().poll(); err != nil {
		return nil, err
	}
	expiry := time.Duration(mustInt(p.session().get("information_schema_stats_expiry"))) * time.Second
	now := p.node.Stats.Of(t)
	if f := p.node.facts.find(t, now, expiry); f != nil {
		return f, nil
	}
	f, err := p.look(t, now)
	if err != nil {
		return nil, exec.MapError(err, &p.interrupt)
	}
	if expiry > 0 {
		p.node.facts.put(t, f)
	}
	return f, nil
}

// look determines the facts about a table. It counts the rows of a small table; for others it uses statistics if there are any.
func (p *provider) look(t *catalog.Table, now *stats.Table) (*tableFacts, error) {
	p.node.facts.looks.Add(1)
	f := &tableFacts{table: t, stats: now, at: clock.Mono()}
	size, err := p.node.Txns.SpanSize(table.RowSpan(t), factsVersions)
	if err == nil && !size.Whole && now == nil && size.Disk == 0 {
		size, err = p.node.Txns.SpanSize(table.RowSpan(t), factsVersionsMax)
	}
	if err != nil {
		return nil, err
	}
	f.whole, f.Looked = size.Whole, clock.Now().Truncate(time.Second)
	f.Rows, f.DataBytes = size.Estimate()
	if now != nil && !size.Whole {
		f.Rows = uint64(math.Round(now.Rows))
	}
	f.DataBytes = spread(&size, f.Rows, f.DataBytes)
	if size.Whole && size.Newest > 0 {
		f.Updated = time.Unix(size.Newest.PhysicalMillis()/1000, 0)
	}
	f.IndexBytes = make(map[uint64]uint64, len(t.Indexes))
	for _, index := range t.Indexes {
		if index.Primary || index.State != catalog.StatePublic {
			continue
		}
		size, err := p.node.Txns.SpanSize(table.IndexSpan(t, index), factsVersions)
		if err != nil {
			return nil, err
		}
		_, bytes := size.Estimate()
		f.IndexBytes[index.ID] = spread(&size, f.Rows, bytes)
	}
	return f, nil
}

// spread estimates the bytes of a span of which nothing is on disk from the bytes per key of the part that was read.
func spread(size *kvapi.SpanSize, rows, bytes uint64) uint64 {
	if size.Whole || size.Disk > 0 || size.Keys == 0 {
		return bytes
	}
	return max(bytes, uint64(float64(size.Bytes)/float64(size.Keys)*float64(rows)))
}

// Facts implements infoschema.Provider.
func (p *provider) Facts(t *catalog.Table) (infoschema.TableFacts, error) {
	f, err := p.facts(t)
	if err != nil {
		return infoschema.TableFacts{}, err
	}
	return f.TableFacts, nil
}

// Cardinality implements infoschema.Provider.
func (p *provider) Cardinality(t *catalog.Table, index *catalog.Index, columns int) (uint64, error) {
	f, err := p.facts(t)
	if err != nil || f.Rows == 0 {
		return 0, err
	}
	if index.Unique && columns == len(index.Columns) && !nullable(t, index) {
		return f.Rows, nil
	}
	known := f.stats
	if f.whole {
		if known, err = p.analysed(t, f); err != nil {
			return 0, err
		}
	}
	if known == nil || columns > len(known.Distinct[index.ID]) {
		return max(1, uint64(float64(f.Rows)*guessedPart)), nil
	}
	return uint64(math.Round(known.Distinct[index.ID][columns-1])), nil
}

// nullable reports whether an index has a column that can be NULL: even a unique one may have many entries with NULL.
func nullable(t *catalog.Table, index *catalog.Index) bool {
	for _, part := range index.Columns {
		if !t.Columns[part.Col].NotNull {
			return true
		}
	}
	return false
}

// analysed returns statistics of a table that was read whole. They are made for information_schema alone and kept in f.
func (p *provider) analysed(t *catalog.Table, f *tableFacts) (*stats.Table, error) {
	c := &p.node.facts
	c.mu.Lock()
	known := f.small
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	known, err := p.node.Stats.Analyze(t, &p.interrupt)
	if err != nil {
		return nil, exec.MapError(err, &p.interrupt)
	}
	c.mu.Lock()
	f.small = known
	c.mu.Unlock()
	return known, nil
}
