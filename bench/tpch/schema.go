package tpch

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"github.com/pandodb/pando/bench/insert"
)

// Rows of the tables at scale factor 1.
const (
	suppliersAtOne = 10_000
	partsAtOne     = 200_000
	customersAtOne = 150_000

	ordersOfCustomer = 10
	suppliersOfPart  = 4
)

// Scale is a scale factor, above 0.
type Scale float64

// of is how many rows a table has that has n at scale factor 1.
func (s Scale) of(n int) int { return max(10, int(float64(s)*float64(n))) }

// Rows is about how many rows a load makes.
func (s Scale) Rows() int64 {
	orders := int64(s.of(customersAtOne)) * ordersOfCustomer
	return int64(s.of(suppliersAtOne)) + int64(s.of(partsAtOne))*(1+suppliersOfPart) + int64(s.of(customersAtOne)) + orders*5
}

// tables have the standard's columns and keys; each foreign key is an index.
var tables = []struct{ name, definition string }{
	{"region", `r_regionkey INT NOT NULL PRIMARY KEY, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152)`},
	{"nation", `n_nationkey INT NOT NULL PRIMARY KEY, n_name CHAR(25) NOT NULL, n_regionkey INT NOT NULL, n_comment VARCHAR(152), KEY (n_regionkey)`},
	{"supplier", `s_suppkey INT NOT NULL PRIMARY KEY, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL, s_nationkey INT NOT NULL, s_phone CHAR(15) NOT NULL,
		s_acctbal DECIMAL(15,2) NOT NULL, s_comment VARCHAR(101) NOT NULL, KEY (s_nationkey)`},
	{"part", `p_partkey INT NOT NULL PRIMARY KEY, p_name VARCHAR(55) NOT NULL, p_mfgr CHAR(25) NOT NULL, p_brand CHAR(10) NOT NULL, p_type VARCHAR(25) NOT NULL, p_size INT NOT NULL,
		p_container CHAR(10) NOT NULL, p_retailprice DECIMAL(15,2) NOT NULL, p_comment VARCHAR(23) NOT NULL`},
	{"partsupp", `ps_partkey INT NOT NULL, ps_suppkey INT NOT NULL, ps_availqty INT NOT NULL, ps_supplycost DECIMAL(15,2) NOT NULL, ps_comment VARCHAR(199) NOT NULL,
		PRIMARY KEY (ps_partkey, ps_suppkey), KEY (ps_suppkey)`},
	{"customer", `c_custkey INT NOT NULL PRIMARY KEY, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL, c_nationkey INT NOT NULL, c_phone CHAR(15) NOT NULL,
		c_acctbal DECIMAL(15,2) NOT NULL, c_mktsegment CHAR(10) NOT NULL, c_comment VARCHAR(117) NOT NULL, KEY (c_nationkey)`},
	{"orders", `o_orderkey BIGINT NOT NULL PRIMARY KEY, o_custkey INT NOT NULL, o_orderstatus CHAR(1) NOT NULL, o_totalprice DECIMAL(15,2) NOT NULL, o_orderdate DATE NOT NULL,
		o_orderpriority CHAR(15) NOT NULL, o_clerk CHAR(15) NOT NULL, o_shippriority INT NOT NULL, o_comment VARCHAR(79) NOT NULL, KEY (o_custkey)`},
	{"lineitem", `l_orderkey BIGINT NOT NULL, l_partkey INT NOT NULL, l_suppkey INT NOT NULL, l_linenumber INT NOT NULL, l_quantity DECIMAL(15,2) NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL,
		l_discount DECIMAL(15,2) NOT NULL, l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL, l_linestatus CHAR(1) NOT NULL, l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL,
		l_receiptdate DATE NOT NULL, l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL, l_comment VARCHAR(44) NOT NULL,
		PRIMARY KEY (l_orderkey, l_linenumber), KEY (l_partkey, l_suppkey), KEY (l_suppkey)`},
}

// Limits of a load.
const (
	loadersMax     = 4    // at once
	rowsOfPartLoad = 5000 // rows of part, customer or supplier in a part of the load
)

// Load makes and fills the tables in the database that db is connected to, and has the server analyse them.
func Load(ctx context.Context, db *sql.DB, s Scale, seed uint64) error {
	for _, t := range tables {
		if _, err := db.ExecContext(ctx, "CREATE TABLE "+t.name+" ("+t.definition+")"); err != nil {
			return fmt.Errorf("create table %s: %w", t.name, err)
		}
	}
	if err := fill(ctx, db, s, seed); err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := db.ExecContext(ctx, "ANALYZE TABLE "+t.name); err != nil {
			return fmt.Errorf("analyze table %s: %w", t.name, err)
		}
	}
	return nil
}

// fill makes the rows in parts, of which each has its own random numbers: what is in them does not depend on their order.
func fill(ctx context.Context, db *sql.DB, s Scale, seed uint64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	slots := make(chan struct{}, loadersMax)
	number := uint64(0)
	part := func(make func(g *generator)) {
		number++
		g := newGenerator(insert.Into(ctx, db), s, seed, number)
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			make(g)
			if err := g.Flush(); err != nil {
				cancel(err)
			}
		})
	}
	parts := func(rows int, make func(g *generator, key int)) {
		for from := 1; from <= rows; from += rowsOfPartLoad {
			part(func(g *generator) {
				for key := from; key < min(from+rowsOfPartLoad, rows+1); key++ {
					make(g, key)
				}
			})
		}
	}
	part((*generator).world)
	parts(s.of(suppliersAtOne), (*generator).supplier)
	parts(s.of(partsAtOne), (*generator).part)
	parts(s.of(customersAtOne), (*generator).customer)
	parts(s.of(customersAtOne)*ordersOfCustomer, (*generator).order)
	group.Wait()
	return context.Cause(ctx)
}
