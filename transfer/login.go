package transfer

import (
	"context"
	"database/sql"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// connectMax bounds the wait for a connection.
const connectMax = 30 * time.Second

// Login is how a server is reached.
type Login struct {
	Host     string
	Port     int
	Socket   string // path of a unix socket, which Host and Port give way to
	User     string
	Password string
}

// quiet drops what the driver would print.
type quiet struct{}

func (quiet) Print(...any) {}

// open returns connections to the server. Rows are read as text in utf8mb4, and moments in UTC.
func (l *Login) open() (*sql.DB, error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr = l.User, l.Password, "tcp", net.JoinHostPort(l.Host, strconv.Itoa(l.Port))
	if l.Socket != "" {
		config.Net, config.Addr = "unix", l.Socket
	}
	config.Timeout = connectMax
	config.Logger = quiet{}
	config.MaxAllowedPacket = 0 // what the server allows
	config.Params = map[string]string{"time_zone": "'+00:00'"}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// connect takes n connections.
func connect(ctx context.Context, db *sql.DB, n int) (conns []*sql.Conn, err error) {
	for range n {
		c, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

// quoteName quotes the name of a table or column.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Literal is a text as a literal under the default sql_mode.
func Literal(text string) string { return string(appendText(nil, []byte(text))) }

// appendText appends a text as a literal. Package syntax does the same for the server; this one is a client, and imports nothing of it.
func appendText(dst, text []byte) []byte {
	dst = append(dst, '\'')
	for _, c := range text {
		switch c {
		case 0:
			dst = append(dst, '\\', '0')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case 26:
			dst = append(dst, '\\', 'Z')
		case '\'', '\\':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '\'')
}
