package tpcc

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/clock"
)

// retriesMax is how often a transaction may begin anew.
const retriesMax = 50

// retried are the errors of concurrency, after which a transaction begins anew: lock wait timeout, deadlock, and a row that has changed since the
// snapshot.
var retried = []uint16{1205, 1213, 1020}

// Run says what to run.
type Run struct {
	Scale    Scale
	Clients  int
	Duration time.Duration
	Prepared bool
	Seed     uint64
}

// Result is what a run has done.
type Result struct {
	Seconds      float64
	NewOrders    int64 // committed
	Transactions int64 // committed, and those that the standard wants to roll back
	Queries      int64
	Retries      map[string]int // by MySQL's number
	Latencies    []float64      // of all transactions in milliseconds, in rising order
}

// TpmC is the rate: committed New-Order transactions of a minute.
func (r *Result) TpmC() float64 { return float64(r.NewOrders) / r.Seconds * 60 }

// Open connects to a server's database; text tells that values go into the text.
type Open func(text bool) (*sql.DB, error)

// Do runs transactions until the time is over or ctx ends. The first error that is none of concurrency ends it.
func Do(ctx context.Context, open Open, r Run) (*Result, error) {
	db, err := open(!r.Prepared)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(r.Clients)
	db.SetMaxIdleConns(r.Clients)
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clients := make([]*client, r.Clients)
	for i := range clients {
		c := &client{ctx: limited, scale: r.Scale, prepared: r.Prepared, rng: rng{rand.New(rand.NewPCG(r.Seed, uint64(i)+1))}, statements: map[string]*sql.Stmt{}, retries: map[string]int{}}
		if c.conn, err = db.Conn(ctx); err != nil {
			return nil, err
		}
		defer c.close()
		clients[i] = c
	}
	var over atomic.Bool
	timer := clock.AfterFunc(r.Duration, func() { over.Store(true) })
	defer timer.Stop()
	begin := clock.Mono()
	var group sync.WaitGroup
	for _, c := range clients {
		group.Go(func() {
			for !over.Load() && limited.Err() == nil {
				if err := c.one(); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	if cause := context.Cause(limited); cause != nil {
		return nil, cause
	}
	return gather(clients, clock.Since(begin).Seconds()), nil
}

func gather(clients []*client, seconds float64) *Result {
	result := &Result{Seconds: seconds, Retries: map[string]int{}}
	for _, c := range clients {
		result.NewOrders += c.newOrders
		result.Queries += c.queries
		result.Latencies = append(result.Latencies, c.latencies...)
		for number, n := range c.retries {
			result.Retries[number] += n
		}
	}
	result.Transactions = int64(len(result.Latencies))
	slices.Sort(result.Latencies)
	return result
}

// client is one connection with its own random numbers.
type client struct {
	ctx        context.Context
	conn       *sql.Conn
	scale      Scale
	prepared   bool
	rng        rng
	statements map[string]*sql.Stmt
	queries    int64
	newOrders  int64
	latencies  []float64
	retries    map[string]int
}

func (c *client) close() {
	for _, statement := range c.statements {
		statement.Close()
	}
	c.conn.Close()
}

// one runs a transaction of the mix to its end.
func (c *client) one() error {
	draw := c.rng.IntN(100)
	at := 0
	for draw >= kinds[at].weight {
		draw -= kinds[at].weight
		at++
	}
	k, w := kinds[at], c.rng.between(1, c.scale.Warehouses)
	begin := clock.Mono()
	err := k.run(c, w)
	switch {
	case errors.Is(err, errRollback):
	case err != nil:
		return fmt.Errorf("%s: %w", k.name, err)
	case at == 0:
		c.newOrders++
	}
	c.latencies = append(c.latencies, float64(clock.Since(begin))/1e6)
	return nil
}

// transaction runs steps between BEGIN and COMMIT, again after errors of concurrency.
func (c *client) transaction(steps func() error) error {
	for attempt := 1; ; attempt++ {
		err := c.control("BEGIN")
		if err == nil {
			err = steps()
		}
		if err == nil {
			err = c.control("COMMIT")
		}
		if err == nil {
			return nil
		}
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		if undone := c.control("ROLLBACK"); undone != nil {
			return errors.Join(err, undone)
		}
		var refused *mysql.MySQLError
		if !errors.As(err, &refused) || !slices.Contains(retried, refused.Number) || attempt == retriesMax {
			return err
		}
		c.retries[strconv.Itoa(int(refused.Number))]++
	}
}

// control sends a statement of transaction control, which no driver prepares.
func (c *client) control(text string) error {
	c.queries++
	_, err := c.conn.ExecContext(c.ctx, text)
	return err
}

func args(values ...any) []any { return values }

// prepare returns the statement of a text, which a connection prepares once.
func (c *client) prepare(text string) (*sql.Stmt, error) {
	if statement := c.statements[text]; statement != nil {
		return statement, nil
	}
	statement, err := c.conn.PrepareContext(c.ctx, text)
	if err == nil {
		c.statements[text] = statement
	}
	return statement, err
}

func (c *client) exec(text string, values ...any) error {
	c.queries++
	if !c.prepared {
		_, err := c.conn.ExecContext(c.ctx, text, values...)
		return err
	}
	statement, err := c.prepare(text)
	if err == nil {
		_, err = statement.ExecContext(c.ctx, values...)
	}
	return err
}

func (c *client) query(text string, values []any) (*sql.Rows, error) {
	c.queries++
	if !c.prepared {
		return c.conn.QueryContext(c.ctx, text, values...)
	}
	statement, err := c.prepare(text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(c.ctx, values...)
}

// row reads one row, or sql.ErrNoRows.
func (c *client) row(text string, values []any, into ...any) error {
	rows, err := c.query(text, values)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(rows.Err(), sql.ErrNoRows)
	}
	if err := rows.Scan(into...); err != nil {
		return err
	}
	return rows.Close()
}

// rows counts the rows of a result.
func (c *client) rows(text string, values ...any) (n int, err error) {
	rows, err := c.query(text, values)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

// ints reads a column of numbers.
func (c *client) ints(text string, values ...any) (list []int, err error) {
	rows, err := c.query(text, values)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, rows.Err()
}

// time is when a row is made.
func (c *client) time() string { return now(clock.Now()) }
