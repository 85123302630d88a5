import java.sql.*;
import java.util.*;

/** Runs the steps of a trial one after the other and prints one line for each: ok or not ok. */
class Checks {
  static final String HOST = System.getenv("HOST"), PORT = System.getenv("PORT"), USER = System.getenv("DBUSER"), PASSWORD = System.getenv("PASSWORD"), DATABASE = System.getenv("DATABASE");
  private static boolean failed;

  interface Step {
    void run() throws Exception;
  }

  static void check(String name, Step step) {
    try {
      step.run();
      System.out.println("ok - " + name);
    } catch (Throwable e) { // also what is no exception fails a step
      failed = true;
      String text = String.valueOf(e).replaceAll("\\s+", " ");
      System.out.println("not ok - " + name + ": " + text.substring(0, Math.min(300, text.length())));
      e.printStackTrace();
    }
    System.out.flush();
  }

  static void end() {
    System.exit(failed ? 1 : 0);
  }

  static void equal(Object got, Object want) {
    if (!Objects.deepEquals(got, want)) throw new AssertionError("got " + shown(got) + ", want " + shown(want));
  }

  private static String shown(Object o) {
    return o instanceof Object[] a ? Arrays.deepToString(a) : o instanceof byte[] b ? Arrays.toString(b) : String.valueOf(o);
  }

  /** fails runs a step that must fail with an SQLException, and returns it. */
  static SQLException fails(Step step) throws Exception {
    try {
      step.run();
    } catch (SQLException e) {
      return e;
    }
    throw new AssertionError("accepted");
  }

  /** rows are the rows of a result, their columns as text between bars; the named columns only, if any are named. */
  static List<String> rows(ResultSet r, String... names) throws SQLException {
    List<String> all = new ArrayList<>();
    while (r.next()) {
      StringJoiner row = new StringJoiner("|");
      if (names.length == 0) for (int i = 1; i <= r.getMetaData().getColumnCount(); i++) row.add(r.getString(i));
      for (String name : names) row.add(r.getString(name));
      all.add(row.toString());
    }
    r.close();
    return all;
  }

  static List<String> rows(Connection db, String sql, Object... args) throws SQLException {
    try (PreparedStatement s = db.prepareStatement(sql)) {
      for (int i = 0; i < args.length; i++) s.setObject(i + 1, args[i]);
      return rows(s.executeQuery());
    }
  }

  static int run(Connection db, String sql, Object... args) throws SQLException {
    try (PreparedStatement s = db.prepareStatement(sql)) {
      for (int i = 0; i < args.length; i++) s.setObject(i + 1, args[i]);
      return s.executeUpdate();
    }
  }
}
