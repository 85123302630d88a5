// The trial of Atlas (which Ent and its own program use), Bun, xorm, golang-migrate and goose.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	atlas "ariga.io/atlas/sql/mysql"
	"ariga.io/atlas/sql/schema"
	_ "github.com/go-sql-driver/mysql"
	"github.com/golang-migrate/migrate/v4"
	migratemysql "github.com/golang-migrate/migrate/v4/database/mysql"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/mysqldialect"
	"xorm.io/xorm"
)

func main() {
	dsn := fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?parseTime=true&charset=utf8mb4&multiStatements=true", os.Getenv("DBUSER"), os.Getenv("PASSWORD"), os.Getenv("HOST"), os.Getenv("PORT"),
		os.Getenv("DATABASE"))
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		fmt.Println("not ok - connect:", err)
		os.Exit(1)
	}
	atlasTrial(db)
	bunTrial(db)
	xormTrial(dsn)
	migrateTrial(dsn)
	if failed {
		os.Exit(1)
	}
}

const tables = `
CREATE TABLE p (a INT, b VARCHAR(20) CHARACTER SET latin1, PRIMARY KEY (a, b)) COMMENT='parents';
CREATE TABLE c (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL, b VARCHAR(20) CHARACTER SET latin1, t TEXT, bt BIT(5) DEFAULT b'101',
	dt DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), y YEAR, s SET('a','b') DEFAULT 'a,b', tb TINYINT(1),
	d DOUBLE DEFAULT 1.5, u VARCHAR(36) DEFAULT (UUID()), v INT GENERATED ALWAYS AS (a+1) VIRTUAL, UNIQUE KEY u (a, t(10)), KEY dt (dt DESC) COMMENT 'falling',
	KEY lower_b ((LOWER(b))), CONSTRAINT positive CHECK (a > 0), CONSTRAINT fk FOREIGN KEY (a, b) REFERENCES p (a, b) ON DELETE CASCADE)`

func atlasTrial(db *sql.DB) {
	ctx := context.Background()
	driver, err := atlas.Open(db)
	if err != nil {
		fmt.Println("not ok - Atlas:", err)
		failed = true
		return
	}
	check("Atlas reads tables", func() error {
		if _, err := db.Exec(tables); err != nil {
			return err
		}
		s, err := driver.InspectSchema(ctx, os.Getenv("DATABASE"), nil)
		if err != nil {
			return err
		}
		text, err := atlas.MarshalHCL(s)
		if err != nil {
			return err
		}
		for _, want := range []string{`expr = "(` + "`a` + 1" + `)"`, `on_delete   = CASCADE`, `expr = "lower(` + "`b`" + `)"`, `sql("(uuid())")`, `check "positive"`, "charset = \"latin1\"", "desc   = true"} {
			if !strings.Contains(string(text), want) {
				return fmt.Errorf("%s is not in %s", want, text)
			}
		}
		changes, err := driver.SchemaDiff(s, s)
		return errors.Join(err, equal(len(changes), 0))
	})
	check("Atlas makes a table and finds it as it wanted it", func() error {
		s, err := driver.InspectSchema(ctx, os.Getenv("DATABASE"), nil)
		if err != nil {
			return err
		}
		made := schema.NewTable("made").SetSchema(s)
		made.AddColumns(
			schema.NewUintColumn("id", "bigint").AddAttrs(&atlas.AutoIncrement{}),
			schema.NewStringColumn("name", "varchar", schema.StringSize(50)).SetDefault(&schema.Literal{V: "'x'"}).SetComment("a name"),
			schema.NewNullDecimalColumn("d", "decimal", schema.DecimalPrecision(10), schema.DecimalScale(3)),
			schema.NewEnumColumn("e", schema.EnumValues("a", "b")),
			schema.NewTimeColumn("ts", "timestamp", schema.TimePrecision(6)).SetDefault(&schema.RawExpr{X: "CURRENT_TIMESTAMP(6)"}),
			schema.NewJSONColumn("j", "json"),
			schema.NewNullIntColumn("g", "int").SetGeneratedExpr(&schema.GeneratedExpr{Expr: "(`d` * 2)", Type: "STORED"}))
		made.SetPrimaryKey(schema.NewPrimaryKey(made.Columns[0]))
		made.AddIndexes(schema.NewIndex("k").AddParts(schema.NewColumnPart(made.Columns[1]).SetDesc(true), schema.NewExprPart(&schema.RawExpr{X: "(`d` * 2)"})))
		made.AddChecks(schema.NewCheck().SetName("positive_d").SetExpr("(`d` > 0)"))
		if err := driver.ApplyChanges(ctx, []schema.Change{&schema.AddTable{T: made}}); err != nil {
			return err
		}
		now, err := driver.InspectSchema(ctx, os.Getenv("DATABASE"), &schema.InspectOptions{Tables: []string{"made"}})
		if err != nil {
			return err
		}
		changes, err := driver.TableDiff(now.Tables[0], made)
		return errors.Join(err, equal(len(changes), 0))
	})
	check("Atlas locks, and drops", func() error {
		unlock, err := driver.Lock(ctx, "trial", time.Second)
		if err != nil {
			return err
		}
		_, err = db.Exec("DROP TABLE made; DROP TABLE c; DROP TABLE p")
		return errors.Join(err, unlock())
	})
}

