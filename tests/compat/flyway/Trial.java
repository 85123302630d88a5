import static java.util.List.of;

import java.io.File;
import java.nio.file.*;
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationState;
import org.flywaydb.core.api.output.MigrateResult;

/** Migrations by Flyway. */
public class Trial extends Checks {
  static final String URL = "jdbc:mysql://" + HOST + ":" + PORT + "/" + DATABASE + "?allowMultiQueries=true";

  static Flyway flyway(Path dir) {
    return Flyway.configure().dataSource(URL, USER, PASSWORD).locations("filesystem:" + dir).cleanDisabled(false).placeholders(Map.of("author", "Ada")).load();
  }

  public static void main(String[] args) throws Exception {
    Connection db = DriverManager.getConnection(URL, USER, PASSWORD);
    Path dir = Files.createTempDirectory("flyway");
    check("migrate", () -> {
      Files.writeString(dir.resolve("V1__schema.sql"), """
          CREATE TABLE author (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL UNIQUE);
          CREATE TABLE book (id INT AUTO_INCREMENT PRIMARY KEY, author_id INT NOT NULL, title VARCHAR(100) DEFAULT 'a; b',
            added TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, CONSTRAINT wrote FOREIGN KEY (author_id) REFERENCES author (id));
          CREATE VIEW titles AS SELECT b.title, a.name FROM book b JOIN author a ON a.id = b.author_id;
          """);
      Files.writeString(dir.resolve("V2__data.sql"), "INSERT INTO author (name) VALUES ('${author}');\nINSERT INTO book (author_id) SELECT id FROM author; -- one\n/* two */ INSERT INTO book (author_id, title) VALUES (LAST_INSERT_ID(), 'it''s');\n");
      Files.writeString(dir.resolve("R__names.sql"), "CREATE OR REPLACE VIEW names AS SELECT name FROM author;");
      MigrateResult r = flyway(dir).migrate();
      equal(r.migrationsExecuted + " " + r.success, "3 true");
      equal(rows(db, "SELECT title, name FROM titles ORDER BY title"), of("a; b|Ada", "it's|Ada"));
    });
    check("history", () -> {
      equal(rows(db, "SELECT version, description, type, success FROM flyway_schema_history ORDER BY installed_rank"), of("1|schema|SQL|1", "2|data|SQL|1", "null|names|SQL|1"));
      flyway(dir).validate();
      equal(flyway(dir).migrate().migrationsExecuted, 0);
      equal(Arrays.stream(flyway(dir).info().all()).allMatch(i -> i.getState() == MigrationState.SUCCESS), true);
    });
    check("several at once wait for each other", () -> {
      Files.writeString(dir.resolve("V3__alter.sql"), "ALTER TABLE book ADD pages INT NULL, ADD INDEX by_title (title);\nUPDATE book SET pages = id;\nALTER TABLE book MODIFY pages INT NOT NULL;");
      ExecutorService threads = Executors.newFixedThreadPool(4);
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 4; i++) all.add(threads.submit(() -> flyway(dir).migrate().migrationsExecuted));
      int sum = 0;
      for (Future<Integer> f : all) sum += f.get();
      threads.shutdown();
      equal(sum, 1);
    });
    check("a migration that fails is repaired", () -> {
      Files.writeString(dir.resolve("V4__wrong.sql"), "CREATE TABLE made (id INT);\nALTER TABLE nowhere ADD x INT;");
      try {
        flyway(dir).migrate();
        throw new AssertionError("accepted");
      } catch (org.flywaydb.core.api.FlywayException e) {
        equal(e.getMessage().contains("1146"), true);
      }
      flyway(dir).repair();
      Files.writeString(dir.resolve("V4__wrong.sql"), "DROP TABLE IF EXISTS made;");
      equal(flyway(dir).migrate().migrationsExecuted, 1);
    });
    check("baseline", () -> {
      run(db, "CREATE DATABASE IF NOT EXISTS `" + DATABASE + "_old`");
      run(db, "CREATE TABLE `" + DATABASE + "_old`.there (id INT)");
      Flyway f = Flyway.configure().dataSource(URL, USER, PASSWORD).schemas(DATABASE + "_old").locations("filesystem:" + dir).baselineVersion("4").baselineOnMigrate(true).placeholders(Map.of("author", "Bo")).target("4").ignoreMigrationPatterns("repeatable:*").load();
      f.baseline();
      equal(rows(db, "SELECT type, version FROM `" + DATABASE + "_old`.flyway_schema_history"), of("BASELINE|4"));
      run(db, "DROP DATABASE `" + DATABASE + "_old`");
    });
    check("clean", () -> {
      flyway(dir).clean();
      equal(rows(db, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"), of("0"));
      equal(flyway(dir).migrate().migrationsExecuted, 5);
    });
    for (File f : dir.toFile().listFiles()) f.delete();
    Files.delete(dir);
    db.close();
    end();
  }
}
