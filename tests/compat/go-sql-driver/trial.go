// The trial of Go's driver.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
)

func main() {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = os.Getenv("DBUSER"), os.Getenv("PASSWORD"), "tcp", os.Getenv("HOST")+":"+os.Getenv("PORT"), os.Getenv("DATABASE")
	config.ParseTime = true
	for _, text := range []bool{false, true} {
		config.InterpolateParams = text
		connector, err := mysql.NewConnector(config)
		if err != nil {
			panic(err)
		}
		db := sql.OpenDB(connector)
		trial(db, map[bool]string{false: "prepared", true: "text"}[text])
		db.Close()
	}
	if failed {
		os.Exit(1)
	}
}

func trial(db *sql.DB, mode string) {
	ctx := context.Background()
	check(mode+": types there and back", func() error {
		if _, err := db.Exec("CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY, s VARCHAR(50), b VARBINARY(10), d DECIMAL(10,2), at DATETIME(6), f DOUBLE, n INT NULL, j JSON)"); err != nil {
			return err
		}
		at := time.Date(2026, 3, 4, 5, 6, 7, 89_000, time.UTC)
		if _, err := db.Exec("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", uint64(1<<64-1), "é'\\", []byte{0, 255}, "12.50", at, 0.1, nil, `{"a":1}`); err != nil {
			return err
		}
		var id uint64
		var s, d, j string
		var b []byte
		var back time.Time
		var f float64
		var n sql.NullInt64
		if err := db.QueryRow("SELECT * FROM t WHERE id = ?", uint64(1<<64-1)).Scan(&id, &s, &b, &d, &back, &f, &n, &j); err != nil {
			return err
		}
		return equal(fmt.Sprint(id, s, b, d, back.Equal(at), f, n.Valid, j), fmt.Sprint(uint64(1<<64-1), "é'\\", []byte{0, 255}, "12.50", true, 0.1, false, `{"a": 1}`))
	})
	check(mode+": relations, upsert, pages", func() error {
		for _, statement := range []string{"CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE)", "CREATE TABLE b (id INT AUTO_INCREMENT PRIMARY KEY, a_id INT, FOREIGN KEY (a_id) REFERENCES a (id) ON DELETE CASCADE)"} {
			if _, err := db.Exec(statement); err != nil {
				return err
			}
		}
		r, err := db.Exec("INSERT INTO a (name) VALUES (?), (?)", "x", "y")
		if err != nil {
			return err
		}
		id, _ := r.LastInsertId()
		if _, err := db.Exec("INSERT INTO b (a_id) VALUES (?), (?), (?)", id, id, id+1); err != nil {
			return err
		}
		if r, err = db.Exec("INSERT INTO a (name) VALUES (?) ON DUPLICATE KEY UPDATE name = CONCAT(name, '!')", "x"); err != nil {
			return err
		}
		if n, _ := r.RowsAffected(); n != 2 {
			return fmt.Errorf("%d rows affected", n)
		}
		var names string
		if err := db.QueryRow("SELECT GROUP_CONCAT(name ORDER BY name) FROM (SELECT name FROM a JOIN b ON b.a_id = a.id GROUP BY a.id ORDER BY COUNT(*) DESC LIMIT ? OFFSET ?) n", 2, 0).Scan(&names); err != nil {
			return err
		}
		return equal(names, "x!,y")
	})
	check(mode+": errors", func() error {
		var refused *mysql.MySQLError
		if _, err := db.Exec("INSERT INTO b (a_id) VALUES (?)", 99); !errors.As(err, &refused) || refused.Number != 1452 {
			return fmt.Errorf("%v", err)
		}
		return nil
	})
	check(mode+": transactions, locks, an end of the context", func() error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return err
		}
		if _, err := tx.Exec("SELECT * FROM a WHERE id = ? FOR UPDATE", 1); err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		if _, err := db.ExecContext(short, "UPDATE a SET name = ? WHERE id = ?", "z", 1); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the lock did not hold: %v", err)
		}
		return tx.Rollback()
	})
	check(mode+": dictionary and migration", func() error {
		if _, err := db.Exec("ALTER TABLE b ADD COLUMN note VARCHAR(10) NOT NULL DEFAULT 'n' AFTER id, ADD INDEX (note)"); err != nil {
			return err
		}
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", "b").Scan(&n); err != nil {
			return err
		}
		if err := equal(n, 3); err != nil {
			return err
		}
		_, err := db.Exec("DROP TABLE b, a, t")
		return err
	})
}
