import static java.util.List.of;

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.time.*;
import java.util.*;

/** MySQL's own driver. */
public class Trial extends Jdbc {
  public static void main(String[] args) throws Exception {
    new Trial().steps();
  }

  Connection connect(String... options) throws SQLException {
    return DriverManager.getConnection("jdbc:mysql://" + HOST + ":" + PORT + "/" + DATABASE + "?" + String.join("&", options), USER, PASSWORD);
  }

  String[] serverSide() {
    return new String[] {"useServerPrepStmts=true", "cachePrepStmts=true"};
  }

  String[][] batchOptions() {
    return new String[][] {{}, {"rewriteBatchedStatements=true"}, {"rewriteBatchedStatements=true", "useServerPrepStmts=true"}, {"useServerPrepStmts=true"}};
  }

  String[][] fetchOptions() {
    return new String[][] {{"useCursorFetch=true"}, {"useServerPrepStmts=true", "useCursorFetch=true"}, {"useServerPrepStmts=true"}, {}};
  }

  int fetchSize(String[] options) {
    return Arrays.asList(options).contains("useCursorFetch=true") ? 137 : Integer.MIN_VALUE;
  }

  int noAction() {
    return DatabaseMetaData.importedKeyRestrict;
  }

  String timestampGenerated() {
    return "YES"; // as the driver reads DEFAULT_GENERATED
  }

  void zones() throws Exception {
    try (Connection tokyo = connect("connectionTimeZone=Asia/Tokyo", "forceConnectionTimeZoneToSession=true"); Connection offset = connect("connectionTimeZone=-05:00", "forceConnectionTimeZoneToSession=true", "useServerPrepStmts=true")) {
      equal(rows(tokyo, "SELECT @@time_zone"), of("Asia/Tokyo"));
      zones(tokyo, offset, AT.atOffset(ZoneOffset.UTC), AT.atZone(ZoneId.of("Europe/Rome")));
    }
  }

  void own(Connection db) {
    check("dictionary through SHOW and through information_schema", () -> {
      List<List<String>> all = new ArrayList<>();
      for (String way : of("true", "false"))
        try (Connection own = connect("useInformationSchema=" + way, "nullDatabaseMeansCurrent=true")) {
          DatabaseMetaData d = own.getMetaData();
          List<String> got = new ArrayList<>();
          got.addAll(rows(d.getTables(null, null, "%", null), "TABLE_NAME", "TABLE_TYPE"));
          got.addAll(rows(d.getColumns(null, null, "book", "%"), "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "COLUMN_DEF", "IS_NULLABLE"));
          got.addAll(rows(d.getIndexInfo(null, null, "book", false, false), "INDEX_NAME", "COLUMN_NAME"));
          got.addAll(rows(d.getImportedKeys(null, null, "book"), "PKTABLE_NAME", "FKCOLUMN_NAME", "FK_NAME"));
          all.add(got);
        }
      equal(all.get(0), all.get(1));
      try (Connection own = connect("databaseTerm=SCHEMA")) {
        equal(own.getSchema(), DATABASE);
        equal(rows(own.getMetaData().getTables(null, DATABASE, "book", null), "TABLE_SCHEM", "TABLE_NAME"), of(DATABASE + "|book"));
      }
    });
    check("transactions that only read", () -> {
      db.setReadOnly(true);
      try (Statement s = db.createStatement()) {
        fails(() -> s.executeUpdate("DELETE FROM book")); // refused by the driver
      }
      try (Connection own = connect("readOnlyPropagatesToServer=true", "allowMultiQueries=true"); Statement s = own.createStatement()) {
        own.setReadOnly(true);
        equal(fails(() -> s.execute("DO 1; DELETE FROM book")).getErrorCode(), 1792);
      }
      db.setReadOnly(false);
      equal(rows(db, "SELECT COUNT(*) FROM book"), of("3"));
    });
    check("settings of a pool", () -> {
      try (Connection own = connect("useConfigs=maxPerformance", "useLocalTransactionState=true", "sessionVariables=sql_mode='ANSI_QUOTES',group_concat_max_len=5000", "connectionCollation=utf8mb4_unicode_ci", "enableQueryTimeouts=false", "trackSessionState=true")) {
        equal(rows(own, "SELECT \"name\", @@group_concat_max_len, @@collation_connection FROM author WHERE id = 2"), of("Bo|5000|utf8mb4_unicode_ci"));
        equal(own.isValid(60), true);
        own.setCatalog("information_schema");
        equal(own.getCatalog() + rows(own, "SELECT DATABASE()"), "information_schema[information_schema]");
        run(own, "SET @x = 1");
        ((com.mysql.cj.jdbc.JdbcConnection) own).resetServerState();
        equal(rows(own, "SELECT @x"), of("null"));
        ((com.mysql.cj.jdbc.JdbcConnection) own).changeUser(USER, PASSWORD);
        equal(rows(own, "SELECT SUBSTRING_INDEX(USER(), '@', 1)"), of(USER));
      }
    });
    check("TLS, compression, character sets", () -> {
      try (Connection own = connect("sslMode=REQUIRED")) {
        equal(rows(own, "SHOW SESSION STATUS LIKE 'Ssl_cipher'").get(0).length() > "Ssl_cipher|".length(), true);
      }
      try (Connection own = connect("sslMode=DISABLED", "allowPublicKeyRetrieval=true", "useCompression=true", "characterEncoding=ISO-8859-1")) {
        equal(rows(own, "SELECT ?, @@character_set_client", "é"), of("é|latin1"));
        equal(rows(own, "SHOW SESSION STATUS LIKE 'Compression'"), of("Compression|ON"));
      }
    });
    check("LOAD DATA LOCAL from a stream", () -> {
      try (Connection own = connect("allowLoadLocalInfile=true"); Statement s = own.createStatement()) {
        ((com.mysql.cj.jdbc.JdbcStatement) s).setLocalInfileInputStream(new ByteArrayInputStream("4000\tstreamed\n4001\t\\N\n".getBytes(StandardCharsets.UTF_8)));
        equal(s.executeUpdate("LOAD DATA LOCAL INFILE 'any' INTO TABLE loaded"), 2);
        equal(rows(own, "SELECT t FROM loaded WHERE n >= 4000 ORDER BY n"), of("streamed", "null"));
      }
    });
    check("two results by cursor at once", () -> {
      try (Connection own = connect("useCursorFetch=true", "defaultFetchSize=10")) {
        try (Statement a = own.createStatement(); Statement b = own.createStatement(); ResultSet x = a.executeQuery("SELECT id FROM large ORDER BY id LIMIT 100"); ResultSet y = b.executeQuery("SELECT n FROM batch ORDER BY n LIMIT 100")) {
          int n = 0;
          while (x.next() && y.next()) n++;
          equal(n, 100);
        }
      }
    });
  }
}
