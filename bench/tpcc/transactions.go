package tpcc

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// errRollback ends the New-Order transactions that the standard wants to fail: one in a hundred orders an item that nobody has.
var errRollback = errors.New("an item does not exist")

// kind is one of the five transactions.
type kind struct {
	name   string
	weight int // of a hundred
	run    func(c *client, w int) error
}

// kinds have the mix that the standard's minima leave.
var kinds = []kind{
	{"new_order", 45, (*client).newOrder},
	{"payment", 43, (*client).payment},
	{"order_status", 4, (*client).orderStatus},
	{"delivery", 4, (*client).delivery},
	{"stock_level", 4, (*client).stockLevel},
}

func (c *client) district() int { return c.rng.between(1, c.scale.Districts) }

func (c *client) customer() int {
	return c.rng.nonUniform(1023, ofClient, 1, c.scale.Customers)
}

// other is another warehouse, if there is one.
func (c *client) other(w int) int {
	if c.scale.Warehouses == 1 {
		return w
	}
	other := c.rng.between(1, c.scale.Warehouses-1)
	if other >= w {
		other++
	}
	return other
}

// line is one line of an order that is made.
type line struct{ item, supplier, quantity int }

// order draws the lines of an order, by the order of their stock: two orders that lock it so don't wait for each other in a ring.
func (c *client) order(w int) (lines []line) {
	for range c.rng.between(5, 15) {
		l := line{item: c.rng.nonUniform(8191, ofItem, 1, c.scale.Items), supplier: w, quantity: c.rng.between(1, 10)}
		if c.rng.between(1, 100) == 1 {
			l.supplier = c.other(w)
		}
		lines = append(lines, l)
	}
	sort.Slice(lines, func(i, j int) bool {
		if lines[i].supplier != lines[j].supplier {
			return lines[i].supplier < lines[j].supplier
		}
		return lines[i].item < lines[j].item
	})
	if c.rng.between(1, 100) == 1 {
		lines[len(lines)-1].item = c.scale.Items + 1
	}
	return lines
}

