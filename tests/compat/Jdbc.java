import static java.util.List.of;

import java.io.*;
import java.math.*;
import java.sql.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

/** The steps that both drivers of Java take. */
abstract class Jdbc extends Checks {
  /** connect makes a connection with options of the driver, NAME=VALUE each. */
  abstract Connection connect(String... options) throws SQLException;

  /** serverSide are the options by which statements are prepared by the server. */
  abstract String[] serverSide();

  /** date is a date as a parameter in a form that MySQL takes from the driver. */
  Object date(LocalDate d) {
    return d;
  }

  final ExecutorService threads = Executors.newCachedThreadPool(r -> {
    Thread t = new Thread(r);
    t.setDaemon(true);
    return t;
  });

  void types(Connection db, String table) throws Exception {
    run(db, "CREATE TABLE " + table + " (id BIGINT UNSIGNED PRIMARY KEY, d DECIMAL(20,5), f DOUBLE, t VARCHAR(50), b VARBINARY(50), da DATE, dt DATETIME(6), ti TIME(3), j JSON, n INT, bo TINYINT(1), e ENUM('x','y'), y YEAR, s SET('a','b'), bi BIT(9), fl FLOAT, txt TEXT, bl LONGBLOB)");
    LocalDateTime at = LocalDateTime.of(2026, 2, 28, 23, 59, 59, 123456000);
    byte[] blob = new byte[70000];
    new Random(1).nextBytes(blob);
    try (PreparedStatement s = db.prepareStatement("INSERT INTO " + table + " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")) {
      s.setObject(1, new BigInteger("18446744073709551615"));
      s.setBigDecimal(2, new BigDecimal("12345678901234.56789"));
      s.setDouble(3, 0.1);
      s.setString(4, "Ünïcødé 🚀 '\\\"");
      s.setBytes(5, new byte[] {0, -1, '\'', '\\'});
      s.setObject(6, date(at.toLocalDate()));
      s.setObject(7, at);
      s.setObject(8, LocalTime.of(13, 1, 2, 345000000));
      s.setString(9, "{\"a\": [1, 2]}");
      s.setNull(10, Types.INTEGER);
      s.setBoolean(11, true);
      s.setString(12, "y");
      s.setInt(13, 2026);
      s.setString(14, "a,b");
      s.setInt(15, 257);
      s.setFloat(16, 1.25f);
      s.setCharacterStream(17, new StringReader("stream é"));
      s.setBinaryStream(18, new ByteArrayInputStream(blob));
      equal(s.executeUpdate(), 1);
    }
    try (PreparedStatement s = db.prepareStatement("SELECT * FROM " + table + " WHERE id = ?")) {
      s.setObject(1, new BigInteger("18446744073709551615"));
      ResultSet r = s.executeQuery();
      equal(r.next(), true);
      equal(r.getObject(1), new BigInteger("18446744073709551615"));
      equal(r.getBigDecimal(2), new BigDecimal("12345678901234.56789"));
      equal(r.getDouble(3), 0.1);
      equal(r.getString(4), "Ünïcødé 🚀 '\\\"");
      equal(r.getBytes(5), new byte[] {0, -1, '\'', '\\'});
      equal(r.getObject(6, LocalDate.class), at.toLocalDate());
      equal(r.getObject(7, LocalDateTime.class), at);
      equal(r.getObject(8, LocalTime.class), LocalTime.of(13, 1, 2, 345000000));
      equal(r.getString(9), "{\"a\": [1, 2]}");
      equal(r.getInt(10), 0);
      equal(r.wasNull(), true);
      equal(r.getObject(11), true);
      equal(r.getString(12), "y");
      equal(r.getInt(13), 2026);
      equal(r.getString(14), "a,b");
      equal(r.getBytes(15), new byte[] {1, 1});
      equal(r.getFloat(16), 1.25f);
      equal(r.getString(17), "stream é");
      equal(r.getBinaryStream(18).readAllBytes(), blob);
      equal(r.next(), false);
    }
  }

