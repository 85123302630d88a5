"""The steps that all drivers of Python's DB-API take. connect makes a connection, errors is the driver's IntegrityError."""
import datetime
import decimal
import tempfile
import threading

from checks import check, end, equal


def trial(connect, IntegrityError, placeholder_many=True, load_local=False):
    con = connect()
    cur = con.cursor()

    def rows(sql, args=()):
        cur.execute(sql, args)
        return [tuple(r) for r in cur.fetchall()]

    @check("types there and back")
    def _():
        cur.execute("CREATE TABLE types (id BIGINT UNSIGNED PRIMARY KEY, d DECIMAL(20,5), f DOUBLE, t VARCHAR(50), b VARBINARY(50), da DATE, dt DATETIME(6), ti TIME, j JSON, n INT NULL, bo TINYINT(1), e ENUM('x','y'), y YEAR)")
        at = datetime.datetime(2026, 2, 28, 23, 59, 59, 123456)
        values = (2**64 - 1, decimal.Decimal("12345678901234.56789"), 0.1, "Ünïcødé 🚀 '\\\"", b"\x00\xff'\\", at.date(), at, datetime.timedelta(hours=30, seconds=1), '{"a": [1, 2]}', None, True, "y", 2026)
        cur.execute("INSERT INTO types VALUES (" + ",".join(["%s"] * 13) + ")", values)
        con.commit()
        got = list(rows("SELECT * FROM types")[0])
        got[4], got[8] = bytes(got[4]), got[8].decode() if isinstance(got[8], bytes) else got[8]
        if isinstance(got[11], set):
            got[11] = got[11].pop()
        equal(tuple(got), values)

    @check("relations")
    def _():
        cur.execute("CREATE TABLE author (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL UNIQUE)")
        cur.execute("CREATE TABLE book (id INT AUTO_INCREMENT PRIMARY KEY, author_id INT NOT NULL, title VARCHAR(100), price DECIMAL(8,2) DEFAULT 1.50, FOREIGN KEY (author_id) REFERENCES author (id) ON DELETE CASCADE)")
        cur.execute("INSERT INTO author (name) VALUES (%s)", ("Ada",))
        ada = cur.lastrowid
        cur.execute("INSERT INTO author (name) VALUES (%s)", ("Bo",))
        if placeholder_many:
            cur.executemany("INSERT INTO book (author_id, title) VALUES (%s, %s)", [(ada, "one"), (ada, "two"), (cur.lastrowid, "three")])
            equal(cur.rowcount, 3)
        con.commit()
        equal(rows("SELECT a.name, COUNT(b.id) FROM author a LEFT JOIN book b ON b.author_id = a.id GROUP BY a.id ORDER BY a.name"), [("Ada", 2), ("Bo", 1)])

    @check("integrity errors")
    def _():
        for sql in ("INSERT INTO author (name) VALUES ('Ada')", "INSERT INTO book (author_id, title) VALUES (999, 'x')", "INSERT INTO author (name) VALUES (NULL)"):
            try:
                cur.execute(sql)
            except IntegrityError:
                continue
            raise AssertionError("accepted: " + sql)
        con.rollback()

    @check("upsert")
    def _():
        cur.execute("INSERT INTO author (id, name) VALUES (1, 'Ada L.') ON DUPLICATE KEY UPDATE name = VALUES(name)")
        equal(cur.rowcount, 2)
        con.commit()
        equal(rows("SELECT name FROM author WHERE id = 1"), [("Ada L.",)])

    @check("pages")
    def _():
        equal([r[0] for r in rows("SELECT title FROM book ORDER BY title LIMIT %s OFFSET %s", (2, 1))], ["three", "two"])

    @check("rollback and savepoints")
    def _():
        cur.execute("DELETE FROM book")
        con.rollback()
        equal(rows("SELECT COUNT(*) FROM book"), [(3,)])
        cur.execute("SAVEPOINT s")
        cur.execute("DELETE FROM author WHERE id = 1")
        equal(rows("SELECT COUNT(*) FROM book"), [(1,)])
        cur.execute("ROLLBACK TO SAVEPOINT s")
        con.commit()
        equal(rows("SELECT COUNT(*) FROM book"), [(3,)])

    @check("a row lock waits")
    def _():
        cur.execute("SELECT * FROM author WHERE id = 1 FOR UPDATE")
        cur.fetchall()
        other = connect()
        done = []

        def update():
            c = other.cursor()
            c.execute("UPDATE author SET name = CONCAT(name, '!') WHERE id = 1")
            other.commit()
            done.append(True)

        thread = threading.Thread(target=update)
        thread.start()
        thread.join(0.3)
        equal(done, [])
        con.commit()
        thread.join(20)
        equal(done, [True])
        other.close()

    @check("dictionary")
    def _():
        equal(rows("SELECT COLUMN_NAME, DATA_TYPE, IS_NULLABLE, COLUMN_KEY, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'author' ORDER BY ORDINAL_POSITION"),
              [("id", "int", "NO", "PRI", "auto_increment"), ("name", "varchar", "NO", "UNI", "")])
        equal(rows("SELECT k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, r.DELETE_RULE FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME) WHERE k.TABLE_SCHEMA = DATABASE() AND k.TABLE_NAME = 'book'"),
              [("author_id", "author", "CASCADE")])
        equal(rows("SHOW TABLES"), [("author",), ("book",), ("types",)])

    @check("migration")
    def _():
        cur.execute("ALTER TABLE book ADD COLUMN isbn CHAR(13) NULL AFTER title, ADD INDEX by_title (title), MODIFY price DECIMAL(10,3) NOT NULL DEFAULT 2")
        cur.execute("ALTER TABLE book RENAME COLUMN isbn TO code, DROP INDEX by_title")
        equal([r[0] for r in rows("SHOW COLUMNS FROM book")], ["id", "author_id", "title", "code", "price"])
        equal(rows("SELECT DISTINCT price FROM book"), [(decimal.Decimal("1.500"),)])

    if load_local:
        load(connect)
    con.close()
    end()


def load(connect):
    """A file of the client; connect must allow it."""

    @check("LOAD DATA LOCAL")
    def _():
        con = connect()
        cur = con.cursor()
        with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8") as file:
            file.writelines(f'{i},"é {i}"\n' for i in range(3000))
            file.flush()
            cur.execute("CREATE TABLE loaded (n INT PRIMARY KEY, t VARCHAR(20))")
            statement = f"LOAD DATA LOCAL INFILE '{file.name}' INTO TABLE loaded CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' ENCLOSED BY '\"' IGNORE 1 LINES (n, @t) SET t = UPPER(@t)"
            cur.execute(statement)
            equal(cur.rowcount, 2999)
            cur.execute(statement)
            equal(cur.rowcount, 0)  # duplicate keys are left out
        con.commit()
        cur.execute("SELECT COUNT(*), MAX(t) FROM loaded")
        equal(cur.fetchone(), (2999, "É 999"))
        try:
            cur.execute(statement)
        except Exception:  # the file is gone; the connection is still in step
            cur.execute("SELECT 1")
            equal(cur.fetchone(), (1,))
        else:
            raise AssertionError("accepted a file that does not exist")
        con.close()
