package bench

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Login says where a server is and as whom to speak to it.
type Login struct {
	Host     string
	Port     int
	User     string
	Password string
}

// Query sends one statement, and returns its rows as text, columns separated by tabs.
func (l *Login) Query(ctx context.Context, text string) (rows []string, err error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr = l.User, l.Password, "tcp", net.JoinHostPort(l.Host, fmt.Sprint(l.Port))
	config.Timeout = answerMax
	config.AllowNativePasswords = true
	config.Logger = quiet{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }() // the answer is there
	found, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }() // its error would repeat that of Err
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	row := make([]string, len(columns))
	to := make([]any, len(columns))
	for i := range row {
		to[i] = &row[i]
	}
	for found.Next() {
		if err := found.Scan(to...); err != nil {
			return nil, err
		}
		rows = append(rows, strings.Join(row, "\t"))
	}
	return rows, found.Err()
}