  /** described is what the driver knows of a result's columns: label, name, table, type, precision, scale, NOT NULL, counter. */
  static List<String> described(ResultSetMetaData m) throws SQLException {
    List<String> all = new ArrayList<>();
    for (int i = 1; i <= m.getColumnCount(); i++)
      all.add(m.getColumnLabel(i) + " " + m.getColumnName(i) + " " + m.getTableName(i) + " " + m.getColumnTypeName(i) + " " + m.getPrecision(i) + " " + m.getScale(i)
          + (m.isNullable(i) == ResultSetMetaData.columnNoNulls ? " not null" : "") + (m.isAutoIncrement(i) ? " counter" : ""));
    return all;
  }

  void steps() throws Exception {
    Connection db = connect();
    check("types there and back", () -> types(db, "types_text"));
    check("types by prepared statements", () -> {
      try (Connection own = connect(serverSide())) {
        types(own, "types_prepared");
      }
    });
    check("relations and generated keys", () -> {
      run(db, "CREATE TABLE author (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL COMMENT 'how it is called', UNIQUE KEY by_name (name)) COMMENT = 'people'");
      run(db, "CREATE TABLE book (id INT AUTO_INCREMENT PRIMARY KEY, author_id INT NOT NULL, title VARCHAR(100), price DECIMAL(8,2) DEFAULT 1.50, added TIMESTAMP(3) NULL DEFAULT CURRENT_TIMESTAMP(3), size INT AS (CHAR_LENGTH(title)) STORED, KEY by_title (title(20), price DESC), CONSTRAINT wrote FOREIGN KEY (author_id) REFERENCES author (id) ON DELETE CASCADE)");
      run(db, "CREATE VIEW titles AS SELECT b.id, b.title, a.name FROM book b JOIN author a ON a.id = b.author_id");
      try (PreparedStatement s = db.prepareStatement("INSERT INTO author (name) VALUES (?), (?)", Statement.RETURN_GENERATED_KEYS)) {
        s.setString(1, "Ada");
        s.setString(2, "Bo");
        equal(s.executeUpdate(), 2);
        equal(rows(s.getGeneratedKeys()).get(0), "1");
      }
      equal(run(db, "INSERT INTO book (author_id, title) VALUES (1, 'one'), (1, 'two'), (2, 'three')"), 3);
      equal(rows(db, "SELECT a.name, COUNT(b.id) FROM author a LEFT JOIN book b ON b.author_id = a.id GROUP BY a.id ORDER BY a.name"), of("Ada|2", "Bo|1"));
    });
    check("pages", () -> {
      for (String[] options : new String[][] {{}, serverSide()})
        try (Connection own = connect(options)) {
          equal(rows(own, "SELECT title FROM book WHERE size > ? ORDER BY title LIMIT ? OFFSET ?", 1, 2, 1), of("three", "two"));
          try (Statement s = own.createStatement()) {
            s.setMaxRows(2);
            equal(rows(s.executeQuery("SELECT id FROM book ORDER BY id")), of("1", "2"));
            s.setMaxRows(0);
            equal(rows(s.executeQuery("SELECT id FROM book ORDER BY id")), of("1", "2", "3"));
          }
        }
    });
    check("errors have number, state and class", () -> {
      SQLException e = fails(() -> run(db, "INSERT INTO author (name) VALUES ('Ada')"));
      equal(e.getErrorCode() + " " + e.getSQLState() + " " + (e instanceof SQLIntegrityConstraintViolationException), "1062 23000 true");
      equal(fails(() -> run(db, "INSERT INTO book (author_id) VALUES (99)")).getErrorCode(), 1452);
      equal(fails(() -> run(db, "DELETE FROM nowhere")).getErrorCode(), 1146);
      equal(fails(() -> run(db, "SELEC 1")) instanceof SQLSyntaxErrorException, true);
      equal(fails(() -> run(db, "INSERT INTO author (name) VALUES (REPEAT('x', 60))")).getErrorCode(), 1406);
    });
    check("upsert", () -> {
      equal(run(db, "INSERT INTO author (id, name) VALUES (1, 'Ada L.') ON DUPLICATE KEY UPDATE name = VALUES(name)"), 2);
      equal(run(db, "INSERT INTO author (id, name) VALUES (?, ?) AS new ON DUPLICATE KEY UPDATE name = new.name", 3, "Cy"), 1);
      equal(run(db, "UPDATE author SET name = name WHERE id = 1"), 1); // rows found, not rows changed
      equal(run(db, "REPLACE INTO author (id, name) VALUES (3, 'Di')"), 2);
    });
    check("batches", () -> {
      run(db, "CREATE TABLE batch (id INT AUTO_INCREMENT PRIMARY KEY, n INT UNIQUE, t VARCHAR(20))");
      int from = 0;
      for (String[] options : batchOptions())
        try (Connection own = connect(options); PreparedStatement s = own.prepareStatement("INSERT INTO batch (n, t) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
          for (int i = 0; i < 500; i++) {
            s.setInt(1, from + i);
            s.setString(2, "t" + i);
            s.addBatch();
          }
          for (int n : s.executeBatch()) equal(n == 1 || n == Statement.SUCCESS_NO_INFO, true);
          equal(rows(s.getGeneratedKeys()).size() , 500);
          from += 500;
          try (PreparedStatement u = own.prepareStatement("UPDATE batch SET t = ? WHERE n = ?")) {
            for (int i = 0; i < 10; i++) {
              u.setString(1, "u");
              u.setInt(2, from - 1 - i);
              u.addBatch();
            }
            u.executeBatch();
          }
          s.setInt(1, from + 500);
          s.setString(2, "x");
          s.addBatch();
          s.setInt(1, 0);
          s.setString(2, "twice");
          s.addBatch();
          equal(fails(s::executeBatch) instanceof BatchUpdateException, true);
          run(own, "DELETE FROM batch WHERE n = ?", from + 500);
        }
      equal(rows(db, "SELECT COUNT(*), COUNT(DISTINCT n), SUM(t = 'u') FROM batch"), of(from + "|" + from + "|" + from / 50));
      try (Statement s = db.createStatement()) {
        s.addBatch("UPDATE batch SET t = 'x' WHERE n < 5");
        s.addBatch("DELETE FROM batch WHERE n < 3");
        equal(s.executeBatch(), new int[] {5, 3});
      }
    });
    check("transactions and savepoints", () -> {
      db.setAutoCommit(false);
      run(db, "DELETE FROM book");
      db.rollback();
      equal(rows(db, "SELECT COUNT(*) FROM book"), of("3"));
      Savepoint s = db.setSavepoint(), named = db.setSavepoint("a-name");
      run(db, "DELETE FROM author WHERE id = 1");
      db.rollback(named);
      run(db, "DELETE FROM author WHERE id = 2");
      db.releaseSavepoint(named);
      db.rollback(s);
      db.commit();
      equal(rows(db, "SELECT COUNT(*) FROM book"), of("3"));
      for (int level : new int[] {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ}) {
        db.setTransactionIsolation(level);
        equal(db.getTransactionIsolation(), level);
      }
      db.setAutoCommit(true);
    });
    check("a row lock waits", () -> {
      try (Connection other = connect()) {
        db.setAutoCommit(false);
        rows(db, "SELECT * FROM author WHERE id = 1 FOR UPDATE");
        equal(rows(other, "SELECT id FROM author FOR UPDATE SKIP LOCKED").contains("1"), false);
        equal(fails(() -> rows(other, "SELECT * FROM author WHERE id = 1 FOR UPDATE NOWAIT")).getErrorCode(), 3572);
        run(other, "SET innodb_lock_wait_timeout = 1");
        equal(fails(() -> run(other, "UPDATE author SET name = 'late' WHERE id = 1")).getErrorCode(), 1205);
        run(other, "SET innodb_lock_wait_timeout = 100");
        Future<Integer> update = threads.submit(() -> run(other, "UPDATE author SET name = CONCAT(name, '!') WHERE id = 1"));
        try {
          update.get(300, TimeUnit.MILLISECONDS);
          throw new AssertionError("it has not waited");
        } catch (TimeoutException e) { // as it should
        }
        db.commit();
        equal(update.get(), 1);
        db.setAutoCommit(true);
      }
    });
    check("a deadlock has one victim", () -> {
      try (Connection other = connect()) {
        db.setAutoCommit(false);
        other.setAutoCommit(false);
        run(db, "UPDATE author SET name = name WHERE id = 1");
        run(other, "UPDATE author SET name = name WHERE id = 2");
        Callable<Integer> one = () -> attempt(db, 2), two = () -> attempt(other, 1);
        Future<Integer> a = threads.submit(one), b = threads.submit(two);
        equal(a.get() + b.get(), 1213);
        db.rollback();
        other.rollback();
        db.setAutoCommit(true);
      }
    });
    check("several statements at once", () -> {
      try (Connection own = connect("allowMultiQueries=true"); Statement s = own.createStatement()) {
        equal(s.execute("SELECT 1; UPDATE author SET name = name WHERE id < 3; SELECT id FROM author WHERE id < 3 ORDER BY id"), true);
        equal(rows(s.getResultSet()), of("1"));
        equal(s.getMoreResults(), false);
        equal(s.getUpdateCount(), 2);
        equal(s.getMoreResults(), true);
        equal(rows(s.getResultSet()), of("1", "2"));
        equal(s.getMoreResults(), false);
        equal(s.getUpdateCount(), -1);
      }
    });
    check("warnings", () -> {
      try (Statement s = db.createStatement()) {
        s.execute("SELECT CAST('12x' AS SIGNED)");
        SQLWarning w = s.getWarnings();
        equal(w.getErrorCode() + " " + w.getMessage(), "1292 Truncated incorrect INTEGER value: '12x'");
      }
    });
    check("large results: by cursor and streamed", () -> {
      run(db, "CREATE TABLE large AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT a.i * 1000 + b.i AS id, REPEAT('x', 50) AS pad FROM n a JOIN n b ON b.i <= 20");
      for (String[] options : fetchOptions())
        try (Connection own = connect(options)) {
          own.setAutoCommit(false);
          try (PreparedStatement s = own.prepareStatement("SELECT id, pad FROM large ORDER BY id")) {
            s.setFetchSize(fetchSize(options));
            ResultSet r = s.executeQuery();
            long n = 0, sum = 0;
            for (; r.next(); n++) sum += r.getLong(1);
            equal(n + " " + sum, "20000 10010210000");
            r.close();
            r = s.executeQuery(); // left in the middle
            for (int i = 0; i < 100; i++) r.next();
            r.close();
            equal(rows(own, "SELECT COUNT(*) FROM large"), of("20000"));
          }
          own.commit();
        }
    });
    check("a statement's timeout ends it", () -> {
      try (Connection own = connect(); Statement s = own.createStatement()) {
        s.setQueryTimeout(1);
        SQLException e = fails(() -> rows(s.executeQuery("SELECT COUNT(*) FROM large a JOIN large b ON a.id * 7 <> b.id * 3 JOIN large c ON a.id + b.id <> c.id")));
        equal(e instanceof SQLTimeoutException, true);
        s.setQueryTimeout(0);
        equal(rows(s.executeQuery("SELECT 1")), of("1"));
      }
    });
    check("cancel from another thread", () -> {
      try (Connection own = connect(); Statement s = own.createStatement()) {
        String id = rows(own, "SELECT CONNECTION_ID()").get(0);
        Future<SQLException> running = threads.submit(() -> fails(() -> rows(s.executeQuery("SELECT COUNT(*) FROM large a JOIN large b ON a.id * 7 <> b.id * 3 JOIN large c ON a.id + b.id <> c.id"))));
        while (rows(db, "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = " + id + " AND INFO LIKE '%FROM large a%'").isEmpty()) Thread.sleep(20);
        s.cancel();
        running.get();
        equal(rows(own, "SELECT 1"), of("1"));
      }
    });
    check("time zones", () -> zones());
    check("connection attributes", () -> {
      try (Connection own = connect("connectionAttributes=trial:yes,other:no")) {
        equal(rows(own, "SELECT ATTR_VALUE FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = CONNECTION_ID() AND ATTR_NAME = 'trial'"), of("yes"));
        equal(rows(own, "SELECT COUNT(*) > 3 FROM performance_schema.session_account_connect_attrs WHERE PROCESSLIST_ID = CONNECTION_ID()"), of("1"));
      }
    });
    check("LOAD DATA LOCAL", () -> {
      File file = File.createTempFile("trial", ".csv");
      try (Connection own = connect("allowLoadLocalInfile=true", "allowLocalInfile=true"); Statement s = own.createStatement()) {
        java.nio.file.Files.writeString(file.toPath(), IntStream.range(0, 3000).mapToObj(i -> i + ",\"é " + i + "\"\n").collect(Collectors.joining()));
        s.execute("CREATE TABLE loaded (n INT PRIMARY KEY, t VARCHAR(20))");
        String load = "LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE loaded CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' ENCLOSED BY '\"' LINES TERMINATED BY '\\n'";
        equal(s.executeUpdate(load), 3000);
        equal(s.executeUpdate(load), 0); // duplicate keys are left out
        equal(rows(own, "SELECT COUNT(*), MAX(t) FROM loaded"), of("3000|é 999"));
        equal(fails(() -> s.execute(load.replace("trial", "nofile"))).getMessage().isEmpty(), false);
        equal(rows(own, "SELECT 1"), of("1")); // the connection is still in step
      } finally {
        file.delete();
      }
    });
    check("large packets", () -> {
      run(db, "CREATE TABLE packet (id INT PRIMARY KEY, b LONGBLOB)");
      byte[] big = new byte[20_000_000];
      Arrays.fill(big, (byte) 'z');
      for (String[] options : new String[][] {{}, serverSide(), {"useCompression=true"}})
        try (Connection own = connect(options)) {
          equal(run(own, "REPLACE INTO packet VALUES (?, ?)", 1, big) > 0, true);
          try (PreparedStatement s = own.prepareStatement("SELECT b FROM packet WHERE id = ?")) {
            s.setInt(1, 1);
            ResultSet r = s.executeQuery();
            r.next();
            equal(Arrays.equals(r.getBytes(1), big), true);
          }
        }
    });
    check("a result that is updated", () -> {
      try (Statement s = db.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
        ResultSet r = s.executeQuery("SELECT id, n, t FROM batch WHERE n >= 990 ORDER BY n");
        equal(r.last(), true);
        r.updateString("t", "updated");
        r.updateRow();
        r.first();
        r.deleteRow();
        r.moveToInsertRow();
        r.updateInt("n", 999999);
        r.updateString("t", "inserted");
        r.insertRow();
        r.close();
        equal(rows(db, "SELECT COUNT(*) FROM batch WHERE n = 990 OR t IN ('updated', 'inserted')"), of("2"));
      }
    });
    check("migration", () -> {
      run(db, "ALTER TABLE book ADD COLUMN isbn CHAR(13) NULL AFTER title, ADD INDEX by_price (price), MODIFY price DECIMAL(10,3) NOT NULL DEFAULT 2");
      run(db, "ALTER TABLE book RENAME COLUMN isbn TO code, DROP INDEX by_price, ADD CONSTRAINT cheap CHECK (price < 1000)");
      equal(rows(db.getMetaData().getColumns(DATABASE, null, "book", "%"), "COLUMN_NAME"), of("id", "author_id", "title", "code", "price", "added", "size"));
      equal(fails(() -> run(db, "UPDATE book SET price = 2000")).getErrorCode(), 3819);
      try (Statement s = db.createStatement()) {
        s.execute("CREATE TABLE book2 LIKE book");
        s.execute("RENAME TABLE book2 TO book3");
        s.execute("TRUNCATE TABLE book3");
        s.execute("DROP TABLE book3");
      }
    });
    dictionary(db);
    own(db);
    db.close();
    end();
  }

  private static int attempt(Connection db, int id) throws SQLException {
    try {
      run(db, "UPDATE author SET name = name WHERE id = ?", id);
      db.commit();
      return 0;
    } catch (SQLException e) {
      equal(e.getSQLState(), "40001");
      return e.getErrorCode();
    }
  }

  abstract String[][] batchOptions();

  abstract String[][] fetchOptions();

  abstract int fetchSize(String[] options);

  abstract void zones() throws Exception;

  /** AT is the moment that zones sends. */
  static final Instant AT = Instant.parse("2026-07-01T12:00:00.123Z");

  /** zones stores AT through a connection in Tokyo's time zone, and as ts and dt, which are AT in other types, through one five hours behind UTC. Both read the same. */
  void zones(Connection tokyo, Connection offset, Object ts, Object dt) throws Exception {
    run(tokyo, "CREATE TABLE zoned (id INT PRIMARY KEY, ts TIMESTAMP(3), dt DATETIME(3))");
    run(tokyo, "INSERT INTO zoned VALUES (1, ?, ?)", Timestamp.from(AT), Timestamp.from(AT));
    run(offset, "INSERT INTO zoned VALUES (2, ?, ?)", ts, dt);
    for (Connection c : of(tokyo, offset))
      try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT ts FROM zoned ORDER BY id")) {
        while (r.next()) {
          equal(r.getTimestamp(1).toInstant(), AT);
          equal(r.getObject(1, OffsetDateTime.class).toInstant(), AT);
        }
      }
    equal(rows(tokyo, "SELECT CAST(ts AS CHAR), CAST(dt AS CHAR) FROM zoned ORDER BY id"), of("2026-07-01 21:00:00.123|2026-07-01 21:00:00.123", "2026-07-01 21:00:00.123|2026-07-01 07:00:00.123"));
  }