// Author and Book are Bun's.
type Author struct {
	ID        int64     `bun:",pk,autoincrement"`
	Name      string    `bun:",notnull,unique"`
	Tags      []string  `bun:"type:json"`
	CreatedAt time.Time `bun:",nullzero,notnull,default:current_timestamp"`
	Books     []*Book   `bun:"rel:has-many,join:id=author_id"`
}

type Book struct {
	bun.BaseModel `bun:"table:books,alias:b"`
	ID            int64   `bun:",pk,autoincrement"`
	AuthorID      int64   `bun:",notnull"`
	Title         string  `bun:"type:varchar(100)"`
	Price         float64 `bun:"type:decimal(10,2)"`
	Author        *Author `bun:"rel:belongs-to,join:author_id=id"`
}

func bunTrial(db *sql.DB) {
	ctx, b := context.Background(), bun.NewDB(db, mysqldialect.New())
	check("Bun's tables", func() error {
		_, err1 := b.NewCreateTable().Model((*Author)(nil)).IfNotExists().Exec(ctx)
		_, err2 := b.NewCreateTable().Model((*Book)(nil)).ForeignKey(`(author_id) REFERENCES authors (id) ON DELETE CASCADE`).Exec(ctx)
		_, err3 := b.NewCreateIndex().Model((*Book)(nil)).Index("title_idx").Column("title").Exec(ctx)
		return errors.Join(err1, err2, err3)
	})
	check("Bun's insertions and upserts", func() error {
		authors := []*Author{{Name: "Ada", Tags: []string{"red"}}, {Name: "Bo"}}
		if _, err := b.NewInsert().Model(&authors).Exec(ctx); err != nil {
			return err
		}
		for i := range 6 {
			if _, err := b.NewInsert().Model(&Book{AuthorID: authors[i%2].ID, Title: fmt.Sprint("t", i), Price: float64(i) / 2}).Exec(ctx); err != nil {
				return err
			}
		}
		_, err := b.NewInsert().Model(&Author{ID: authors[0].ID, Name: "Ada2"}).On("DUPLICATE KEY UPDATE").Set("name = VALUES(name)").Exec(ctx)
		return err
	})
	check("Bun's relations and pages", func() error {
		var authors []Author
		if err := b.NewSelect().Model(&authors).Relation("Books", func(q *bun.SelectQuery) *bun.SelectQuery { return q.Order("price DESC") }).Order("id").Scan(ctx); err != nil {
			return err
		}
		if err := equal(fmt.Sprint(authors[0].Name, authors[0].Tags, len(authors[0].Books), authors[0].Books[0].Title), "Ada2[red] 3t4"); err != nil {
			return err
		}
		var books []Book
		n, err := b.NewSelect().Model(&books).Relation("Author").Where("author.name LIKE ?", "Ada%").Order("b.id").Limit(2).ScanAndCount(ctx)
		return errors.Join(err, equal(n, 3), equal(len(books), 2))
	})
	check("Bun's update of many, transaction and cascade", func() error {
		values := b.NewValues(&[]Book{{ID: 1, Title: "new1"}, {ID: 2, Title: "new2"}})
		if _, err := b.NewUpdate().With("_data", values).Model((*Book)(nil)).TableExpr("_data").Set("b.title = _data.title").Where("b.id = _data.id").Exec(ctx); err != nil {
			return err
		}
		err := b.RunInTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable}, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewDelete().Model((*Author)(nil)).Where("name = ?", "Bo").Exec(ctx)
			return err
		})
		if err != nil {
			return err
		}
		n, err := b.NewSelect().Model((*Book)(nil)).Where("title LIKE ?", "%1").Count(ctx)
		left, err2 := b.NewSelect().Model((*Book)(nil)).Count(ctx)
		return errors.Join(err, err2, equal(n, 1), equal(left, 3))
	})
}

