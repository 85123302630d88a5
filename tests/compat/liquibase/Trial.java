import static java.util.List.of;

import java.io.*;
import java.sql.*;
import java.util.*;
import liquibase.*;
import liquibase.database.*;
import liquibase.database.jvm.JdbcConnection;
import liquibase.diff.compare.CompareControl;
import liquibase.diff.output.*;
import liquibase.diff.output.changelog.DiffToChangeLog;
import liquibase.resource.ClassLoaderResourceAccessor;
import liquibase.snapshot.*;
import liquibase.structure.core.*;

/** Migrations by Liquibase. */
public class Trial extends Checks {
  static Connection connect() throws SQLException {
    return DriverManager.getConnection("jdbc:mysql://" + HOST + ":" + PORT + "/" + DATABASE, USER, PASSWORD);
  }

  static Database database() throws Exception {
    return DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(connect()));
  }

  static Liquibase liquibase() throws Exception {
    return new Liquibase("changelog.xml", new ClassLoaderResourceAccessor(), database());
  }

  public static void main(String[] args) throws Exception {
    java.util.logging.Logger.getLogger("").setLevel(java.util.logging.Level.WARNING);
    Connection db = connect();
    check("update", () -> {
      try (Liquibase l = liquibase()) {
        l.update(new Contexts());
      }
      equal(rows(db, "SELECT ID, EXECTYPE, ORDEREXECUTED FROM DATABASECHANGELOG ORDER BY ORDEREXECUTED"), of("tables|EXECUTED|1", "relation|EXECUTED|2", "data|EXECUTED|3", "change|EXECUTED|4", "view|EXECUTED|5"));
      equal(rows(db, "SELECT LOCKED, LOCKGRANTED FROM DATABASECHANGELOGLOCK"), of("0|null"));
      equal(rows(db, "SELECT full_name, title, rating FROM titles ORDER BY title"), of("Ada|one|5", "Ada|two|5"));
    });
    check("nothing twice; status and tags", () -> {
      try (Liquibase l = liquibase()) {
        l.update(new Contexts());
        equal(l.listUnrunChangeSets(new Contexts(), new LabelExpression()).size(), 0);
        l.tag("first");
        equal(rows(db, "SELECT TAG FROM DATABASECHANGELOG WHERE ORDEREXECUTED = 5"), of("first"));
        l.validate();
        equal(l.listLocks().length, 0);
      }
    });
    check("a snapshot of the schema", () -> {
      try (Database own = database()) {
        DatabaseSnapshot s = SnapshotGeneratorFactory.getInstance().createSnapshot(own.getDefaultSchema(), own, new SnapshotControl(own));
        Set<String> tables = new TreeSet<>();
        for (Table t : s.get(Table.class)) tables.add(t.getName());
        equal(tables, new TreeSet<>(of("DATABASECHANGELOG", "DATABASECHANGELOGLOCK", "author", "book")));
        ForeignKey key = s.get(ForeignKey.class).iterator().next();
        equal(key.getName() + " " + key.getPrimaryKeyTable().getName() + " " + key.getDeleteRule(), "wrote author importedKeyCascade");
        Column title = s.get(Column.class).stream().filter(c -> c.getName().equals("title") && c.getRelation().getName().equals("book")).findFirst().get();
        equal(title.getType().getTypeName() + title.getType().getColumnSize() + " " + title.isNullable() + " " + title.getRemarks(), "VARCHAR120 true what it is called");
        Set<String> unique = new TreeSet<>();
        for (UniqueConstraint u : s.get(UniqueConstraint.class)) unique.add(u.getName() + u.getColumnNames());
        equal(unique, new TreeSet<>(of("one_namefull_name")));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new DiffToChangeLog(liquibase.diff.DiffGeneratorFactory.getInstance().compare(own, null, CompareControl.STANDARD), new DiffOutputControl(true, true, false, null)).print(new PrintStream(out), new liquibase.serializer.core.xml.XMLChangeLogSerializer());
        equal(out.toString().matches("(?s).*<createTable [^>]*tableName=\"book\".*"), true);
      }
    });
    check("rollback", () -> {
      try (Liquibase l = liquibase()) {
        l.rollback(3, new Contexts(), new LabelExpression());
      }
      equal(rows(db, "SHOW COLUMNS FROM author").get(1).split("\\|")[0], "name");
      equal(rows(db, "SELECT COUNT(*) FROM book"), of("0"));
      Scope.getCurrentScope().getSingleton(liquibase.changelog.FastCheckService.class).clearCache(); // it believes to know the state
      try (Liquibase l = liquibase()) {
        l.update(new Contexts());
        equal(rows(db, "SELECT COUNT(*) FROM titles"), of("2"));
      }
    });
    check("drop all", () -> {
      try (Liquibase l = liquibase()) {
        l.dropAll();
      }
      equal(rows(db, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE 'DATABASECHANGE%'"), of());
    });
    db.close();
    end();
  }
}
