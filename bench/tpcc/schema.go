package tpcc

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pandodb/pando/bench/insert"
)

// Scale is how many rows belong to each.
type Scale struct {
	Warehouses, Districts, Customers, Items int // districts of a warehouse, customers of a district, items in all
}

// Full is the standard's size of so many warehouses.
func Full(warehouses int) Scale {
	return Scale{Warehouses: warehouses, Districts: 10, Customers: 3000, Items: 100_000}
}

// undelivered is how many of a district's first orders are new: three in ten, as 900 of 3,000.
func (s Scale) undelivered() int { return s.Customers * 3 / 10 }

// Rows is about how many rows a load makes.
func (s Scale) Rows() int64 {
	ofDistrict := int64(s.Customers) * (1 + 1 + 1 + 10) // customers, history, orders, lines
	return int64(s.Items) + int64(s.Warehouses)*(int64(s.Items)+int64(s.Districts)*(ofDistrict+int64(s.undelivered())))
}

var tables = []string{
	`CREATE TABLE warehouse (w_id INT NOT NULL, w_name VARCHAR(10), w_street_1 VARCHAR(20), w_street_2 VARCHAR(20), w_city VARCHAR(20), w_state CHAR(2), w_zip CHAR(9),
		w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2), PRIMARY KEY (w_id))`,
	`CREATE TABLE district (d_id INT NOT NULL, d_w_id INT NOT NULL, d_name VARCHAR(10), d_street_1 VARCHAR(20), d_street_2 VARCHAR(20), d_city VARCHAR(20), d_state CHAR(2), d_zip CHAR(9),
		d_tax DECIMAL(4,4), d_ytd DECIMAL(12,2), d_next_o_id INT, PRIMARY KEY (d_w_id, d_id))`,
	`CREATE TABLE customer (c_id INT NOT NULL, c_d_id INT NOT NULL, c_w_id INT NOT NULL, c_first VARCHAR(16), c_middle CHAR(2), c_last VARCHAR(16), c_street_1 VARCHAR(20), c_street_2 VARCHAR(20),
		c_city VARCHAR(20), c_state CHAR(2), c_zip CHAR(9), c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2), c_credit_lim DECIMAL(12,2), c_discount DECIMAL(4,4), c_balance DECIMAL(12,2),
		c_ytd_payment DECIMAL(12,2), c_payment_cnt INT, c_delivery_cnt INT, c_data VARCHAR(500), PRIMARY KEY (c_w_id, c_d_id, c_id), KEY c_by_name (c_w_id, c_d_id, c_last, c_first))`,
	`CREATE TABLE history (h_c_id INT NOT NULL, h_c_d_id INT NOT NULL, h_c_w_id INT NOT NULL, h_d_id INT NOT NULL, h_w_id INT NOT NULL, h_date DATETIME, h_amount DECIMAL(6,2), h_data VARCHAR(24))`,
	`CREATE TABLE new_order (no_o_id INT NOT NULL, no_d_id INT NOT NULL, no_w_id INT NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id))`,
	`CREATE TABLE orders (o_id INT NOT NULL, o_d_id INT NOT NULL, o_w_id INT NOT NULL, o_c_id INT, o_entry_d DATETIME, o_carrier_id INT, o_ol_cnt INT, o_all_local INT,
		PRIMARY KEY (o_w_id, o_d_id, o_id), KEY o_by_customer (o_w_id, o_d_id, o_c_id, o_id))`,
	`CREATE TABLE order_line (ol_o_id INT NOT NULL, ol_d_id INT NOT NULL, ol_w_id INT NOT NULL, ol_number INT NOT NULL, ol_i_id INT NOT NULL, ol_supply_w_id INT, ol_delivery_d DATETIME,
		ol_quantity INT, ol_amount DECIMAL(6,2), ol_dist_info CHAR(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))`,
	`CREATE TABLE item (i_id INT NOT NULL, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50), PRIMARY KEY (i_id))`,
	`CREATE TABLE stock (s_i_id INT NOT NULL, s_w_id INT NOT NULL, s_quantity INT, s_dist_01 CHAR(24), s_dist_02 CHAR(24), s_dist_03 CHAR(24), s_dist_04 CHAR(24), s_dist_05 CHAR(24), s_dist_06 CHAR(24),
		s_dist_07 CHAR(24), s_dist_08 CHAR(24), s_dist_09 CHAR(24), s_dist_10 CHAR(24), s_ytd DECIMAL(8,0), s_order_cnt INT, s_remote_cnt INT, s_data VARCHAR(50), PRIMARY KEY (s_w_id, s_i_id))`,
}

// loadersMax is how many parts of a load run at once.
const loadersMax = 8

// loadedAt is the moment at which all first rows were made: a clock would make each load another.
const loadedAt = "2026-01-01 00:00:00"

// Load makes and fills the tables in the database that db is connected to.
func Load(ctx context.Context, db *sql.DB, s Scale, seed uint64) error {
	for _, statement := range tables {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.40s…: %w", statement, err)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	slots := make(chan struct{}, loadersMax)
	part := func(number int, fill func(l *loader)) {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			l := &loader{Batch: insert.Into(ctx, db), scale: s, rng: rng{rand.New(rand.NewPCG(seed, uint64(number)))}}
			fill(l)
			if err := l.Flush(); err != nil {
				cancel(err)
			}
		})
	}
	part(0, (*loader).items)
	for w := 1; w <= s.Warehouses; w++ {
		part(1000*w, func(l *loader) { l.warehouse(w) })
		for d := 1; d <= s.Districts; d++ {
			part(1000*w+d, func(l *loader) { l.district(w, d) })
		}
	}
	group.Wait()
	return context.Cause(ctx)
}

