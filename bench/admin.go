package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"

	"github.com/go-sql-driver/mysql"
)

// Login says where a server is and as whom to speak to it.
type Login struct {
	Host string
	Port int
	// Socket is the path of the server's unix socket; empty for Host and Port.
	Socket   string
	User     string
	Password string
}

// QueryRows sends one statement, and returns the names of its columns and its rows as text. NULL is empty.
func (l *Login) QueryRows(ctx context.Context, text string) (columns []string, rows [][]string, err error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr = l.User, l.Password, "tcp", net.JoinHostPort(l.Host, fmt.Sprint(l.Port))
	if l.Socket != "" {
		config.Net, config.Addr = "unix", l.Socket
	}
	config.Timeout = answerMax
	config.AllowNativePasswords = true
	config.Logger = quiet{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, nil, err
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }() // the answer is there
	found, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = found.Close() }() // its error would repeat that of Err
	if columns, err = found.Columns(); err != nil {
		return nil, nil, err
	}
	for found.Next() {
		values, places := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := found.Scan(places...); err != nil {
			return nil, nil, err
		}
		row := make([]string, len(columns))
		for i, v := range values {
			row[i] = v.String
		}
		rows = append(rows, row)
	}
	return columns, rows, found.Err()
}

// accessDenied is the number of MySQL's error for a login that is refused.
const accessDenied = 1045

// Refused tells that a server has refused a login: there is no such account, or its password is another.
func Refused(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == accessDenied
}