// Customer is xorm's.
type Customer struct {
	Id      int64
	Name    string    `xorm:"varchar(25) notnull unique 'customer_name'"`
	Age     int       `xorm:"index default 3 comment('in years')"`
	Salary  float64   `xorm:"decimal(10,2)"`
	Created time.Time `xorm:"created"`
	Deleted time.Time `xorm:"deleted"`
	Version int       `xorm:"version"`
}

func xormTrial(dsn string) {
	e, err := xorm.NewEngine("mysql", dsn)
	if err != nil {
		fmt.Println("not ok - xorm:", err)
		failed = true
		return
	}
	check("xorm's Sync, twice", func() error { return errors.Join(e.Sync(new(Customer)), e.Sync(new(Customer))) })
	check("xorm's rows", func() error {
		for i := range 5 {
			if _, err := e.Insert(&Customer{Name: fmt.Sprint("c", i), Age: i, Salary: 1.5 * float64(i)}); err != nil {
				return err
			}
		}
		var found []Customer
		if err := e.Where("age > ?", 1).Desc("customer_name").Limit(2).Find(&found); err != nil {
			return err
		}
		updated, err1 := e.ID(found[0].Id).Update(&Customer{Name: "other", Version: found[0].Version})
		deleted, err2 := e.ID(found[1].Id).Delete(&Customer{})
		sums, err3 := e.SumsInt(&Customer{}, "age", "id")
		return errors.Join(err1, err2, err3, equal(updated, 1), equal(deleted, 1), equal(fmt.Sprint(sums), "[7 11]"))
	})
	check("xorm's dictionary", func() error {
		metas, err := e.DBMetas()
		if err != nil {
			return err
		}
		for _, m := range metas {
			if m.Name == "customer" {
				age := m.GetColumn("age")
				return errors.Join(equal(age.Default, "3"), equal(age.Comment, "in years"), equal(len(m.Indexes), 2), equal(slices.Equal(m.PrimaryKeys, []string{"id"}), true))
			}
		}
		return errors.New("no table customer")
	})
}

var files = fstest.MapFS{
	"m/1_a.up.sql":   {Data: []byte("CREATE TABLE ma (id INT PRIMARY KEY);INSERT INTO ma VALUES (1),(2);")},
	"m/1_a.down.sql": {Data: []byte("DROP TABLE ma;")},
	"m/2_b.up.sql":   {Data: []byte("ALTER TABLE ma ADD COLUMN b VARCHAR(10) NOT NULL DEFAULT 'q';CREATE INDEX b ON ma (b);")},
	"m/2_b.down.sql": {Data: []byte("DROP INDEX b ON ma;ALTER TABLE ma DROP COLUMN b;")},
	"g/00001_a.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE ga (id INT PRIMARY KEY);\n-- +goose Down\nDROP TABLE ga;\n")},
	"g/00002_b.sql":  {Data: []byte("-- +goose Up\nALTER TABLE ga ADD x INT;\nUPDATE ga SET x=1;\n-- +goose Down\nALTER TABLE ga DROP x;\n")},
}

func migrateTrial(dsn string) {
	check("golang-migrate goes up, down and up, and drops", func() error {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return err
		}
		driver, err := migratemysql.WithInstance(db, &migratemysql.Config{})
		if err != nil {
			return err
		}
		source, err := iofs.New(files, "m")
		if err != nil {
			return err
		}
		m, err := migrate.NewWithInstance("iofs", source, "trial", driver)
		if err != nil {
			return err
		}
		if err := errors.Join(m.Up(), m.Steps(-1), m.Up()); err != nil {
			return err
		}
		version, dirty, err := m.Version()
		return errors.Join(err, equal(version, 2), equal(dirty, false), m.Drop())
	})
	check("goose goes up, down and up", func() error {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return err
		}
		goose.SetBaseFS(files)
		goose.SetLogger(goose.NopLogger())
		if err := errors.Join(goose.SetDialect("mysql"), goose.Up(db, "g"), goose.Down(db, "g"), goose.Up(db, "g")); err != nil {
			return err
		}
		version, err := goose.GetDBVersion(db)
		return errors.Join(err, equal(version, 2))
	})
}
