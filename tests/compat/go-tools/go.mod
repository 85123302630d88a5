module compat/go-tools

go 1.26

require (
	ariga.io/atlas v0.32.1-0.20250325101103-175b25e1c1b9
	github.com/go-sql-driver/mysql v1.10.1
	github.com/golang-migrate/migrate/v4 v4.18.3
	github.com/pressly/goose/v3 v3.26.0
	github.com/uptrace/bun v1.2.18
	github.com/uptrace/bun/dialect/mysqldialect v1.2.18
	xorm.io/xorm v1.4.3
)
