package tpcc

import (
	"context"
	"database/sql"
	"fmt"
)

// condition is a query for what contradicts one of the standard's consistency conditions: the number of such rows.
type condition struct {
	number int
	query  string
}

// conditions are those of clause 3.3.2 that always hold. (11 is about the load alone.)
var conditions = []condition{
	{1, `SELECT COUNT(*) FROM warehouse JOIN (SELECT d_w_id, SUM(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd <> ytd`},
	{2, `SELECT COUNT(*) FROM district JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS newest FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id
		LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS waiting FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id
		WHERE d_next_o_id - 1 <> newest OR newest <> COALESCE(waiting, newest)`},
	{3, `SELECT COUNT(*) FROM (SELECT no_w_id, no_d_id FROM new_order GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) gaps`},
	{4, `SELECT COUNT(*) FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS promised FROM orders GROUP BY o_w_id, o_d_id) o
		JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS present FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE promised <> present`},
	{5, `SELECT COUNT(*) FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)`},
	{6, `SELECT COUNT(*) FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS present FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l
		ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> COALESCE(present, 0)`},
	{7, `SELECT COUNT(*) FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)`},
	{8, `SELECT COUNT(*) FROM warehouse JOIN (SELECT h_w_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd <> paid`},
	{9, `SELECT COUNT(*) FROM district JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd <> paid`},
	{10, `SELECT COUNT(*) FROM customer
		LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS bought FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
			WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
		LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) h ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
		WHERE c_balance <> COALESCE(bought, 0) - COALESCE(paid, 0)`},
	{12, `SELECT COUNT(*) FROM customer
		LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS bought FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
			WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
		WHERE c_balance + c_ytd_payment <> COALESCE(bought, 0)`},
}

// loadedCondition is condition 11, which holds until the first transaction.
func loadedCondition(s Scale) condition {
	return condition{11, fmt.Sprintf(`SELECT COUNT(*) FROM (SELECT o_w_id, o_d_id, COUNT(*) AS n FROM orders GROUP BY o_w_id, o_d_id) o
		JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS m FROM new_order GROUP BY no_w_id, no_d_id) w ON no_w_id = o_w_id AND no_d_id = o_d_id WHERE n - m <> %d`, s.Customers-s.undelivered())}
}

// Querier is a connection, a pool of them, or a transaction.
type Querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Check lists the consistency conditions that don't hold.
func Check(ctx context.Context, db Querier) ([]string, error) { return check(ctx, db, conditions) }

// CheckLoad is Check before the first transaction.
func CheckLoad(ctx context.Context, db Querier, s Scale) ([]string, error) {
	return check(ctx, db, append([]condition{loadedCondition(s)}, conditions...))
}

func check(ctx context.Context, db Querier, all []condition) (broken []string, err error) {
	for _, c := range all {
		var n int64
		if err := db.QueryRowContext(ctx, c.query).Scan(&n); err != nil {
			return broken, fmt.Errorf("consistency condition %d: %w", c.number, err)
		}
		if n > 0 {
			broken = append(broken, fmt.Sprintf("consistency condition %d does not hold for %d rows", c.number, n))
		}
	}
	return broken, nil
}