// loader makes the rows of a part of the tables.
type loader struct {
	*insert.Batch
	scale Scale
	rng   rng
}

func (l *loader) items() {
	for i := 1; i <= l.scale.Items; i++ {
		l.Add("item", i, l.rng.between(1, 10_000), l.rng.text(14, 24), l.rng.cents(100, 10_000), l.original())
	}
}

// original is a text of data, one in ten of which names the original.
func (l *loader) original() string {
	data := l.rng.text(26, 50)
	if l.rng.between(1, 10) == 1 {
		at := l.rng.between(0, len(data)-8)
		data = data[:at] + "ORIGINAL" + data[at+8:]
	}
	return data
}

func (l *loader) warehouse(w int) {
	r := l.rng
	// Each district has the payments of its customers, ten to each.
	ytd := fmt.Sprintf("%d.00", l.scale.Districts*l.scale.Customers*10)
	l.Add("warehouse", w, r.text(6, 10), r.text(10, 20), r.text(10, 20), r.text(10, 20), r.letters(2), r.zip(), r.tax(), ytd)
	for d := 1; d <= l.scale.Districts; d++ {
		l.Add("district", d, w, r.text(6, 10), r.text(10, 20), r.text(10, 20), r.text(10, 20), r.letters(2), r.zip(), r.tax(),
			fmt.Sprintf("%d.00", l.scale.Customers*10), l.scale.Customers+1)
	}
	for i := 1; i <= l.scale.Items; i++ {
		row := []any{i, w, r.between(10, 100)}
		for range 10 {
			row = append(row, r.text(24, 24))
		}
		l.Add("stock", append(row, 0, 0, 0, l.original())...)
	}
}

func (l *loader) district(w, d int) {
	r := l.rng
	for c := 1; c <= l.scale.Customers; c++ {
		last := lastName(c - 1)
		if c > 1000 {
			last = lastName(r.name())
		}
		credit := "GC"
		if r.between(1, 10) == 1 {
			credit = "BC"
		}
		l.Add("customer", c, d, w, r.text(8, 16), "OE", last, r.text(10, 20), r.text(10, 20), r.text(10, 20), r.letters(2), r.zip(), r.digits(16), loadedAt, credit, "50000.00",
			fmt.Sprintf("0.%04d", r.between(0, 5000)), "-10.00", "10.00", 1, 0, r.text(300, 500))
	}
	for c := 1; c <= l.scale.Customers; c++ {
		l.Add("history", c, d, w, d, w, loadedAt, "10.00", r.text(12, 24))
	}
	l.orders(w, d)
}

// orders makes an order of each customer. The newest have not been delivered.
func (l *loader) orders(w, d int) {
	r := l.rng
	first := l.scale.Customers - l.scale.undelivered() + 1 // of the new ones
	customers := r.Perm(l.scale.Customers)
	lines := make([]int, l.scale.Customers+1)
	for o := 1; o <= l.scale.Customers; o++ {
		lines[o] = r.between(5, 15)
		var carrier any
		if o < first {
			carrier = r.between(1, 10)
		}
		l.Add("orders", o, d, w, customers[o-1]+1, loadedAt, carrier, lines[o], 1)
	}
	for o := 1; o <= l.scale.Customers; o++ {
		for n := 1; n <= lines[o]; n++ {
			var delivered any = loadedAt
			amount := "0.00"
			if o >= first {
				delivered, amount = nil, r.cents(1, 999_999)
			}
			l.Add("order_line", o, d, w, n, r.between(1, l.scale.Items), w, delivered, 5, amount, r.text(24, 24))
		}
	}
	for o := first; o <= l.scale.Customers; o++ {
		l.Add("new_order", o, d, w)
	}
}

// rng draws what the standard asks for.
type rng struct{ *rand.Rand }

// between is uniform, both ends included.
func (r rng) between(low, high int) int { return low + r.IntN(high-low+1) }

// Constants of the standard's non-uniform numbers. C for names differs between load and run as clause 2.1.6.1 wants it.
const (
	loadName = 157
	runName  = 223
	ofItem   = 5987
	ofClient = 259
)

func (r rng) nonUniform(a, c, low, high int) int {
	return ((r.between(0, a)|r.between(low, high))+c)%(high-low+1) + low
}

// name is the number of a last name for the load.
func (r rng) name() int { return r.nonUniform(255, loadName, 0, 999) }

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func (r rng) text(low, high int) string { return r.of(letters, r.between(low, high)) }
func (r rng) letters(n int) string      { return r.of(letters[:26], n) }
func (r rng) digits(n int) string       { return r.of(letters[52:], n) }
func (r rng) zip() string               { return r.digits(4) + "11111" }
func (r rng) tax() string               { return fmt.Sprintf("0.%04d", r.between(0, 2000)) }

func (r rng) of(set string, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = set[r.IntN(len(set))]
	}
	return string(text)
}

// cents is an amount between two numbers of cents.
func (r rng) cents(low, high int) string { return money(r.between(low, high)) }

func money(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

var syllables = []string{"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

// lastName is clause 4.3.2.3's name of a number below 1,000.
func lastName(n int) string {
	n %= 1000
	return syllables[n/100] + syllables[n/10%10] + syllables[n%10]
}

// now is the time of a row that a run makes.
func now(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05") }
