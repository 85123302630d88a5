import static java.util.List.of;

import java.sql.*;
import java.time.*;
import java.util.*;

/** MariaDB's driver, which speaks to MySQL, too. */
public class Trial extends Jdbc {
  public static void main(String[] args) throws Exception {
    new Trial().steps();
  }

  Connection connect(String... options) throws SQLException {
    return DriverManager.getConnection("jdbc:mariadb://" + HOST + ":" + PORT + "/" + DATABASE + "?allowPublicKeyRetrieval=true&" + String.join("&", options), USER, PASSWORD);
  }

  String[] serverSide() {
    return new String[] {"useServerPrepStmts=true"};
  }

  String[][] batchOptions() {
    return new String[][] {{}, {"rewriteBatchedStatements=true"}, {"useServerPrepStmts=true"}, {"useServerPrepStmts=true", "disablePipeline=true"}};
  }

  String[][] fetchOptions() {
    return new String[][] {{"useServerPrepStmts=true"}, {}};
  }

  int fetchSize(String[] options) {
    return 137;
  }

  /** A prepared statement's LocalDate has a form that MySQL refuses. */
  Object date(LocalDate d) {
    return d.toString();
  }

  int noAction() {
    return DatabaseMetaData.importedKeyNoAction;
  }

  String timestampGenerated() {
    return "NO";
  }

  void zones() throws Exception {
    try (Connection tokyo = connect("timezone=Asia/Tokyo", "forceConnectionTimeZoneToSession=true", "preserveInstants=true"); Connection offset = connect("connectionTimeZone=-05:00", "forceConnectionTimeZoneToSession=true", "preserveInstants=true", "useServerPrepStmts=true")) {
      zones(tokyo, offset, Timestamp.from(AT), AT.atOffset(ZoneOffset.UTC));
    }
  }

  void own(Connection db) {
    check("settings of a pool", () -> {
      try (Connection own = connect("sessionVariables=group_concat_max_len=5000", "initSql=SET @x = 1", "useResetConnection=true")) {
        equal(rows(own, "SELECT @x, @@group_concat_max_len"), of("1|5000"));
        equal(own.isValid(60), true);
        own.setCatalog("information_schema");
        equal(own.getCatalog() + rows(own, "SELECT DATABASE()"), "information_schema[information_schema]");
        ((org.mariadb.jdbc.Connection) own).reset();
        equal(rows(own, "SELECT DATABASE() IS NOT NULL"), of("1"));
      }
      try (org.mariadb.jdbc.MariaDbPoolDataSource pool = new org.mariadb.jdbc.MariaDbPoolDataSource("jdbc:mariadb://" + HOST + ":" + PORT + "/" + DATABASE + "?allowPublicKeyRetrieval=true&maxPoolSize=2&minPoolSize=1")) {
        pool.setUser(USER);
        pool.setPassword(PASSWORD);
        for (int i = 0; i < 5; i++)
          try (Connection c = pool.getConnection()) {
            equal(rows(c, "SELECT ?", i), of(String.valueOf(i)));
          }
      }
    });
    check("TLS and compression", () -> {
      try (Connection own = connect("sslMode=trust", "useCompression=true")) {
        equal(rows(own, "SHOW SESSION STATUS LIKE 'Ssl_cipher'").get(0).length() > "Ssl_cipher|".length(), true);
        equal(rows(own, "SHOW SESSION STATUS LIKE 'Compression'"), of("Compression|ON"));
      }
    });
    check("several results of one prepared statement", () -> {
      try (Connection own = connect("useServerPrepStmts=true"); PreparedStatement s = own.prepareStatement("SELECT CAST(? AS CHAR), CAST(? AS DECIMAL(10,2))")) {
        for (Object o : new Object[] {1, "text", 2.5, null, 4L}) {
          s.setObject(1, o);
          s.setString(2, "12.345");
          equal(rows(s.executeQuery()), of(o + "|12.35"));
        }
      }
    });
  }
}