func (c *client) newOrder(w int) error {
	d, customer := c.district(), c.customer()
	lines := c.order(w)
	return c.transaction(func() error {
		var discount, warehouseTax, last, credit string
		if err := c.row(`SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON w_id = c_w_id WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`, args(w, d, customer),
			&discount, &last, &credit, &warehouseTax); err != nil {
			return err
		}
		var order int
		var tax string
		if err := c.row(`SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE`, args(w, d), &order, &tax); err != nil {
			return err
		}
		if err := c.exec(`UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?`, w, d); err != nil {
			return err
		}
		local := 1
		if slices.ContainsFunc(lines, func(l line) bool { return l.supplier != w }) {
			local = 0
		}
		if err := c.exec(`INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, ?, ?, ?)`, order, d, w, customer, c.time(), len(lines), local); err != nil {
			return err
		}
		if err := c.exec(`INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)`, order, d, w); err != nil {
			return err
		}
		for n, l := range lines {
			if err := c.orderLine(w, d, order, n+1, l); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *client) orderLine(w, d, order, number int, l line) error {
	var name, data string
	var price cents
	err := c.row(`SELECT i_price, i_name, i_data FROM item WHERE i_id = ?`, args(l.item), &price, &name, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return errRollback
	}
	if err != nil {
		return err
	}
	var quantity int
	var stockData, info string
	// The district's column is a part of the text, as in the standard's sample: ten statements.
	if err := c.row(fmt.Sprintf(`SELECT s_quantity, s_data, s_dist_%02d FROM stock WHERE s_i_id = ? AND s_w_id = ? FOR UPDATE`, d), args(l.item, l.supplier), &quantity, &stockData, &info); err != nil {
		return err
	}
	if quantity -= l.quantity; quantity < 10 {
		quantity += 91
	}
	remote := 0
	if l.supplier != w {
		remote = 1
	}
	if err := c.exec(`UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? WHERE s_i_id = ? AND s_w_id = ?`,
		quantity, l.quantity, remote, l.item, l.supplier); err != nil {
		return err
	}
	return c.exec(`INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		order, d, w, number, l.item, l.supplier, l.quantity, money(int(price)*l.quantity), info)
}

// who draws the customer of a payment or of a question: by the name in three of five cases.
type who struct {
	w, d, id int
	name     string // if given, the customer in the middle of those with the name
}

func (c *client) who(w, d int) who {
	if c.rng.between(1, 100) <= 60 {
		names := min(1000, c.scale.Customers) // smaller tables have fewer
		return who{w: w, d: d, name: lastName(c.rng.nonUniform(255, runName, 0, names-1))}
	}
	return who{w: w, d: d, id: c.customer()}
}

// find sets the customer's id.
func (c *client) find(p *who) error {
	if p.name == "" {
		return nil
	}
	ids, err := c.ints(`SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first`, p.w, p.d, p.name)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return fmt.Errorf("no customer is called %s", p.name)
	}
	p.id = ids[(len(ids)-1)/2]
	return nil
}

func (c *client) payment(w int) error {
	d := c.district()
	p := c.who(w, d)
	if c.rng.between(1, 100) > 85 {
		p = c.who(c.other(w), c.district())
	}
	amount := c.rng.cents(100, 500_000)
	return c.transaction(func() error {
		if err := c.exec(`UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?`, amount, w); err != nil {
			return err
		}
		var warehouse, district, street1, street2, city, state, zip string
		if err := c.row(`SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?`, args(w), &warehouse, &street1, &street2, &city, &state, &zip); err != nil {
			return err
		}
		if err := c.exec(`UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?`, amount, w, d); err != nil {
			return err
		}
		if err := c.row(`SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = ? AND d_id = ?`, args(w, d), &district, &street1, &street2, &city, &state, &zip); err != nil {
			return err
		}
		if err := c.find(&p); err != nil {
			return err
		}
		if err := c.pay(&p, w, d, amount); err != nil {
			return err
		}
		return c.exec(`INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			p.d, p.w, p.id, d, w, c.time(), amount, warehouse+"    "+district)
	})
}

// pay changes the customer's row; one of bad credit keeps a note of it.
func (c *client) pay(p *who, w, d int, amount string) error {
	var first, last, credit, limit, discount, balance, data string
	if err := c.row(`SELECT c_first, c_last, c_credit, c_credit_lim, c_discount, c_balance, c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE`, args(p.w, p.d, p.id),
		&first, &last, &credit, &limit, &discount, &balance, &data); err != nil {
		return err
	}
	if credit != "BC" {
		return c.exec(`UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`,
			amount, amount, p.w, p.d, p.id)
	}
	data = fmt.Sprintf("%d %d %d %d %d %s|%s", p.id, p.d, p.w, d, w, amount, data)
	return c.exec(`UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1, c_data = ? WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`,
		amount, amount, data[:min(500, len(data))], p.w, p.d, p.id)
}

func (c *client) orderStatus(w int) error {
	p := c.who(w, c.district())
	return c.transaction(func() error {
		if err := c.find(&p); err != nil {
			return err
		}
		var balance, first, middle, last string
		if err := c.row(`SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`, args(p.w, p.d, p.id), &balance, &first, &middle, &last); err != nil {
			return err
		}
		var order int
		var carrier, entered sql.NullString
		if err := c.row(`SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1`, args(p.w, p.d, p.id), &order, &carrier, &entered); err != nil {
			return err
		}
		n, err := c.rows(`SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?`, p.w, p.d, order)
		if err == nil && n == 0 {
			err = fmt.Errorf("order %d of district %d-%d has no lines", order, p.w, p.d)
		}
		return err
	})
}

func (c *client) delivery(w int) error {
	carrier := c.rng.between(1, 10)
	return c.transaction(func() error {
		for d := 1; d <= c.scale.Districts; d++ {
			if err := c.deliver(w, d, carrier); err != nil {
				return err
			}
		}
		return nil
	})
}

// deliver takes the oldest new order of a district.
func (c *client) deliver(w, d, carrier int) error {
	var order, customer int
	err := c.row(`SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE`, args(w, d), &order)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.exec(`DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?`, w, d, order); err != nil {
		return err
	}
	// A plain read would see the snapshot of the transaction's first, which may be older than the order.
	if err := c.row(`SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ? FOR UPDATE`, args(w, d, order), &customer); err != nil {
		return err
	}
	if err := c.exec(`UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?`, carrier, w, d, order); err != nil {
		return err
	}
	if err := c.exec(`UPDATE order_line SET ol_delivery_d = ? WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?`, c.time(), w, d, order); err != nil {
		return err
	}
	var amount string
	if err := c.row(`SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?`, args(w, d, order), &amount); err != nil {
		return err
	}
	return c.exec(`UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?`, amount, w, d, customer)
}

func (c *client) stockLevel(w int) error {
	d, threshold := c.district(), c.rng.between(10, 20)
	return c.transaction(func() error {
		var next, low int
		if err := c.row(`SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?`, args(w, d), &next); err != nil {
			return err
		}
		return c.row(`SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
			WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? AND s_quantity < ?`, args(w, d, next, next-20, threshold), &low)
	})
}

// cents scans a DECIMAL of two digits.
type cents int

// Scan implements sql.Scanner.
func (c *cents) Scan(v any) error {
	text, ok := v.([]byte)
	whole, part, _ := strings.Cut(string(text), ".")
	var a, b int
	if n, err := fmt.Sscan(whole+" "+part, &a, &b); !ok || n != 2 || err != nil || len(part) != 2 {
		return fmt.Errorf("%v is no amount", v)
	}
	*c = cents(a*100 + b)
	return nil
}