  /** own are the steps of one driver. */
  abstract void own(Connection db);

  /** dictionary checks what the driver tells of a schema. */
  void dictionary(Connection db) {
    check("dictionary: tables and columns", () -> {
      DatabaseMetaData d = db.getMetaData();
      equal(rows(d.getTables(DATABASE, null, "%o_", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE", "REMARKS"), of("author|TABLE|people", "book|TABLE|"));
      equal(rows(d.getTables(DATABASE, null, "titles", null), "TABLE_CAT", "TABLE_TYPE"), of(DATABASE + "|VIEW"));
      equal(rows(d.getColumns(DATABASE, null, "author", "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "NULLABLE", "REMARKS", "ORDINAL_POSITION", "IS_NULLABLE", "IS_AUTOINCREMENT"),
          of("id|4|INT|10|0||1|NO|YES", "name|12|VARCHAR|50|0|how it is called|2|NO|NO"));
      equal(rows(d.getColumns(DATABASE, null, "book", "%"), "COLUMN_NAME", "DATA_TYPE", "COLUMN_SIZE", "DECIMAL_DIGITS", "COLUMN_DEF", "IS_GENERATEDCOLUMN").subList(4, 6),
          of("price|3|10|3|2.000|NO", "added|93|23|null|CURRENT_TIMESTAMP(3)|" + timestampGenerated()));
      equal(rows(d.getCatalogs()).containsAll(of(DATABASE, "information_schema", "mysql")), true);
    });
    check("dictionary: keys and indexes", () -> {
      DatabaseMetaData d = db.getMetaData();
      equal(rows(d.getPrimaryKeys(DATABASE, null, "book"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"), of("id|1|PRIMARY"));
      equal(rows(d.getIndexInfo(DATABASE, null, "book", false, true), "INDEX_NAME", "ORDINAL_POSITION", "COLUMN_NAME", "ASC_OR_DESC", "NON_UNIQUE").stream().map(s -> s.replace("false", "0").replace("true", "1")).toList(),
          of("PRIMARY|1|id|A|0", "by_title|1|title|A|1", "by_title|2|price|D|1", "wrote|1|author_id|A|1"));
      List<String> want = of("author|id|book|author_id|1|" + noAction() + "|0|wrote");
      String[] key = {"PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "KEY_SEQ", "UPDATE_RULE", "DELETE_RULE", "FK_NAME"};
      equal(rows(d.getImportedKeys(DATABASE, null, "book"), key), want);
      equal(new TreeSet<>(rows(d.getExportedKeys(DATABASE, null, "author"), key)), new TreeSet<>(want));
      equal(new TreeSet<>(rows(d.getCrossReference(DATABASE, null, "author", DATABASE, null, "book"), key)), new TreeSet<>(want));
      equal(rows(d.getBestRowIdentifier(DATABASE, null, "book", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"), of("id"));
      rows(d.getVersionColumns(DATABASE, null, "book"));
    });
    check("dictionary: routines, privileges, types, words", () -> {
      DatabaseMetaData d = db.getMetaData();
      equal(rows(d.getProcedures(DATABASE, null, "%")), of());
      equal(rows(d.getProcedureColumns(DATABASE, null, "%", "%")), of());
      equal(rows(d.getFunctions(DATABASE, null, "%")), of());
      equal(rows(d.getFunctionColumns(DATABASE, null, "%", "%")), of());
      equal(rows(d.getTablePrivileges(DATABASE, null, "book")), of());
      equal(rows(d.getColumnPrivileges(DATABASE, null, "book", "%")), of());
      equal(rows(d.getTypeInfo(), "TYPE_NAME").containsAll(of("BIGINT", "VARCHAR", "DECIMAL", "DATETIME")), true);
      equal(rows(d.getTableTypes()).containsAll(of("VIEW")), true);
      equal(Arrays.asList(d.getSQLKeywords().split(",")).containsAll(of("ZEROFILL", "LIMIT", "RLIKE")), true);
      equal(d.getDatabaseMajorVersion() >= 8, true);
    });
    check("descriptions of results", () -> {
      run(db, "CREATE TABLE texts (id INT PRIMARY KEY, a TINYTEXT, b TEXT, c MEDIUMTEXT, d LONGTEXT, e TINYBLOB, f BLOB, g MEDIUMBLOB, h LONGBLOB, l TEXT CHARACTER SET latin1)");
      for (String[] options : new String[][] {{}, serverSide()})
        try (Connection own = connect(options)) {
          equal(typeNames(own, "SELECT * FROM texts"), of("INT", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "TEXT"));
          try (PreparedStatement s = own.prepareStatement("SELECT b.id, title AS t, price, a.name FROM book b JOIN author a ON a.id = author_id"); ResultSet r = s.executeQuery()) {
            equal(described(r.getMetaData()).stream().map(x -> x.replace("INTEGER", "INT")).toList(), of("id id book INT 10 0 not null counter", "t title book VARCHAR 100 0", "price price book DECIMAL 10 3 not null", "name name author VARCHAR 50 0 not null"));
          }
          try (PreparedStatement s = own.prepareStatement("SELECT * FROM titles"); ResultSet r = s.executeQuery()) {
            equal(r.getMetaData().getTableName(2), "titles");
          }
          for (String show : of("SHOW COLUMNS FROM book", "SHOW INDEX FROM book", "SHOW TABLES", "SHOW TABLE STATUS", "SHOW DATABASES", "SHOW VARIABLES LIKE 'version'", "SHOW STATUS LIKE 'Threads%'", "SHOW COLLATION", "SHOW CHARACTER SET", "SHOW PROCESSLIST", "SHOW TRIGGERS", "SHOW EVENTS", "SHOW PROCEDURE STATUS"))
            try (PreparedStatement s = own.prepareStatement(show); ResultSet r = s.executeQuery()) {
              ResultSetMetaData m = r.getMetaData();
              for (int i = 1; i <= m.getColumnCount(); i++) equal(m.getColumnName(i), m.getColumnLabel(i)); // what tools ask for
            }
        }
    });
  }

  private static List<String> typeNames(Connection db, String sql) throws SQLException {
    List<String> all = new ArrayList<>();
    try (PreparedStatement s = db.prepareStatement(sql); ResultSet r = s.executeQuery()) {
      for (int i = 1; i <= r.getMetaData().getColumnCount(); i++) all.add(r.getMetaData().getColumnTypeName(i).replace("INTEGER", "INT"));
    }
    return all;
  }

  /** noAction is the number that the driver has for a foreign key's NO ACTION. */
  abstract int noAction();

  abstract String timestampGenerated();
}
